package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/examples/coder/internal/coding"
)

const user = "you" // the only one of this machine

// start opens the folder and works until the person, a signal or ctx ends it.
func (o *options) start(ctx context.Context, getenv func(string) string, in io.Reader, out, errs io.Writer) (
	code int, err error) {
	if o.acp {
		return 0, o.edit(ctx, getenv, in, out, errs)
	}
	said := out
	if o.prompt != "" {
		said = errs // what is printed is the answer
	}
	c, err := o.open("", getenv, said)
	if err != nil {
		return 2, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if o.session, err = o.choose(ctx, c, said); err != nil {
		return 2, err
	}
	input := agent.Input{User: user, Owner: user, Mode: o.mode}
	t := terminal.Config{Session: o.session, Prompt: o.prompt, Input: input, In: in, Out: out,
		Provider: c.Model, Commands: c.Commands(input)}
	if !o.web {
		code, err = terminal.Run(ctx, c.Hub, t)
		if code == terminal.CodeWaits {
			which := " -c"
			if o.prompt != "" {
				which = " -session " + o.session
			}
			if o.db != "" {
				which = " -db " + word(c.DB) + which
			}
			fmt.Fprintf(said, "Go on with: coder -dir %s%s\n", word(c.Dir), which)
		}
		return code, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	log := slog.New(slog.DiscardHandler) // the terminal shows the conversation alone
	if !isTerminal(in) {
		log = logger(errs)
	}
	serve, err := o.page(c, said, log)
	if err != nil {
		return 2, err
	}
	var talking sync.WaitGroup
	talking.Go(func() {
		code, err = terminal.Run(ctx, c.Hub, t)
		if isTerminal(in) {
			stop() // the person has quit; without a terminal the page goes on
		}
	})
	served := serve(ctx)
	stop()
	talking.Wait()
	if errors.Is(err, context.Canceled) {
		code, err = 0, nil
	}
	return code, errors.Join(err, served)
}

// word returns a path as it is typed.
func word(path string) string {
	if strings.ContainsAny(path, " \"'\\$&;()*?") {
		return strconv.Quote(path)
	}
	return path
}

// choose returns the session to begin with: the one that is named, the last one if that is asked
// for or its process has died in the middle of a run, and else a new one.
func (o *options) choose(ctx context.Context, c *coding.Coder, out io.Writer) (string, error) {
	fresh := "s-" + strings.ToLower(rand.Text()[:10])
	switch {
	case o.session != "":
		return o.session, nil
	case o.prompt != "" && !o.goOn:
		return fresh, nil
	}
	last, err := c.Last(ctx)
	switch {
	case err != nil:
		return "", err
	case o.goOn && last.Session == "":
		return "", fmt.Errorf("there is no session in %s yet; leave -c out", c.Dir)
	case o.goOn:
		return last.Session, nil
	case last.Status == agent.Running && c.Dead(ctx, last.Session):
		fmt.Fprintf(out, "Going on with %q.\n", last.Title)
		return last.Session, nil
	case last.Status == agent.Paused:
		fmt.Fprintf(out, "The last session, %q, waits for your decision: start with -c to continue it.\n", last.Title)
	}
	return fresh, nil
}

// logger logs what people should know.
func logger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// isTerminal reports whether somebody types.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
