package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/examples/team/internal/board"
	"github.com/pawlkit/pawl/examples/team/internal/crew"
	"github.com/pawlkit/pawl/examples/team/internal/standin"
)

const (
	session = "main" // of the terminal, and of the address that is printed
	user    = "you"  // the only one of this machine
)

// start makes the team and has it work until the person, a signal or ctx ends it.
func (o *options) start(ctx context.Context, getenv func(string) string, in io.Reader, out io.Writer) (
	code int, err error) {
	feed := board.NewFeed()
	cfg := crew.Config{Event: feed.Node, Changed: feed.Poke, Logger: slog.New(slog.DiscardHandler)}
	about, err := o.models(getenv, &cfg)
	if err != nil {
		return 2, err
	}
	fmt.Fprintln(out, about)
	if cfg.Place, err = o.place(out); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cfg.Place.Close()) }()
	store, err := sqlite.Open(o.db, sqlite.Config{})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	cfg.Journal = store
	c, err := crew.New(cfg)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var working sync.WaitGroup
	defer working.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	working.Go(func() { c.Run(ctx) })
	if o.request != "" {
		return o.alone(ctx, c, in, out)
	}
	if err := o.serve(ctx, c, feed, about, in, out); err != nil {
		return 1, err
	}
	return 0, nil
}

// conversation is the terminal's.
func conversation(c *crew.Crew, in io.Reader, out io.Writer) terminal.Config {
	return terminal.Config{Session: session, Input: agent.Input{User: user, Owner: user}, In: in, Out: out,
		Commands: c.Commands(session, user)}
}

// alone shows in the terminal what comes of a request.
func (o *options) alone(ctx context.Context, c *crew.Crew, in io.Reader, out io.Writer) (int, error) {
	t := conversation(c, in, out)
	if o.yes {
		t.Prompt, t.Decide = o.request, yes
		return terminal.Run(ctx, c.Hub, t)
	}
	said := t.Input
	said.Session, said.Prompt, said.Title, said.Interactive = session, o.request, o.request, true
	_, err := c.Hub.Send(ctx, said)
	if waits := new(agent.PausedError); errors.As(err, &waits) {
		fmt.Fprintln(out, "The request wasn't taken: the conversation of this directory waits for you first.")
	} else if err != nil {
		return 1, err
	}
	return terminal.Run(ctx, c.Hub, t)
}

// yes decides for a person who wants to see all of it: it approves, and takes the first answer. It
// declines an offer of what wasn't asked for.
func yes(p agent.Pause) (agent.Decision, bool) {
	if p.Kind == agent.PauseApproval {
		return agent.Approve(p.ID).By(user), true
	}
	if strings.Contains(string(p.Schema), standin.NoneOfThese) {
		return agent.Answer(p.ID, standin.NoneOfThese).By(user), true
	}
	if first, ok := crew.FirstAnswer(&p); ok {
		return agent.Answer(p.ID, first).By(user), true
	}
	return machine.Decision{}, false
}

// serve serves the page, and attaches the terminal to the same conversation.
func (o *options) serve(ctx context.Context, c *crew.Crew, feed *board.Feed, about string, in io.Reader,
	out io.Writer) error {
	pages, err := pagesOf(c, feed, about)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.addr)
	if err != nil && o.addr == defaultAddr { // another program is there
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The page is at          http://%s/?session=%s\n", listener.Addr(), session)
	ctx, stop := context.WithCancel(ctx)
	var talking sync.WaitGroup
	talking.Go(func() {
		_, _ = terminal.Run(ctx, c.Hub, conversation(c, in, out)) // it has shown what went wrong
		if isTerminal(in) {
			stop() // the person has quit; without a terminal the page goes on
		}
	})
	err = live.Serve(ctx, c.Hub, &http.Server{Handler: pages, ReadHeaderTimeout: 10 * time.Second}, listener)
	stop()
	talking.Wait()
	return err
}

// isTerminal reports whether somebody types: in is a device, and not the one that is always empty.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	is, err := f.Stat()
	null, failed := os.Stat(os.DevNull)
	return err == nil && is.Mode()&os.ModeCharDevice != 0 && (failed != nil || !os.SameFile(is, null))
}
