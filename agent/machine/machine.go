package machine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// A Machine is the loop of an agent without its effects: a deterministic state machine over facts.
// It reads no clock, no randomness and no environment, and runs nothing. [Machine.Next] says what
// has to happen now. The driver does it, and reports the outcome with [Machine.Apply].
//
// A Machine isn't safe for concurrent use.
type Machine struct {
	s      State
	backup *backup // nil before the first Begin
}

// New returns the machine of a session without facts.
func New(session string) *Machine {
	return &Machine{s: State{Session: session}}
}

// NewAfter returns the machine of a session whose facts up to number seq aren't needed: the next
// fact is a [Snapshot], or seq is 0.
func NewAfter(session string, seq uint64) *Machine {
	return &Machine{s: State{Session: session, Seq: seq}}
}

// Replay returns the machine of a session after the given facts: all facts of the session, or those
// from a [Snapshot] on. Its error is a *[FactError].
func Replay(session string, facts ...Fact) (*Machine, error) {
	m := New(session)
	if len(facts) > 0 {
		if s, ok := facts[0].(*Snapshot); ok && s.Seq > 0 {
			m = NewAfter(session, s.Seq-1)
		}
	}
	for _, f := range facts {
		if err := m.Apply(f); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// State returns the state. It belongs to the machine: the caller mustn't change it, and the next
// Apply may.
func (m *Machine) State() *State { return &m.s }

// Clone returns a machine in the same state. Facts applied to one of the two don't change the
// other.
func (m *Machine) Clone() *Machine {
	out := m.Move()
	// appending must not reach the original
	out.s.Messages, out.s.Used = slices.Clip(out.s.Messages), slices.Clip(out.s.Used)
	if out.s.Run != nil {
		out.s.Run.ToolNames, out.s.Run.Effects = slices.Clip(out.s.Run.ToolNames), slices.Clip(out.s.Run.Effects)
	}
	return out
}

// Move returns a machine in the same state that takes the place of m: no fact may be applied to m
// any more, but it may still be read. Unlike Clone, its cost doesn't grow with the conversation
// when facts follow.
func (m *Machine) Move() *Machine {
	out := &Machine{s: m.s}
	if m.s.Run != nil {
		r := *m.s.Run // what Apply changes in place is copied
		r.Calls, r.Tools = slices.Clone(r.Calls), maps.Clone(r.Tools)
		out.s.Run = &r
	}
	return out
}

// An ActionKind says what has to happen, for drivers and tools that read logs.
type ActionKind uint8

// The kinds of actions. What each asks of the driver is in the package documentation.
const (
	ActNothing   ActionKind = iota // there is no run, it is paused, or it has ended
	ActCallModel                   // call the model
	// run the calls in Action.Calls, or suspend them, or give them a result that says why they
	// don't run
	ActRunCalls
	// give the calls in Action.Calls their results without running them: the reply was cut off, or
	// they were rejected
	ActSettle
	ActDoubt  // the calls in Action.Calls were started, and it is unknown how they ended
	ActWait   // pause the run: all open calls wait for decisions
	ActFinish // end the run with Action.Status, Action.Code and Action.Err
)

// An Action is what has to happen now, for drivers and tools that read logs.
type Action struct {
	Kind ActionKind
	// Calls are indexes in RunState.Calls, for ActRunCalls, ActSettle and ActDoubt.
	Calls []int
	// Final is set for ActCallModel if this is the last call, without tools: the limit that was
	// reached.
	Final string
	// Again is set for ActCallModel if a call of this step was begun before and it is unknown how
	// it ended.
	Again bool
	// Status, Code and Err say how to end the run, for ActFinish and ActWait. Err is nil for a run
	// that completes, and where the facts say why.
	Status Status
	Code   string
	Err    error
}

// Next returns what has to happen now. It changes nothing.
func (m *Machine) Next() Action {
	r := m.s.Run
	if r == nil || r.Status != Running {
		return Action{}
	}
	switch r.Stage {
	case StageCalling:
		l := r.Limits.Steps
		if r.Final != "" { // the call that the limit grants is made again, also if the one before it was lost
			l += 2
		}
		if r.Limits.Steps >= 0 && r.Step+r.Lost > l { // calls that are lost in every attempt count, too
			return r.stopAt(LimitSteps)
		}
		return Action{Kind: ActCallModel, Final: r.Final, Again: true}
	case StageFailed:
		return Action{Kind: ActFinish, Status: Failed, Code: CodeProvider}
	case StageActing:
		return r.nextCalls()
	case StageReplied:
		return r.nextReplied()
	}
	return r.nextStep()
}

// nextCalls returns what has to happen with the calls that have no result. There is at least one.
func (r *RunState) nextCalls() Action {
	var started, decided, open []int
	for i := range r.Calls {
		switch r.Calls[i].Status {
		case CallStarted:
			started = append(started, i)
		case CallDecided:
			decided = append(decided, i)
		case CallOpen, CallApproved:
			open = append(open, i)
		}
	}
	switch {
	case len(started) > 0:
		return Action{Kind: ActDoubt, Calls: started}
	case len(decided) > 0:
		return Action{Kind: ActSettle, Calls: decided}
	case len(open) == 0:
		return Action{Kind: ActWait, Status: Paused}
	case !r.callsMayRun():
		return Action{Kind: ActSettle, Calls: open}
	}
	return Action{Kind: ActRunCalls, Calls: open}
}

// nextReplied returns what has to happen after a reply without calls.
func (r *RunState) nextReplied() Action {
	switch {
	case r.Stop == provider.StopPaused: // the provider asks to be called again with its own output
		return r.nextStep()
	case r.Stop == provider.StopError:
		return Action{Kind: ActFinish, Status: Failed, Code: CodeProvider,
			Err: fmt.Errorf("agent: the provider says that the answer failed")}
	case r.Final != "":
		return r.stopAt(r.Final)
	case r.Stop == provider.StopLength:
		return Action{Kind: ActFinish, Status: Stopped, Code: CodeLength, Err: ErrCutAnswer}
	case r.Stop == provider.StopFiltered:
		return Action{Kind: ActFinish, Status: Stopped, Code: CodeFiltered, Err: ErrFiltered}
	}
	return Action{Kind: ActFinish, Status: Completed}
}

// nextStep returns a model call, or the end of the run if a limit is reached.
func (r *RunState) nextStep() Action {
	l := r.Limits
	switch {
	case r.Direct != nil:
		return Action{Kind: ActFinish, Status: Completed}
	case r.Final != "": // the last call was made
		return r.stopAt(r.Final)
	case r.Stuck != "":
		return r.stopAt(LimitRepeats)
	case l.Failures > 0 && r.Failures >= l.Failures:
		return r.stopAt(LimitFailures)
	case l.Tokens >= 0 && r.Usage.Total() >= l.Tokens && r.Step > 0:
		return r.stopAt(LimitTokens)
	case l.Cost >= 0 && r.Cost >= l.Cost && r.Step > 0:
		return r.stopAt(LimitCost)
	case l.Steps >= 0 && r.Step+r.Lost >= l.Steps:
		return Action{Kind: ActCallModel, Final: LimitSteps}
	case l.StepsPerPhase >= 0 && r.PhaseStep >= l.StepsPerPhase:
		return Action{Kind: ActCallModel, Final: LimitStepsPerPhase}
	}
	return Action{Kind: ActCallModel}
}

// stopAt ends the run because it has reached a limit.
func (r *RunState) stopAt(limit string) Action {
	return Action{Kind: ActFinish, Status: Stopped, Code: CodeLimit, Err: r.limitError(limit)}
}

// Waiting reports whether nothing can be done before somebody decides.
func (m *Machine) Waiting() bool {
	r := m.s.Run
	return r != nil && r.Stage == StageActing && r.nextCalls().Kind == ActWait
}
