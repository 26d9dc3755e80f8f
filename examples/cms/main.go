package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}

// run is the program. It returns its exit code: 0 done, 1 failed, 2 it can't start like this, 3 it
// waits for a decision.
func run(ctx context.Context, args []string, getenv func(string) string, in io.Reader, out, errs io.Writer) int {
	o, err := readOptions(args, getenv, errs)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(errs, "cms: %v\n-h lists the commands and flags.\n", err)
		return 2
	}
	code, err := o.start(ctx, in, out, errs)
	if err != nil {
		fmt.Fprintln(errs, "cms:", agent.Words(err))
		return max(code, 1)
	}
	return code
}

// start does what the options ask for.
func (o *options) start(ctx context.Context, in io.Reader, out, errs io.Writer) (code int, err error) {
	switch o.command {
	case cmdServe:
		return o.serve(ctx, out, errs)
	case cmdReset:
		return 0, site.Reset(ctx, o.db)
	}
	p, err := o.open("", errs)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	t := terminal.Config{Prompt: o.prompt, In: in, Out: out}
	switch o.command {
	case cmdHistory:
		return p.history(ctx, out)
	case cmdExport:
		return 0, p.export(ctx, out)
	case cmdSeed:
		return 0, p.site.Seed(ctx)
	case cmdChat:
		fmt.Fprintln(out, o.about)
		return p.talk(ctx, t, errs)
	}
	fmt.Fprintln(errs, o.about) // what is printed is the answer
	return p.talk(ctx, t, errs)
}

// A program is what the options have opened.
type program struct {
	*options
	site  *site.Site
	tools cmstools.Config
	store *sqlite.Store
	hub   *live.Hub
	log   *slog.Logger
}

// lease is how long a session belongs to a process after its last renewal. A running process renews
// every third of that time; after a crash, another one waits at most this long.
const lease = 4 * time.Second

// between is where tests put something between the agent and its store.
var between = func(s journal.Store) journal.Store { return s }

// open opens the file with the site and the journal, and makes the agent. previews is the address
// of the preview; empty: nobody serves it. After an error nothing stays open.
func (o *options) open(previews string, errs io.Writer) (p *program, err error) {
	p = &program{options: o, log: slog.New(slog.DiscardHandler)} // a terminal says itself what goes wrong
	if o.command == cmdServe {
		p.log = slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if p.site, err = site.Open(o.db, o.finding...); err != nil {
		return nil, err
	}
	if p.store, err = sqlite.Open(p.site.Path(), sqlite.Config{}); err != nil {
		return nil, errors.Join(err, p.site.Close())
	}
	p.tools = cmstools.Config{Site: p.site, Fetcher: o.fetcher, Preview: previews}
	a, err := o.newAgent(p.tools, between(p.store), p.log)
	if err == nil {
		// Runs whose process has died go on by themselves only while the program serves.
		recover := time.Duration(-1)
		if o.command == cmdServe {
			recover = time.Second
		}
		p.hub, err = live.New(live.Config{Agent: a, Recover: recover, Drain: 5 * time.Second, Logger: p.log})
	}
	if err != nil {
		return nil, errors.Join(err, p.store.Close(), p.site.Close())
	}
	return p, nil
}

// close lets runs in progress come to a safe point, and closes the file.
func (p *program) close() error { return errors.Join(p.hub.Close(), p.store.Close(), p.site.Close()) }
