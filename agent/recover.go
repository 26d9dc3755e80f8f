package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pawlkit/pawl/agent/internal/due"
)

// Drain prepares the agent for the end of its process. From now on inputs are refused with
// [ErrDraining]. Runs in progress, including those of subagents, are paused with
// [machine.CodeDrained] at their next safe point: when the current model call or tool calls have
// ended. In a journal they count as running, so that [Agent.Recover] in another process resumes
// them.
//
// Drain returns nil when no run is in progress, or an error that names the sessions when ctx ends
// first. The process may end in either case: the other runs are then resumed as after a crash. A
// drained agent can't be used again. Drain is safe for concurrent use.
func (a *Agent) Drain(ctx context.Context) error {
	ctx = orBackground(ctx)
	if a == nil || a.registry == nil {
		return errNoAgent
	}
	left := a.sessions.Drain(ctx)
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("agent: %d runs were still under way when draining ended (%w): %s", len(left), causeOf(ctx),
		strings.Join(left, ", "))
}

// A Recovery says which sessions [Agent.Recover] resumes, and how.
type Recovery struct {
	// Prefix limits Recover to sessions whose names begin with it.
	Prefix string
	// Session limits Recover to this session, if it isn't empty; nothing is listed.
	Session string
	// Parallel is how many sessions are resumed at a time; 0: 4.
	Parallel int
	// Each, if it isn't nil, is called for each session when it has ended or paused again, and for
	// each one that can't be read. It may be called from several goroutines at a time. A panic is
	// logged and changes nothing.
	Each func(Recovered)
	// Event, if it isn't nil, is called for each event of the runs that are resumed, as
	// [Agent.Stream] yields it, with the session that is resumed. It may be called from several
	// goroutines at a time, for one session in order. It should return at once. A panic is logged
	// and changes nothing.
	Event func(session string, ev Event)
}

// A Recovered is a session that [Agent.Recover] has resumed.
type Recovered struct {
	Session string
	Result  *Result // nil if the session wasn't resumed
	// Err says why the session wasn't resumed, a *[ChangedError] for example, or why its run
	// failed: it is the error of [Agent.Stream]. How the run stands is in Result.
	Err error
}

// defaultRecovery is the default of Recovery.Parallel.
const defaultRecovery = 4

// Recover resumes the sessions of the journal that could continue but that no process drives: their
// process died or was drained, a decision was made on what they waited for ([Session.Decide]), or
// the time to decide is over. It returns when each of them has ended or paused again, with their
// number. It skips sessions that another process drives or resumes first, sessions of an agent with
// another name, sessions with a parent (see Input.Parent), which resumes them, such as those of
// subagents, and the logs of other packages. The run of a subagent whose caller is over, because a
// process died between the two ends, is stopped.
// No other function resumes sessions by itself.
//
// Call it when a process starts and regularly after that: the session of a process that was killed
// is skipped until its lease has ended (Config.Lease, 30 s by default). The error is about listing
// the sessions; the outcome of each session goes to Recovery.Each.
func (a *Agent) Recover(ctx context.Context, r Recovery) (n int, err error) {
	ctx = orBackground(ctx)
	if a == nil || a.registry == nil {
		return 0, errNoAgent
	}
	if r.Parallel <= 0 {
		r.Parallel = defaultRecovery
	}
	if r.Session != "" {
		if a.recoverOne(ctx, r.Session, &r) {
			n = 1
		}
		return n, nil
	}
	var count atomic.Int64
	var group errgroup.Group
	group.SetLimit(r.Parallel)
	err = a.eachStranded(ctx, &r, func(name string) {
		group.Go(func() error {
			if ctx.Err() == nil && a.recoverOne(ctx, name, &r) {
				count.Add(1)
			}
			return nil
		})
	})
	_ = group.Wait()
	return int(count.Load()), err
}

// eachStranded calls do with the names of the sessions that could continue but that no process
// drives.
func (a *Agent) eachStranded(ctx context.Context, r *Recovery, do func(name string)) error {
	for it, err := range due.Sessions(ctx, a.sessions.Store, r.Prefix) {
		if err != nil && it.Session != "" {
			a.logger.ErrorContext(ctx, "agent: a session can't be read, and isn't recovered", "session", it.Session,
				"error", err)
			a.reportRecovered(ctx, r, Recovered{Session: it.Session, Err: err})
			continue
		}
		if err != nil {
			return fmt.Errorf("agent: listing sessions to recover: %w", err)
		}
		if ctx.Err() != nil {
			return causeOf(ctx)
		}
		do(it.Session)
	}
	return nil
}

// recoverOne resumes a session, and reports whether there was something to resume.
func (a *Agent) recoverOne(ctx context.Context, name string, r *Recovery) bool {
	if strings.HasPrefix(name, childPrefix) {
		return a.endOrphan(ctx, name)
	}
	var paused *PausedError
	j := &job{kind: "Resumption", session: name, recovers: true}
	var event func(Event)
	if r.Event != nil {
		event = func(ev Event) {
			if failed := contained(func() error { r.Event(name, ev); return nil }); failed != nil {
				a.logger.ErrorContext(ctx, "agent: Recovery.Event failed", "session", name, "error", failed)
			}
		}
	}
	res, err := a.collect(ctx, j, event)
	switch {
	case errors.Is(err, errNotOurs), errors.Is(err, ErrDraining), errors.Is(err, ErrBusy) && res == nil,
		errors.Is(err, ErrNothingOpen), res == nil && (errors.As(err, &paused) || errors.As(err, new(*RolesError))):
		return false
	}
	a.reportRecovered(ctx, r, Recovered{Session: name, Result: res, Err: err})
	return true
}

// endOrphan stops the run of a subagent whose caller is over: see [due.Orphaned].
func (a *Agent) endOrphan(ctx context.Context, name string) bool {
	head, err := a.sessions.Store.Head(ctx, name)
	if err != nil {
		return false
	}
	if orphaned, err := due.Orphaned(ctx, a.sessions.Store, &head, time.Now()); err != nil || !orphaned {
		return false
	}
	m, err := a.sessions.Load(ctx, name)
	if err != nil || !m.State().Run.IsOpen() {
		return false
	}
	child := a.subagent(m.State().Run.Agent)
	if child == nil { // one of another agent's
		return false
	}
	err = child.endChild(ctx, name, "the call that it belongs to is over")
	if err != nil {
		a.logger.WarnContext(ctx, "agent: stopping a subagent whose caller is over", "session", name, "error", err)
	}
	return err == nil
}

// subagent returns the subagent with a name, also one of a subagent; nil if there is none.
func (a *Agent) subagent(name string) *Agent {
	for _, t := range a.children {
		if t.child.cfg.Name == name {
			return t.child
		}
		if found := t.child.subagent(name); found != nil {
			return found
		}
	}
	return nil
}

func (a *Agent) reportRecovered(ctx context.Context, r *Recovery, one Recovered) {
	if r.Each == nil {
		return
	}
	failed := contained(func() error {
		r.Each(one)
		return nil
	})
	if failed != nil {
		a.logger.ErrorContext(ctx, "agent: Recovery.Each failed", "session", one.Session, "error", failed)
	}
}
