package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
)

// ErrDraining is what a new input gets once [Agent.Drain] was called. Another process may take it.
var ErrDraining = fault.New(fault.Transient, "agent: this agent is draining and takes no new input; another process may")

// A DrainError says that runs were still under way when the context of [Agent.Drain] ended.
type DrainError struct {
	Sessions []string // in the order of their names
	Err      error
}

// Error names the sessions.
func (e *DrainError) Error() string {
	return fmt.Sprintf("agent: %d runs were still under way when draining ended (%v): %s", len(e.Sessions), e.Err, strings.Join(e.Sessions, ", "))
}

// Unwrap returns the cause.
func (e *DrainError) Unwrap() error { return e.Err }

// Drain brings the agent to rest before its process ends. Inputs are refused with [ErrDraining] from now on; runs under
// way are paused at their next safe point, that is when the model call or the tool calls under way have ended, with
// [machine.CodeDrained], those of agents that are tools among them. In a journal they count as running, so that [Agent.Recover] in
// another process goes on with them.
//
// Drain returns when nothing is under way any more, or a *[DrainError] when ctx ends. The process may end even so: what
// was under way is then gone on with as after a crash. An agent that was drained stays so.
func (a *Agent) Drain(ctx context.Context) error {
	ctx = orBackground(ctx)
	if a == nil || a.registry == nil {
		return errNoAgent
	}
	a.mu.Lock()
	if !a.draining {
		a.draining, a.idle = true, make(chan struct{})
		for _, l := range a.held {
			if l.driver != nil {
				l.driver.poke()
			}
		}
		a.drained()
	}
	idle := a.idle
	a.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.held) == 0 {
		return nil
	}
	return &DrainError{Sessions: slices.Sorted(maps.Keys(a.held)), Err: context.Cause(ctx)}
}

// drains reports whether the agent that drives x, or one above it, is being drained.
func (x *driver) drains() bool {
	x.agent.mu.Lock()
	draining := x.agent.draining
	x.agent.mu.Unlock()
	return draining || x.parent != nil && x.parent.driver.drains()
}

// drained closes idle if no session is held. mu is held.
func (a *Agent) drained() {
	select {
	case <-a.idle:
		return
	default:
	}
	if len(a.held) == 0 {
		close(a.idle)
	}
}

// A Recovery says which sessions [Agent.Recover] resumes, and how.
type Recovery struct {
	// Prefix keeps to sessions whose names begin with it.
	Prefix string
	// Parallel is how many sessions are resumed at a time; 0: 4.
	Parallel int
	// Each, if it isn't nil, is called for each session when it has ended or paused again. It may be called from several
	// goroutines at a time.
	Each func(Recovered)
}

// A Recovered is a session that [Agent.Recover] has resumed.
type Recovered struct {
	Session string
	Result  *Result
	Err     error // a *[ChangedError], for example; see [Agent.Run]
}

// defaultRecovery is the default of Recovery.Parallel.
const defaultRecovery = 4

// Recover resumes the sessions of the journal that nobody drives though they could continue: their process died or was drained,
// somebody has decided on what they waited for ([Session.Decide]), or the time to decide is over. It returns when each has
// ended or paused again, and how many there were. Sessions that another process drives, or takes first, are left to it; those
// of an agent with another name, and those of subagents, whose parent resumes them, are left alone. It is the only mechanism
// that resumes sessions.
//
// Call it when a process starts, and from time to time: a session of a process that was killed belongs to that process until its
// lease has ended (Config.Lease, by default 30 s), and is passed over until then. The error is about listing the sessions; what
// became of each is reported to Recovery.Each.
func (a *Agent) Recover(ctx context.Context, r Recovery) (n int, err error) {
	ctx = orBackground(ctx)
	if a == nil || a.registry == nil {
		return 0, errNoAgent
	}
	if r.Parallel <= 0 {
		r.Parallel = defaultRecovery
	}
	var (
		names = make(chan string)
		count atomic.Int64
		wg    sync.WaitGroup
	)
	for range r.Parallel {
		wg.Go(func() {
			for name := range names {
				if a.recoverOne(ctx, name, r.Each) {
					count.Add(1)
				}
			}
		})
	}
	err = a.stranded(ctx, r.Prefix, names)
	close(names)
	wg.Wait()
	return int(count.Load()), err
}

// stranded sends the names of the sessions that could continue and that nobody drives.
func (a *Agent) stranded(ctx context.Context, prefix string, names chan<- string) error {
	for head, err := range a.store.Heads(ctx, journal.Filter{Prefix: prefix}) {
		if err != nil {
			return fmt.Errorf("agent: listing sessions to recover: %w", err)
		}
		if !stranded(&head, time.Now()) {
			continue
		}
		select {
		case names <- head.Session:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// stranded reports whether a session could continue and nobody drives it.
func stranded(h *journal.Head, now time.Time) bool {
	if h.Owner != "" && now.Before(h.Until) || strings.HasPrefix(h.Session, childPrefix) {
		return false
	}
	expired := func(o journal.Open) bool { return !o.Expires.IsZero() && !now.Before(o.Expires) }
	return h.Status == string(Running) || h.Status == string(Paused) && (h.Inbox > 0 || slices.ContainsFunc(h.Open, expired))
}

// recoverOne resumes a session, and reports whether there was something to resume.
func (a *Agent) recoverOne(ctx context.Context, name string, each func(Recovered)) bool {
	var busy *BusyError
	var none *NothingOpenError
	var paused *PausedError
	in := Continue(name)
	in.recovering = true
	res, err := a.Run(ctx, in)
	switch {
	case errors.Is(err, errNotOurs), errors.Is(err, ErrDraining), errors.As(err, &busy) && res == nil,
		errors.As(err, &none), res == nil && errors.As(err, &paused):
		return false
	}
	if each != nil {
		each(Recovered{Session: name, Result: res, Err: err})
	}
	return true
}
