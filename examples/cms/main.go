package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/preview"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools/web"
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
	m, label, err := chooseModel(o.model)
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
		options: o, llm: m, label: label, in: stdin, out: &output{w: stdout}, err: &shared{w: stderr},
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
	llm   provider.Provider
	label string // the model's name on the screen
	in    io.Reader
	out   *output
	err   io.Writer
	quiet bool // runs aren't shown

	site     *site.Site
	renderer *preview.Renderer
	store    *sqlite.Store
	agent    *agent.Agent
	hub      *live.Hub // runs it
}

// open opens the file with the site and the journal, and makes the agent. After an error nothing
// stays open.
func (p *program) open(ctx context.Context) (err error) {
	fetcher, err := web.NewFetcher(web.FetchConfig{Hosts: []string{"example.com"}})
	if err != nil {
		return err
	}
	if p.site, err = site.Open(p.db); err != nil {
		return err
	}
	var templates fs.FS
	if p.templates != "" {
		templates = os.DirFS(p.templates)
	}
	p.renderer, err = preview.New(preview.Config{Site: p.site, Templates: templates, Development: templates != nil})
	if err != nil {
		return errors.Join(err, p.site.Close())
	}
	if p.store, err = sqlite.Open(p.site.Path()); err != nil {
		return errors.Join(err, p.site.Close())
	}
	var log *slog.Logger
	if p.verbose {
		log = slog.New(slog.NewTextHandler(p.err, nil))
	}
	a, err := newAgent(p.llm, cmstools.Config{Site: p.site, Fetcher: fetcher, Preview: "http://" + p.previewAddr},
		between(p.store), p.expires, log)
	if err == nil {
		err = p.use(a)
	}
	if err != nil {
		return errors.Join(err, p.store.Close(), p.site.Close())
	}
	return nil
}

// between is where tests put something between the agent and its store.
var between = func(s journal.Store) journal.Store { return s }

// drain is how long calls in progress may take when the program ends.
const drain = 5 * time.Second

// use makes an agent the one that runs. While the program serves, sessions of processes that have
// died go on as soon as their leases have ended; otherwise they are resumed when somebody wants it.
func (p *program) use(a *agent.Agent) (err error) {
	recover := time.Duration(-1)
	if p.cmd == cmdServe {
		recover = time.Second
	}
	p.agent = a
	p.hub, err = live.New(live.Config{Agent: a, Recover: recover, Drain: drain})
	return err
}

// close lets runs in progress come to a safe point, and closes the file.
func (p *program) close() error {
	return errors.Join(p.hub.Close(), p.store.Close(), p.site.Close())
}

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
		return p.oneShot(ctx, "")
	}
	p.mentionInterrupted(ctx)
	return p.oneShot(ctx, p.prompt)
}

// An output is where the program prints, apart from conversations.
type output struct {
	w      io.Writer
	failed error // the first one
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if o.failed == nil {
		o.failed = err
	}
	return n, err
}

func (o *output) line(format string, args ...any) { fmt.Fprintf(o, format+"\n", args...) }

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
