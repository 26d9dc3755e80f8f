package agent

import (
	"context"
	"errors"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// A sessionLog is a session that this process holds, as the agent uses it: its log, and the events
// that wait to be shown.
//
// The driver of a run uses it. Changes between runs use it without a driver: Undo, Fork, Prune,
// Compact, Revoke, and the end of a subagent's run that was abandoned.
type sessionLog struct {
	*session.Log // its lock guards what is said to be guarded

	// fixed when the session is opened
	agent  *Agent
	ctx    context.Context // derived from that of the Log
	deltas bool            // notes are queued, too
	parent *parentCall     // the call that the run belongs to, of a subagent
	tools  *runTools       // of the run; nil without one

	resumed bool // a decision has resumed the run; only the driving goroutine uses it

	// guarded
	queue    []Event         // facts that were appended and not shown yet, and notes in their place among them
	applied  []Event         // of the append under way
	spending *spending       // with that of subagents; nil before the first is called
	asked    map[string]bool // pauses that were shown
	over     outcome         // of a run
	ended    bool            // the end of the run is appended
}

// An outcome is what is known of the end of a run besides the fact.
type outcome struct {
	cause error     // why the run ends, for the Result of the end that is appended next
	shown *RunEnded // the newest end, with its Result
}

// newLog returns the log of a session that isn't held yet.
func (a *Agent) newLog(ctx context.Context, name string) *sessionLog {
	l := &sessionLog{Log: a.sessions.Log(ctx, name), agent: a}
	l.ctx, l.Stored, l.Applied = l.Ctx, withoutRun(l.Stored), l.enqueue
	return l
}

// open opens a session, which needn't exist. If this or another process holds it, the error is an
// [ErrBusy]. The caller must close it.
func (a *Agent) open(ctx context.Context, name string) (*sessionLog, error) {
	l := a.newLog(ctx, name)
	return l, l.Hold(nil)
}

// openKnown is open for a session that must exist. If it doesn't, the error is an [ErrNothingOpen].
func (a *Agent) openKnown(ctx context.Context, name string) (*sessionLog, error) {
	if err := a.sessions.Exists(ctx, name); err != nil {
		return nil, err
	}
	return a.open(ctx, name)
}

// append appends facts, and queues them to be shown: see [session.Log.Append].
func (l *sessionLog) append(facts ...Fact) error { return l.appendTaking(nil, facts...) }

// appendTaking is append for facts that are the outcome of inbox items, which leave the inbox with
// them.
func (l *sessionLog) appendTaking(items []string, facts ...Fact) error {
	own := make([]session.Redacted, len(facts))
	for i, f := range facts {
		own[i] = l.agent.sessions.Redact(f)
	}
	l.Lock()
	defer l.Unlock()
	return l.appendLocked(items, own...)
}

// appendLocked is appendTaking for a caller that holds the lock.
func (l *sessionLog) appendLocked(items []string, facts ...session.Redacted) error {
	defer func() {
		clear(l.applied)
		l.applied = l.applied[:0]
	}()
	if err := l.AppendLocked(items, facts...); err != nil { // others may have had the lock since it failed
		return err
	}
	l.queue = append(l.queue, l.applied...)
	if l.spending != nil {
		l.spending.update(l.Run())
	}
	return nil
}

// enqueue queues the event of a fact that was just applied, if the append under way succeeds. The
// caller holds the lock.
func (l *sessionLog) enqueue(f Fact) {
	switch f := f.(type) {
	case *RunEnded:
		l.over.shown = endEvent(f, l.Machine(), l.over.cause)
		l.applied = append(l.applied, l.over.shown)
	case *Suspended:
		l.showPauses(f)
	default:
		l.applied = append(l.applied, f)
	}
}

// endEvent returns the event of the end of a run, with its Result. cause is why it ended, if that
// is known here.
func endEvent(f *RunEnded, after *machine.Machine, cause error) *RunEnded {
	shown := *f
	shown.Result = after.Result(f.Status, f.Code, cause)
	return &shown
}

// showPauses queues a pause, or, for a call of a subagent, the pauses that the subagent waits for.
// Each is shown once.
func (l *sessionLog) showPauses(f *Suspended) {
	if l.asked == nil {
		l.asked = make(map[string]bool)
	}
	for _, p := range f.Pause.Flat() {
		if !l.asked[p.ID] {
			l.asked[p.ID] = true
			shown := &Suspended{Meta: f.Meta, Pause: p}
			if len(p.Path) == 0 {
				shown.Spent = f.Spent
			}
			l.applied = append(l.applied, shown)
		}
	}
}

// note queues a note after the facts so far. The caller holds the lock.
func (l *sessionLog) note(ev Event) {
	if l.deltas {
		l.queue = append(l.queue, ev)
	}
}

// noteMeta returns the envelope of a note that is about no tool call.
func (l *sessionLog) noteMeta() NoteMeta { return NoteMeta{Origin: l.Origin(), Step: l.Run().Step} }

// A runner is what the call path knows of the driver whose run a context belongs to.
type runner interface {
	session() string
	attemptFailed(err error) // of the model call under way, which is made again
}

// runnerIn returns the driver of the run that ctx belongs to, or nil.
func runnerIn(ctx context.Context) runner {
	r, _ := ctx.Value(driverKey{}).(runner)
	return r
}

// Errors of the functions for tools and hooks.
var (
	errNoRun = errors.New("agent: the context isn't that of a run")
	errOver  = errors.New("agent: the run, or the call that the context is of, is over")
)

// appendIn appends the fact that makes returns, if any. The fact holds nothing that must be
// redacted. A call that was abandoned, whose ctx has ended, must not change the run any more.
func (l *sessionLog) appendIn(ctx context.Context, makes func() Fact) error {
	l.Lock()
	defer l.Unlock()
	if ctx.Err() != nil || l.ended {
		return errOver
	}
	if f := makes(); f != nil {
		return l.appendLocked(nil, session.Clean(f))
	}
	return nil
}

// asideKey marks the context of model calls that aren't the run's own steps: those of a function
// that writes a note, and of a tool.
type asideKey struct{}

// session returns the name of the session.
func (l *sessionLog) session() string { return l.Name }

// callMeta returns the envelope of notes about a call.
func (l *sessionLog) callMeta(c *tools.Call) NoteMeta {
	return NoteMeta{Origin: l.Origin(), Step: c.Step, Call: c.ID}
}

type driverKey struct{}

// withoutRun returns a context that belongs to no run.
func withoutRun(ctx context.Context) context.Context {
	return context.WithValue(ctx, driverKey{}, nil)
}

// paused reports whether the log says that the run is paused.
func (l *sessionLog) paused() bool { return l.Run().IsOpen() && l.Run().Status == Paused }
