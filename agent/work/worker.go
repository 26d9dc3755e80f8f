package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/contain"
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
	// limits are those of Config.PerLabel and, with groupKey, of PerGroup.
	limits map[string]int
	queue  journal.Queue // the store's; nil: it has none, and what waits is listed
	owner  string        // of claims
	due    *due.Loop
	ran    atomic.Bool
	next   journal.Claim // of the goroutine that searches

	mu      sync.Mutex                   // guards what follows
	stalled map[string]int               // sessions that were due and couldn't go on; 1 for each
	driven  map[string]map[string]string // the labels of the sessions that are driven here
	claims  map[string]journal.Lease     // the sessions that were claimed and aren't driven yet
}

// New returns a worker, which does nothing before [Worker.Run]. The error is a *[agent.ArgError].
func New(cfg Config) (*Worker, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	w := &Worker{cfg: cfg, store: cfg.Agents[0].Journal(), stalled: make(map[string]int),
		driven: make(map[string]map[string]string), claims: make(map[string]journal.Lease)}
	w.limits = maps.Clone(cfg.PerLabel)
	if cfg.PerGroup > 0 {
		if w.limits == nil {
			w.limits = make(map[string]int)
		}
		w.limits[groupKey] = cfg.PerGroup
	}
	loop := due.Config{List: w.list, Drive: w.drive, Interval: cfg.Poll, Parallel: cfg.Parallel, Logger: cfg.Logger}
	if w.queue = contain.Queue(w.store); w.queue != nil {
		loop.List, loop.Claim, loop.PutBack, loop.Drive = w.listDue, w.claim, w.putBack, w.driveClaimed
		w.owner = fmt.Sprintf("%s/work-%016x", cfg.Agents[0].Owner(), rand.Uint64())
		w.next = journal.Claim{PerGroup: cfg.PerGroup}
		for _, a := range cfg.Agents {
			w.next.Agents = append(w.next.Agents, a.Name())
		}
	}
	w.due = due.New(loop)
	return w, nil
}

var (
	errNoWorker = &agent.ArgError{Field: "Config.Agents", Problem: "this Worker is nil or empty; make one with work.New"}
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

// named returns the agent with a name; nil if there is none.
func (w *Worker) named(name string) *agent.Agent {
	for _, a := range w.cfg.Agents {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

// agentOf returns the agent whose run is the newest of a session; nil if this Worker doesn't have
// it. The head names only that of a queued run; the newest fact does always.
func (w *Worker) agentOf(ctx context.Context, h *journal.Head) (*agent.Agent, error) {
	if name := machine.InfoOf(h).Agent; name != "" {
		return w.named(name), nil
	}
	for rec, err := range w.store.Read(ctx, h.Session, max(h.Seq, 1)-1) {
		if err != nil {
			return nil, err
		}
		f, err := machine.Decode(h.Session, rec)
		if err != nil {
			return nil, err
		}
		return w.named(f.Envelope().Agent()), nil
	}
	return nil, nil
}

// drive drives a session for a leg, and tells the host of the runs in it that have ended.
func (w *Worker) drive(ctx context.Context, session string) error {
	_, err := w.goOn(ctx, session)
	return err
}

// A went says what became of a session that was driven.
type went struct {
	moved bool      // its run has gone on
	at    time.Time // when to come again, if its time hasn't come; else zero
}

// goOn is drive, and says what became of the session.
func (w *Worker) goOn(ctx context.Context, session string) (how went, err error) {
	h, err := w.store.Head(ctx, session)
	if errors.Is(err, journal.ErrNoSession) {
		return how, nil
	}
	if err != nil {
		return how, err
	}
	w.drives(session, w.limited(&h))
	defer w.drives(session, nil)
	a, err := w.agentOf(ctx, &h)
	if err != nil {
		return how, err
	}
	if a == nil { // other processes may have it
		w.stalls(session, true)
		return how, due.ErrLater
	}
	var failed error
	switch agent.Status(h.Status) {
	case agent.Queued, agent.Running, agent.Paused:
		how, failed = w.leg(ctx, a, session)
		w.stalls(session, failed != nil)
		if h, err = w.store.Head(ctx, session); err != nil {
			return how, cmp.Or(failed, err)
		}
	}
	if now := time.Now(); !h.Due.IsZero() && !h.Due.After(now) && !held(&h, now) {
		err = w.deliver(ctx, a, session)
	}
	return how, cmp.Or(failed, err)
}

// drives notes that a session with these labels is driven here, or no more if they are nil.
func (w *Worker) drives(session string, labels map[string]string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.driven[session] = labels; labels == nil {
		delete(w.driven, session)
	}
}

// stalls notes whether a session that was due couldn't go on.
func (w *Worker) stalls(session string, stalled bool) {
	if w.queue != nil { // which knows what couldn't be started
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.stalled, session); stalled {
		w.stalled[session] = 1
	}
}

// leg drives a session for a leg.
func (w *Worker) leg(ctx context.Context, a *agent.Agent, session string) (how went, err error) {
	leg, limited := w.cfg.Leg, len(w.cfg.PerLabel) > 0 || w.cfg.PerGroup > 0
	leg.Event = func(ev agent.Event) {
		if limited && !how.moved {
			w.due.Poke("") // all processes see it: another one may start
		}
		how.moved = true
		w.tell(ctx, session, ev)
	}
	p, err := a.Advance(ctx, agent.Continue(session), leg)
	if limited && how.moved {
		w.due.Poke("") // others may wait for a place of their label or group
	}
	switch {
	case err != nil:
		return how, err
	case p.Next == agent.NextLater, p.Next == agent.NextAgain && !how.moved: // the agent is drained, for example
		return how, due.ErrLater
	case p.Next == agent.NextAgain: // when others had their turn
		w.due.Poke(session)
	case p.Next == agent.NextWait:
		how.at = p.At
	}
	return how, nil
}

// tell shows an event to the host. A panic is logged, and changes nothing.
func (w *Worker) tell(ctx context.Context, session string, ev agent.Event) {
	if w.cfg.OnEvent == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			w.cfg.Logger.ErrorContext(ctx, "work: Config.OnEvent panicked", "session", session, "panic", v)
		}
	}()
	w.cfg.OnEvent(session, ev)
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
