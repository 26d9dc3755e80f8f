package agent

import (
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// A Machine is the loop of an agent without its effects: a deterministic state machine over facts. It reads no clock, no
// randomness and no environment, and runs nothing. [Machine.Next] says what has to happen now; whoever drives it does
// that, and tells what came of it with [Machine.Apply]. The same facts make the same state, in any process.
//
// A Machine isn't safe for concurrent use.
type Machine struct {
	s     State
	room  []int       // for Action.Calls
	calls []CallState // of the step before, for RunState.Calls: empty
}

// NewMachine returns the machine of a session without facts.
func NewMachine(session string) *Machine {
	return &Machine{s: State{Session: session}}
}

// Replay returns the machine of a session after the given facts: all of them, or those from a [Snapshot] on, as
// [Agent.Facts] returns them of a session that was pruned.
func Replay(session string, facts ...Fact) (*Machine, error) {
	m := NewMachine(session)
	if len(facts) > 0 {
		if s, ok := facts[0].(Snapshot); ok && s.Meta.Seq > 0 {
			m.s.Seq = s.Meta.Seq - 1
		}
	}
	for _, f := range facts {
		if err := m.Apply(f); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// State returns the state. It is the machine's own: it must not be changed, and changes with the next Apply.
func (m *Machine) State() *State { return &m.s }

// still returns a machine in the same state, which it keeps when this one continues.
func (m *Machine) still() *Machine {
	out := &Machine{s: m.s}
	out.s.Rules = slices.Clone(m.s.Rules)
	if m.s.Run != nil {
		r := *m.s.Run
		r.Calls, r.Tools = slices.Clone(r.Calls), slices.Clone(r.Tools)
		out.s.Run = &r
	}
	return out
}

// An ActionKind says what has to happen.
type ActionKind uint8

// The kinds of actions.
const (
	ActNothing   ActionKind = iota // there is no run, or it has ended
	ActCallModel                   // call the model
	ActRunCalls                    // take the calls named by Action.Calls further
	ActSettle                      // give the calls named by Action.Calls their result without running them: the reply was cut, or they were turned down
	ActDoubt                       // Action.Calls were started, and nobody knows how they ended
	ActWait                        // nothing can be done until somebody decides
	ActFinish                      // end the run with Action.Status and Action.Code
)

// An Action is what has to happen now.
type Action struct {
	Kind ActionKind
	// Calls are the indexes in RunState.Calls that the action is about, until the next call of Next.
	Calls []int
	// Final, of ActCallModel, names the limit after which this is the last call, without tools.
	Final string
	// Again, of ActCallModel, says that a call of this step was begun before and nobody knows how it ended.
	Again  bool
	Status Status
	Code   string
	Err    error
}

// Next says what has to happen now. It changes nothing.
func (m *Machine) Next() Action {
	r := m.s.Run
	if r == nil || r.Status != Running {
		return Action{}
	}
	switch r.Stage {
	case stageCalling:
		if l := r.Limits.Steps; l >= 0 && r.Step+r.Lost > l { // one that is lost again and again, too, comes to an end
			return Action{Kind: ActFinish, Status: Stopped, Code: CodeLimit, Err: r.limitError(LimitSteps)}
		}
		return Action{Kind: ActCallModel, Final: r.Final, Again: true}
	case stageBroken:
		return Action{Kind: ActFinish, Status: Failed, Code: CodeProvider}
	case stageActing:
		return m.nextCalls(r)
	case stageSaid:
		return m.nextSaid(r)
	}
	return m.nextStep(r)
}

// nextCalls says what has to happen with the open calls. There is at least one.
func (m *Machine) nextCalls(r *RunState) Action {
	switch {
	case m.pick(r, callStarted, callStarted):
		return Action{Kind: ActDoubt, Calls: m.room}
	case m.pick(r, callSettled, callSettled):
		return Action{Kind: ActSettle, Calls: m.room}
	case !m.pick(r, callOpen, callApproved):
		return Action{Kind: ActWait, Status: Paused}
	case !r.callsRun():
		return Action{Kind: ActSettle, Calls: m.room}
	}
	return Action{Kind: ActRunCalls, Calls: m.room}
}

// pick puts the calls that stand at one or the other into m.room, and reports whether there are any.
func (m *Machine) pick(r *RunState, one, other callStatus) bool {
	m.room = m.room[:0]
	for i := range r.Calls {
		if s := r.Calls[i].Status; s == one || s == other {
			m.room = append(m.room, i)
		}
	}
	return len(m.room) > 0
}

// nextSaid says how to continue after a reply without calls.
func (m *Machine) nextSaid(r *RunState) Action {
	switch {
	case r.Stop == provider.StopPaused: // the provider wants to be called again with what it said
		return m.nextStep(r)
	case r.Stop == provider.StopError:
		return Action{Kind: ActFinish, Status: Failed, Code: CodeProvider, Err: fmt.Errorf("agent: the provider says that the answer failed")}
	case r.Final != "":
		return Action{Kind: ActFinish, Status: Stopped, Code: CodeLimit, Err: r.limitError(r.Final)}
	case r.Stop == provider.StopLength:
		return Action{Kind: ActFinish, Status: Stopped, Code: CodeLength, Err: ErrCutAnswer}
	case r.Stop == provider.StopFiltered:
		return Action{Kind: ActFinish, Status: Stopped, Code: CodeFiltered, Err: ErrFiltered}
	}
	return Action{Kind: ActFinish, Status: Completed}
}

// nextStep says whether the model may be called again.
func (m *Machine) nextStep(r *RunState) Action {
	l := r.Limits
	over := func(limit string) Action {
		return Action{Kind: ActFinish, Status: Stopped, Code: CodeLimit, Err: r.limitError(limit)}
	}
	switch {
	case r.Final != "": // the last call was made
		return over(r.Final)
	case r.Stuck != "":
		return over(LimitRepeats)
	case l.Tokens >= 0 && r.Usage.Total() >= l.Tokens && r.Step > 0:
		return over(LimitTokens)
	case l.Cost >= 0 && r.Cost >= l.Cost && r.Step > 0:
		return over(LimitCost)
	case l.Steps >= 0 && r.Step+r.Lost >= l.Steps:
		return Action{Kind: ActCallModel, Final: LimitSteps}
	case l.StepsPerPhase >= 0 && r.PhaseStep >= l.StepsPerPhase:
		return Action{Kind: ActCallModel, Final: LimitStepsPerPhase}
	}
	return Action{Kind: ActCallModel}
}

// limitError returns the error of a limit that this run has reached.
func (r *RunState) limitError(limit string) *LimitError {
	e := &LimitError{Limit: limit}
	last := 0
	if r.Final != "" {
		last = 1 // the last call, without tools, is granted on top
	}
	switch limit {
	case LimitSteps:
		e.Max, e.Have = int64(r.Limits.Steps), int64(r.Step-last)
	case LimitStepsPerPhase:
		e.Max, e.Have = int64(r.Limits.StepsPerPhase), int64(max(r.PhaseStep-last, 0)) // another phase may have begun since
	case LimitTokens:
		e.Max, e.Have = r.Limits.Tokens, r.Usage.Total()
	case LimitCost:
		e.Max, e.Have = int64(r.Limits.Cost), int64(r.Cost)
	case LimitRepeats:
		t := r.Tools.of(r.Stuck)
		e.Max, e.Have = int64(r.Limits.Repeats), int64(max(t.Same, t.Failing))
		e.Note = "the model calls " + r.Stuck + " with the same input, without new information"
	}
	return e
}
