package machine

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// loaded takes over the state of a snapshot, in a machine that has none: the facts before it were pruned.
func (m *Machine) loaded(f *Snapshot) string {
	switch {
	case f.State == nil || f.State.Run == nil:
		return "it holds no state"
	case m.s.Run != nil: // the state is what the facts say
		return ""
	}
	if problem := f.State.unsound(f.Run); problem != "" {
		return problem
	}
	s, err := f.State.Clone() // the fact is shared
	if err != nil {
		return err.Error()
	}
	s.Session, s.Seq = m.s.Session, m.s.Seq
	s.Run.Limits = s.Run.Limits.orZero()
	m.s = *s
	return ""
}

// unsound says why facts can't have made the state, whose newest run has that id. An imported log may hold anything.
func (s *State) unsound(run string) string {
	r, before := s.Run, s.Messages
	acts := r.Stage == StageActing
	if acts && len(before) > 0 {
		before = before[:len(before)-1] // the reply whose calls are open
	}
	switch {
	case r.ID == "" || r.ID != run:
		return "its run isn't the one that it names"
	case !slices.Contains([]Status{Running, Paused, Completed, Stopped, Failed}, r.Status) || acts && !r.IsOpen():
		return fmt.Sprintf("status %q doesn't fit stage %q", r.Status, r.Stage)
	case !slices.Contains([]Stage{StageReady, StageCalling, StageActing, StageReplied, StageFailed}, r.Stage):
		return fmt.Sprintf("there is no stage %q", r.Stage)
	case r.First < 0 || r.First >= len(s.Messages) || !orderly(before):
		return "its conversation isn't in order"
	case r.ContextReset != nil && (r.ContextReset.Index < 1 || r.ContextReset.Prompt < 0):
		return "its place in a chain of runs is none"
	case !acts && len(r.Calls) > 0 || acts && !slices.ContainsFunc(r.Calls, func(c CallState) bool { return c.Status != CallDone }):
		return "its calls don't fit its stage"
	}
	if !acts {
		return ""
	}
	made := s.Messages[len(s.Messages)-1].Calls()
	for i := range r.Calls {
		if c := &r.Calls[i]; len(made) != len(r.Calls) || !c.sound(made[i]) || !isCallID(c.Call.ID, r.ID, r.Step, i) {
			return fmt.Sprintf("call %d isn't as the model made it, or doesn't stand as a call can", i)
		}
	}
	return ""
}

// sound reports whether a call that the model made can stand so.
func (c *CallState) sound(made *provider.ToolCall) bool {
	if c.Call == nil || made == nil || !c.is(made) {
		return false
	}
	switch c.Status {
	case CallOpen, CallApproved, CallDecided:
		return true
	case CallStarted:
		return c.Started
	case CallSuspended:
		return c.Pause != nil && c.Pause.ID != "" && c.is(&c.Pause.Call)
	case CallDone:
		return c.Result != nil && c.Result.CallID == made.ID
	}
	return false
}

// Clone returns a copy that shares nothing that changes.
func (s *State) Clone() (*State, error) {
	data, err := Marshal(s)
	if err != nil {
		return nil, err
	}
	out := new(State)
	return out, json.Unmarshal(data, out)
}
