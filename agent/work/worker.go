package work

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A Worker drives queued runs, and resumes others: see the package. Make one with [New]. It is safe
// for concurrent use.
type Worker struct {
	cfg   Config // fixed at creation
	store journal.Store
	due   *due.Loop
	ran   atomic.Bool
}

// New returns a worker, which does nothing before [Worker.Run]. The error is a *[ConfigError].
func New(cfg Config) (*Worker, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	w := &Worker{cfg: cfg, store: cfg.Agents[0].Journal()}
	w.due = due.New(due.Config{List: w.list, Drive: w.drive, Interval: cfg.Poll, Parallel: cfg.Parallel,
		Logger: cfg.Logger})
	return w, nil
}

var (
	errNoWorker = &ConfigError{Field: "Agents", Problem: "this Worker is nil or empty; make one with work.New"}
	errRan      = fault.New(fault.Permanent, "work: Run was called before; make another Worker")
)

// Run drives what is due until ctx ends, and then waits until each run has paused at its next safe
// point, so that another process goes on. What is still in progress Config.Leg.Grace after that is
// cut off, as in a crash. Run returns nil then. It can be called once.
func (w *Worker) Run(ctx context.Context) error {
	switch {
	case w == nil || w.due == nil:
		return errNoWorker
	case w.ran.Swap(true):
		return errRan
	}
	w.due.Start(ctx)
	var rules sync.WaitGroup
	if len(w.cfg.Rules) > 0 {
		rules.Go(func() { w.watch(ctx) })
	}
	<-ctx.Done()
	w.due.Stop()
	rules.Wait()
	return nil
}

// Wake looks for work at once, and not only after Config.Poll: call it after Enqueue, Decide or
// Cancel in this process. session may be empty.
func (w *Worker) Wake(session string) {
	if w != nil && w.due != nil {
		w.due.Poke(session)
	}
}

// agentOf returns the agent of a session; the first one if the session doesn't say whose it is.
// That one leaves it alone if it isn't its own.
func (w *Worker) agentOf(h *journal.Head) *agent.Agent {
	name := machine.InfoOf(h).Agent
	for _, a := range w.cfg.Agents {
		if a.Name() == name {
			return a
		}
	}
	return w.cfg.Agents[0]
}

// drive drives a session for a leg, and tells the host of the runs in it that have ended.
func (w *Worker) drive(ctx context.Context, session string) error {
	h, err := w.store.Head(ctx, session)
	if err != nil {
		if errors.Is(err, journal.ErrNoSession) {
			return nil
		}
		return err
	}
	a := w.agentOf(&h)
	switch agent.Status(h.Status) {
	case agent.Queued, agent.Running, agent.Paused:
		if err := w.leg(ctx, a, session); err != nil {
			return err
		}
		if h, err = w.store.Head(ctx, session); err != nil {
			return err
		}
	}
	now := time.Now()
	if h.Due.IsZero() || h.Due.After(now) || held(&h, now) {
		return nil
	}
	return w.deliver(ctx, a, session)
}

// leg drives a session for a leg.
func (w *Worker) leg(ctx context.Context, a *agent.Agent, session string) error {
	leg, limited, begun := w.cfg.Leg, len(w.cfg.PerLabel) > 0, false
	if limited || w.cfg.OnEvent != nil {
		leg.Event = func(ev agent.Event) {
			if limited && !begun {
				begun = true
				w.due.Poke("") // all processes see it: another one may start
			}
			if w.cfg.OnEvent != nil {
				w.cfg.OnEvent(session, ev)
			}
		}
	}
	p, err := a.Advance(ctx, agent.Continue(session), leg)
	if p.Next == agent.NextAgain || limited {
		w.due.Poke("") // it goes on when others had their turn, and others may wait for a place of their label
	}
	if err == nil && p.Next == agent.NextLater {
		err = due.ErrLater
	}
	return err
}

// deliver tells the host of the runs of a session that have ended.
func (w *Worker) deliver(ctx context.Context, a *agent.Agent, session string) error {
	_, err := a.Session(session).Deliver(ctx, func(ctx context.Context, r *agent.Result) error {
		if w.cfg.Ended == nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, tellTime)
		defer cancel()
		return w.cfg.Ended(ctx, r)
	})
	if errors.Is(err, agent.ErrBusy) {
		return due.ErrLater
	}
	return err
}
