package river

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/carry"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A worker does jobs, each of which is one leg.
type worker struct {
	river.WorkerDefaults[leg]
	cfg     Config
	agents  map[string]*agent.Agent // by their names
	journal journal.Store           // theirs
}

// Timeout returns when River ends the context of a job, at the latest.
func (w *worker) Timeout(*river.Job[leg]) time.Duration { return w.cfg.Leg.Time + longestCall }

// Work drives a run for a leg, and queues the next one. Its error is one from before anything was
// recorded, or about the end of the job: it may be done again.
func (w *worker) Work(ctx context.Context, job *river.Job[leg]) error {
	l, recorded := w.cfg.Leg, false
	a, do, err := w.work(ctx, &job.Args, &l)
	if err != nil {
		return err
	}
	l.Event = func(ev agent.Event) {
		if _, ok := ev.(agent.Fact); ok {
			recorded = true
		}
		if w.cfg.Leg.Event != nil {
			w.cfg.Leg.Event(ev)
		}
	}
	p, err := a.Advance(ctx, do, l)
	switch {
	case err == nil:
		if p.Result != nil {
			job.Args.Input = started(do)
		}
		return w.end(ctx, job, p, recorded)
	case ctx.Err() != nil: // the client stops: the same job again, and not as a failure
		return river.JobSnooze(0)
	case neverTaken(err):
		return river.JobCancel(err)
	}
	return err
}

// neverTaken reports whether the same input won't be taken another time, either.
func neverTaken(err error) bool {
	class := fault.Of(err)
	return errors.Is(err, agent.ErrNothingOpen) || class == fault.Invalid || class == fault.Denied
}

// work returns what a job asks of which agent, in a leg.
func (w *worker) work(ctx context.Context, args *leg, l *agent.Leg) (*agent.Agent, agent.Work, error) {
	var do agent.Work = agent.Continue(args.Session)
	var err error
	name := args.Agent
	if args.Input != "" {
		var accept bool
		if do, accept, err = carry.Decode([]byte(args.Input)); err != nil {
			err = fmt.Errorf("river: %w", err)
		}
		l.AcceptChanges = l.AcceptChanges || accept
	} else if name == "" {
		name, err = w.agentOf(ctx, args.Session)
	}
	if errors.Is(err, journal.ErrNoSession) {
		err = river.JobCancel(err)
	}
	if err != nil {
		return nil, nil, err
	}
	a := w.agents[name]
	if a == nil { // another process may have it
		return nil, nil, fmt.Errorf("river: session %q: this process has no agent %q; it has %s", args.Session, name,
			strings.Join(slices.Sorted(maps.Keys(w.agents)), ", "))
	}
	args.Agent = name // the next job needn't look for it
	return a, do, nil
}

// agentOf returns the name of the agent whose run is the newest of a session.
func (w *worker) agentOf(ctx context.Context, session string) (string, error) {
	head, err := w.journal.Head(ctx, session)
	if err != nil {
		return "", err
	}
	for rec, err := range w.journal.Read(ctx, session, max(head.Seq, 1)-1) {
		if err != nil {
			return "", err
		}
		f, err := machine.Decode(session, rec)
		if err != nil {
			return "", err
		}
		return f.Envelope().Agent(), nil
	}
	return "", journal.ErrNoSession // it has no facts yet
}

// end completes a job and queues the next one, in one transaction.
func (w *worker) end(ctx context.Context, job *river.Job[leg], p agent.Progressed, recorded bool) error {
	ended := p.Next == agent.NextEnded && p.Result != nil && w.cfg.Ended != nil
	if p.At.IsZero() && !ended {
		return nil // River completes it
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), transaction)
	defer cancel()
	next, opts := job.Args, after(job.JobRow)
	next.Key, next.Deaths = p.Key, 0
	// River looks for scheduled jobs every 5 s. A leg that was over needn't wait for that.
	if opts.UniqueOpts = once; p.Next != agent.NextAgain || !recorded {
		opts.ScheduledAt = p.At
	}
	return w.complete(ctx, job, func(tx pgx.Tx) error {
		if ended {
			return w.cfg.Ended(ctx, tx, p.Result)
		}
		_, err := river.ClientFromContext[pgx.Tx](ctx).InsertTx(ctx, tx, next, opts)
		return err
	})
}

// complete completes a job that is running, in one transaction with what do does. If the job isn't
// running any more, because another was queued in its place, nothing is done.
func (w *worker) complete(ctx context.Context, job *river.Job[leg], do func(tx pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, w.cfg.Pool, func(tx pgx.Tx) error {
		if _, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job); err != nil {
			return err
		}
		return do(tx)
	})
	if err != nil && !errors.Is(err, river.ErrNotFound) {
		return fmt.Errorf("river: ending a leg of session %q: %w", job.Args.Session, err)
	}
	return nil
}

// after returns how the job is queued that follows another.
func after(job *rivertype.JobRow) *river.InsertOpts {
	return &river.InsertOpts{Queue: job.Queue, Priority: job.Priority, MaxAttempts: job.MaxAttempts, Tags: job.Tags}
}
