package durable

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/postgres"
)

// legSteps is how many steps a leg has.
const legSteps = 4

// A worker does one job of a run, and says whether the run has ended. Otherwise there is another
// job.
type worker[T river.JobArgs] struct {
	river.WorkerDefaults[T]
	pool *pgxpool.Pool
	// do does the job, and returns what is to be done in the transaction that completes it, and the
	// next job; nil if the run has ended.
	do    func(ctx context.Context, args T) (within func(ctx context.Context, tx pgx.Tx) error, next *T, err error)
	ended chan error
}

// Work completes a job and queues the next one in one transaction.
func (w *worker[T]) Work(ctx context.Context, job *river.Job[T]) error {
	within, next, err := w.do(ctx, job.Args)
	if err == nil {
		err = pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
			if within != nil {
				if err := within(ctx, tx); err != nil {
					return err
				}
			}
			if next != nil {
				if _, err := river.ClientFromContext[pgx.Tx](ctx).InsertTx(ctx, tx, *next, nil); err != nil {
					return err
				}
			}
			_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
			return err
		})
	}
	if err != nil || next == nil {
		w.ended <- err
	}
	return err
}

// jobs returns what does runs as jobs of w, whose first ones are those of first.
func jobs[T river.JobArgs](ctx context.Context, w *worker[T], first func(name string) T) (doer, error) {
	driver := riverpgxv5.New(w.pool)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return doer{}, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return doer{}, err
	}
	w.ended = make(chan error, parallel)
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	client, err := river.NewClient(driver, &river.Config{
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: parallel}},
		Workers: workers,
		Logger:  quiet,
		// The default of 100 ms would be most of the time of a job here.
		FetchCooldown: river.FetchCooldownMin,
	})
	if err != nil {
		return doer{}, err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return doer{}, err
	}
	return doer{
		do: func(ctx context.Context, names []string) error {
			all := make([]river.InsertManyParams, len(names))
			for i, name := range names {
				all[i].Args = first(name)
			}
			if _, err := client.InsertMany(ctx, all); err != nil {
				return err
			}
			for range names {
				select {
				case err := <-w.ended:
					if err != nil {
						return err
					}
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		},
		close: func() error {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			return client.Stop(ctx)
		},
	}, nil
}

// A leg is a job that drives a run of Pawl for a leg.
type leg struct {
	Run string `json:"run"`
}

// Kind implements [river.JobArgs].
func (leg) Kind() string { return "leg" }

// legs is Pawl with its journal in PostgreSQL, driven in legs, each of which is a job of River.
func legs(dsn string, m *made) func(context.Context) (doer, error) {
	return func(ctx context.Context) (doer, error) {
		store, err := postgres.Open(ctx, postgres.Config{DSN: dsn})
		if err != nil {
			return doer{}, err
		}
		a, err := newAgent(store, m)
		if err != nil {
			return doer{}, err
		}
		pool, err := newPool(ctx, dsn)
		if err != nil {
			return doer{}, err
		}
		w := &worker[leg]{pool: pool}
		w.do = func(ctx context.Context, args leg) (func(context.Context, pgx.Tx) error, *leg, error) {
			p, err := a.Advance(ctx, agent.Input{Session: args.Run, Key: args.Run, Prompt: prompt},
				agent.Leg{Steps: legSteps})
			switch {
			case err != nil:
				return nil, nil, err
			case p.Next == agent.NextEnded:
				return nil, nil, p.Result.Err()
			case p.Next != agent.NextAgain:
				return nil, nil, errors.New("a leg isn't followed by another: " + string(p.Next))
			}
			return nil, &args, nil
		}
		d, err := jobs(ctx, w, func(name string) leg { return leg{name} })
		return d.closing(func() error { pool.Close(); return store.Close() }), err
	}
}

// A callJob is a job that makes one call of model or tool.
type callJob struct {
	Run string `json:"run"`
	N   int    `json:"n"`
}

// Kind implements [river.JobArgs].
func (callJob) Kind() string { return "call" }

// callJobs is the work without Pawl: each call of model or tool is a job of River, which keeps its
// result.
func callJobs(dsn string, m *made) func(context.Context) (doer, error) {
	return func(ctx context.Context) (doer, error) {
		pool, err := newPool(ctx, dsn)
		if err != nil {
			return doer{}, err
		}
		if _, err := pool.Exec(ctx, makeCalls); err != nil {
			return doer{}, err
		}
		w := &worker[callJob]{pool: pool}
		w.do = func(_ context.Context, args callJob) (func(context.Context, pgx.Tx) error, *callJob, error) {
			result := string(m.call(args.N))
			keep := func(ctx context.Context, tx pgx.Tx) error {
				_, err := tx.Exec(ctx, keepCall, args.Run, args.N, result)
				return err
			}
			if args.N == calls-1 {
				return keep, nil, nil
			}
			return keep, &callJob{args.Run, args.N + 1}, nil
		}
		d, err := jobs(ctx, w, func(name string) callJob { return callJob{name, 0} })
		return d.closing(func() error { pool.Close(); return nil }), err
	}
}

// closing returns d with something to be done after its close.
func (d doer) closing(then func() error) doer {
	first := d.close
	d.close = func() error {
		var err error
		if first != nil {
			err = first()
		}
		return errors.Join(err, then())
	}
	return d
}
