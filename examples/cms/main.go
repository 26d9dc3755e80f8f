package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/examples/cms/internal/services"
	"github.com/pawlkit/pawl/provider"
)

// Exit statuses.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitWaiting = 3
	exitStopped = 4
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is the program. The agent's answers and tool calls go to stdout, everything else to stderr.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintln(stderr, "cms:", err)
		return exitUsage
	}
	m, label, err := chooseModel(o.provider, o.model)
	if err != nil {
		fmt.Fprintln(stderr, "cms:", err)
		return exitUsage
	}
	if o.cmd == cmdReset {
		if err := reset(context.Background(), o.db); err != nil {
			fmt.Fprintln(stderr, "cms:", err)
			return exitFailed
		}
		return exitOK
	}
	p := &program{
		options: o, llm: m, label: label, in: bufio.NewReader(stdin), out: newScreen(stdout), err: &shared{w: stderr},
		person: o.cmd == cmdChat || isTerminal(stdin),
	}
	ctx := context.Background()
	if err := p.open(ctx); err != nil {
		fmt.Fprintln(stderr, "cms:", err)
		return exitFailed
	}
	status := p.main(ctx)
	if p.out.failed != nil {
		fmt.Fprintln(stderr, "cms: the output couldn't be written:", p.out.failed)
		status = max(status, exitFailed)
	}
	if err := p.close(); err != nil {
		fmt.Fprintln(stderr, "cms: closing:", err)
		return max(status, exitFailed)
	}
	return status
}

// A program is one run of the program cms.
type program struct {
	options
	llm    provider.Provider
	label  string // the model's name on the screen
	in     *bufio.Reader
	out    *screen
	err    io.Writer
	person bool   // there is a person at the terminal
	asked  string // id of the pause that was described last
	// drained says that a signal has drained the agent: it starts no new run, and the program ends.
	drained bool

	services *services.Services
	store    *sqlite.Store
	agent    *agent.Agent
}

// open opens the file with the site and the journal, and makes the agent. After an error nothing
// stays open.
func (p *program) open(ctx context.Context) (err error) {
	if p.services, err = services.New(
		services.Config{DB: p.db, Templates: p.templates, PreviewURL: "http://" + p.previewAddr}); err != nil {
		return err
	}
	if p.store, err = sqlite.Open(p.services.Site.Path()); err != nil {
		return errors.Join(err, p.services.Close())
	}
	var log *slog.Logger
	if p.verbose {
		log = slog.New(slog.NewTextHandler(p.err, nil))
	}
	if p.agent, err = newAgent(p.llm, p.services, p.store, p.expires, log); err != nil {
		return errors.Join(err, p.close())
	}
	return nil
}

func (p *program) close() error { return errors.Join(p.store.Close(), p.services.Close()) }

// main does what the options ask for and returns the exit status.
func (p *program) main(ctx context.Context) int {
	switch {
	case p.cmd != "":
		return p.runCommand(ctx)
	case p.approvals != nil:
		return p.approve(ctx)
	case p.undo:
		return p.takeBack(ctx)
	case p.resume != "":
		return p.decideOnce(ctx)
	case p.continues && p.session == "":
		return p.resumeAll(ctx)
	case p.continues:
		return p.oneShot(ctx, agent.Continue(p.session))
	}
	p.mentionInterrupted(ctx)
	return p.oneShot(ctx,
		agent.Input{Session: p.session, Prompt: p.prompt, Mode: p.mode, Interactive: true, User: p.by})
}

// A shared is a writer for concurrent use.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}

// isTerminal reports whether a file may be a terminal: it is a character device, and not the null
// device.
func isTerminal(file any) bool {
	f, ok := file.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
