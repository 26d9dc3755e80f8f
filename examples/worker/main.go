package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

// options are what the flags say.
type options struct {
	db, dsn, addr, approve string
	workers, runs          int
	chaos                  bool
	every, limit, lease    time.Duration
	pace                   float64
}

// driveCommand is the command of a worker process, which the program starts itself.
const driveCommand = "drive"

// dsnVariable names the PostgreSQL database in the environment. A flag is seen by everybody who
// lists processes, and an address may have a password.
const dsnVariable = "WORKER_POSTGRES"

// run is the program, and returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, rest, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "worker:", agent.Words(err))
		return 2
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second signal ends the process
	if err := o.do(ctx, rest, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "worker:", agent.Words(err))
		return 1
	}
	return 0
}

// parse reads the flags, which may also follow the command.
func parse(args []string, stderr io.Writer) (o options, rest []string, err error) {
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.db, "db", "", "the file with runs and reports (default: pawl-worker.db in the user's cache folder)")
	flags.StringVar(&o.dsn, "postgres", "",
		"keep the journal in this PostgreSQL database instead of the file; better by the variable "+dsnVariable)
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8080", "the address of the page; it has no login, so keep it on this machine")
	flags.IntVar(&o.workers, "workers", 0, "how many worker processes to start; 0: this process does the work")
	flags.BoolVar(&o.chaos, "chaos", false, "kill a worker process every few seconds, and always have work")
	flags.DurationVar(&o.every, "every", 6*time.Second, "the time between two kills")
	flags.StringVar(&o.approve, "approve", "", "who approves publications: page, or auto (default: auto with -chaos)")
	flags.DurationVar(&o.limit, "for", 0, "end after this time, or when the reports of -runs have ended (default: run until interrupted)")
	flags.IntVar(&o.runs, "runs", 0, "how many reports to ask for at the start")
	flags.DurationVar(&o.lease, "lease", 4*time.Second, "how long the run of a killed worker is held")
	flags.Float64Var(&o.pace, "pace", 1, "multiplies how long the steps take")
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return o, nil, err
		}
		if args = flags.Args(); len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	o.dsn = cmp.Or(o.dsn, os.Getenv(dsnVariable)) // not as a default, which -h would print
	if o.chaos && o.workers == 0 {
		o.workers = 3
	}
	if o.approve == "" {
		o.approve = "page"
		if o.chaos {
			o.approve = "auto"
		}
	}
	switch {
	case o.approve != "page" && o.approve != "auto":
		return o, nil, fmt.Errorf("-approve is %q; give page or auto", o.approve)
	case o.workers < 0 || o.workers > 32:
		return o, nil, fmt.Errorf("-workers is %d; give a number from 0 to 32", o.workers)
	case o.every < 100*time.Millisecond:
		return o, nil, fmt.Errorf("-every is %v; give at least 100ms", o.every)
	}
	if o.db == "" {
		cache, err := os.UserCacheDir()
		if err == nil {
			err = os.MkdirAll(cache, 0o700)
		}
		if err != nil {
			return o, nil, fmt.Errorf("there is no cache folder; name a file with -db: %w", err)
		}
		o.db = filepath.Join(cache, "pawl-worker.db")
	}
	return o, rest, nil
}

// do does what the command says.
func (o *options) do(ctx context.Context, rest []string, stdout, stderr io.Writer) (err error) {
	p := &program{options: *o, out: stdout, log: slog.New(slog.NewTextHandler(stderr, nil))}
	if err := p.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	switch {
	case len(rest) == 0:
		return p.serve(ctx)
	case rest[0] == driveCommand:
		return p.driveAlone(ctx, os.Stdin)
	}
	return p.command(ctx, rest[0], rest[1:])
}

// A program is a process of the example: the page, a worker, or a command.
type program struct {
	options
	out    io.Writer
	log    *slog.Logger
	ledger *ledger.Ledger
	store  interface {
		journal.Store
		Close() error
	}
	agent *agent.Agent
}

// open opens the file and the journal, and makes an agent that drives no runs.
func (p *program) open(ctx context.Context) (err error) {
	if p.ledger, err = ledger.Open(ctx, p.db); err != nil {
		return err
	}
	if p.dsn != "" {
		p.store, err = postgres.Open(ctx, postgres.Config{DSN: p.dsn})
	} else {
		p.store, err = sqlite.Open(p.db, sqlite.Config{})
	}
	if err != nil {
		return errors.Join(err, p.ledger.Close())
	}
	if p.agent, err = p.newAgent(0); err != nil {
		return errors.Join(err, p.close())
	}
	return nil
}

func (p *program) newAgent(worker int) (*agent.Agent, error) {
	return report.New(report.Config{Journal: p.store, Ledger: p.ledger, Worker: worker, Pace: p.pace, Lease: p.lease})
}

func (p *program) close() error { return errors.Join(p.store.Close(), p.ledger.Close()) }
