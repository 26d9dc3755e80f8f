package agent

import (
	"context"
	"errors"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// A sessionLog is a session that this process holds, as the agent uses it: its log, and the events
// that wait to be shown.
//
// The driver of a run uses it. Changes between runs use it without a driver: Undo, Prune, Compact,
// Revoke, and the end of a subagent's run whose call is over.
type sessionLog struct {
	*session.Log // its lock guards what is said to be guarded

	// fixed when the session is opened
	agent  *Agent
	ctx    context.Context // derived from that of the Log
	parent *parentCall     // the call that the run belongs to, of a subagent
	tools  *runTools       // of the run; nil without one
	leg    *legState       // that the run is driven for; nil without one
	deltas bool            // notes are queued, too

	place place // of its run among all that an input has started

	// guarded
	queue    []Event         // facts that were appended and not shown yet, and notes in their place among them
	fresh    []Event         // of the facts of the append under way
	asked    map[string]bool // pauses that were shown
	ended    bool            // the end of the run is appended
	endCause error           // why the run ends, for the Result of the end that is appended next
	lastEnd  *RunEnded       // the newest end, with its Result
}

// newLog returns the log of a session that isn't held yet.
func (a *Agent) newLog(ctx context.Context, name string) *sessionLog {
	l := &sessionLog{Log: a.sessions.Log(ctx, name), agent: a}
	l.place.log = l
	l.ctx, l.Stored, l.Reads, l.Observer = l.Ctx, withoutRun(l.Stored), withoutRun(l.Reads), l
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
func (l *sessionLog) append(facts ...Fact) error { return l.Append(nil, facts...) }

// Appended implements session.Observer: it queues the events of an append if its facts are stored.
func (l *sessionLog) Appended(stored bool) {
	if stored {
		l.queue = append(l.queue, l.fresh...)
	}
	if stored && l.place.spending != nil {
		l.place.spending.update(l.Run())
	}
	clear(l.fresh)
	l.fresh = l.fresh[:0]
}

// Applied implements session.Observer: it adds the event of a fact to those of the append under
// way.
func (l *sessionLog) Applied(f Fact) {
	if _, ok := f.(*machine.ModeChanged); ok && l.place.tree != nil { // it may change limits
		l.place.levels = l.State().Tree()
	}
	if l.fresh == nil {
		l.fresh = make([]Event, 0, 2) // a step has two facts in an append
	}
	switch f := f.(type) {
	case *RunEnded:
		l.lastEnd = endEvent(f, l.Machine(), l.endCause)
		l.fresh = append(l.fresh, l.lastEnd)
	case *Suspended:
		l.showPauses(f)
	default:
		l.fresh = append(l.fresh, f)
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
			l.fresh = append(l.fresh, shown)
		}
	}
}

// note queues a note after the facts so far. The caller holds the lock.
func (l *sessionLog) note(ev Event) {
	if l.deltas {
		l.queue = append(l.queue, ev)
	}
}

// warn logs an error about the session, if there is one.
func (l *sessionLog) warn(about string, err error, args ...any) {
	if err != nil {
		l.agent.logger.WarnContext(l.ctx, about, append([]any{"session", l.Name, "error", err}, args...)...)
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
	r, _ := work.RunOf(ctx).(runner)
	return r
}

// outsideOfRun returns the error of a function for tools and hooks whose context isn't that of a
// run.
func outsideOfRun(fn string) error {
	return &ArgError{Func: fn, Problem: "the context isn't that of a run; pass on the one that the tool or hook got"}
}

var errOver = errors.New("agent: the run, or the call that the context is of, is over")

// appendIn appends the fact that makes returns, if any. The fact holds nothing that must be
// redacted. A call that was abandoned, whose ctx has ended, must not change the run any more.
func (l *sessionLog) appendIn(ctx context.Context, makes func() Fact) error {
	l.Lock()
	defer l.Unlock()
	if ctx.Err() != nil || l.ended {
		return errOver
	}
	if f := makes(); f != nil {
		return l.AppendLocked(nil, session.Clean(f))
	}
	return nil
}

// asideKey marks the context of model calls that aren't the run's own steps: those of a function
// that writes a note, and of a tool.
type asideKey struct{}

// callMeta returns the envelope of notes about a call.
func (l *sessionLog) callMeta(c *tools.Call) NoteMeta {
	return NoteMeta{Origin: l.Origin(), Step: c.Step, Call: c.ID}
}

// withoutRun returns a context that belongs to no run.
func withoutRun(ctx context.Context) context.Context {
	return work.WithRun(ctx, nil)
}

// waits reports whether the run is paused, and doesn't go on by itself.
func (l *sessionLog) waits() bool { return l.paused() && !l.Run().Interrupted() }

// paused reports whether the log says that the run is paused.
func (l *sessionLog) paused() bool { return l.Run().IsOpen() && l.Run().Status == Paused }

// pending says which facts of a run may wait for the next append. With it a step with tool calls
// takes two appends: the reply with the starts of its calls, and the last result with the start of
// the next model call.
//
// A fact that waits is applied and not stored. So nobody may see it, and nothing may happen because
// of it, until it is stored: no event is shown, and no function of the host is called.
//
//	the fact      waits for    if
//	Replied       ToolStarted  there are no policies, no sources, and no hooks before a tool call
//	ToolFinished  StepStarted  there is no memory, no Compose, no stop condition and no hook before a
//	                           model call, and the driving goroutine is free
//
// What waits is stored before anything slow: by driver.next, unless the next action begins at once,
// by consumer.flush before events are shown, and by workers before a tool is asked about a call.
//
// The append that begins such an action is stored only if nothing is in the inbox. So the inbox
// needn't be read at the safe point before it. If something is there, what waited is stored alone,
// the action hasn't begun, and driver.next reads the inbox.
type pending struct {
	log *sessionLog

	// fixed for an agent
	resultWaits bool // a ToolFinished may wait
	replyWaits  bool // a Replied may

	// of the driving goroutine
	quiet  bool // the next action begins only if nothing is in the inbox
	unread bool // something was, so it hasn't begun
}

// appendReply appends a reply, or lets it wait for the starts of its calls.
func (p *pending) appendReply(f *Replied) error {
	if p.replyWaits {
		return p.log.Defer(f)
	}
	return p.log.append(f)
}

// appendStep appends the start of a model call, with what waits for it.
func (p *pending) appendStep(f *StepStarted) error {
	err := p.log.AppendQuiet(p.quiet, f)
	p.unread = errors.Is(err, journal.ErrInbox)
	return err
}
