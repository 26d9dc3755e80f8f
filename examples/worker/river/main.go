package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/agent/work"
	pawlriver "github.com/pawlkit/pawl/agent/work/river"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
	"github.com/pawlkit/pawl/examples/worker/internal/site"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second signal ends the process
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

// lease is how long the run of a killed process is held.
const lease = 4 * time.Second

// run is the program.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("river", flag.ContinueOnError)
	dsn := flags.String("postgres", "", "the database with the jobs and the journal; else it is in DATABASE_URL")
	db := flags.String("db", filepath.Join(os.TempDir(), "pawl-river.db"), "the file with the reports")
	addr := flags.String("addr", "127.0.0.1:8080", "the address of the page; keep it on this machine")
	runs := flags.Int("runs", 0, "how many reports to ask for, and approve; the program ends when they have ended")
	pace := flags.Float64("pace", 1, "multiplies how long the steps take")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dsn == "" { // not as a default, which -h would print
		*dsn = os.Getenv("DATABASE_URL")
	}
	pool, err := pgxpool.New(ctx, *dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		return err
	}
	store, err := postgres.Open(ctx, postgres.Config{DSN: *dsn})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	l, err := ledger.Open(ctx, *db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	id, err := l.Join(ctx, os.Getpid())
	if err != nil {
		return err
	}
	a, err := report.New(report.Config{Journal: store, Ledger: l, Worker: id, Pace: *pace, Lease: lease})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	signs := report.NewSigns(l, id, slog.Default())
	client, err := start(ctx, pool, a, l, signs)
	if err != nil {
		return err
	}
	cfg := site.Config{Agent: a, Ledger: l, Lease: lease, Auto: *runs > 0,
		Queue: func(ctx context.Context, in agent.Input) error {
			return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				return pawlriver.Enqueue(ctx, tx, client, report.Name, in, nil)
			})
		},
		Wake: func(session string) {
			if err := pawlriver.Wake(ctx, client, session); err != nil {
				slog.Error("a run can't be woken", "session", session, "error", err)
			}
		}}
	if cfg.Worker, err = work.New(work.Config{Agents: []*agent.Agent{a}}); err == nil { // it only counts
		err = serve(ctx, stop, cfg, *addr, *runs, *pace, signs, out)
	}
	stop()
	<-client.Stopped()
	t, lost, open, failed := site.Count(context.WithoutCancel(ctx), a, l)
	fmt.Fprintf(out, "%d runs: %d repeated, %d lost; %d go on next time\n", t.Ended, t.Repeated, lost, open)
	return errors.Join(err, failed)
}

// start starts a client of River that drives the runs of the agent until ctx ends.
func start(ctx context.Context, pool *pgxpool.Pool, a *agent.Agent, l *ledger.Ledger,
	signs *report.Signs) (*river.Client[pgx.Tx], error) {
	cfg := &river.Config{Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 4}},
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	err := pawlriver.Configure(cfg, pawlriver.Config{Pool: pool, Agents: []*agent.Agent{a},
		Leg: agent.Leg{Time: 20 * time.Second, Event: func(ev agent.Event) {
			signs.Event(ev.Envelope().Session(), ev)
		}},
		Watch: 2 * time.Second,
		Ended: func(ctx context.Context, _ pgx.Tx, r *agent.Result) error { return report.Ended(ctx, l, r) }})
	if err != nil {
		return nil, err
	}
	client, err := river.NewClient(riverpgxv5.New(pool), cfg)
	if err != nil {
		return nil, err
	}
	return client, client.Start(ctx)
}

// serve serves the page until ctx ends, and asks for reports. When they have ended it calls stop.
func serve(ctx context.Context, stop func(), cfg site.Config, addr string, runs int, pace float64,
	signs *report.Signs, out io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: site.New(ctx, cfg), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	var tasks sync.WaitGroup
	defer tasks.Wait()
	tasks.Go(func() { signs.Beat(ctx) })
	if runs > 0 {
		tasks.Go(func() { site.Edit(ctx, cfg, time.Duration(pace*float64(time.Second))) })
		tasks.Go(func() {
			defer stop()
			if err := ask(ctx, cfg, runs); err != nil && ctx.Err() == nil {
				slog.Error("the reports can't be asked for", "error", err)
			}
		})
	}
	fmt.Fprintf(out, "http://%s\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return err
	}
	return nil
}

// ask asks for reports, and waits until none is open.
func ask(ctx context.Context, cfg site.Config, runs int) error {
	for i := range runs {
		if _, err := site.Enqueue(ctx, cfg.Queue, cfg.Ledger, report.Topic(i), ""); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		open, err := cfg.Ledger.Unended(ctx)
		if err != nil || len(open) == 0 {
			return err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return nil
}
