package machine

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// apply sets the state of a machine that has none, because the facts before the snapshot were
// pruned.
func (f *Snapshot) apply(m *Machine, _ *RunState) string {
	if f.State == nil || f.State.Run == nil {
		return "it holds no state"
	}
	if problem := f.State.check(f.Run()); problem != "" {
		return problem
	}
	if m.s.Run != nil { // the facts before it were applied, and give the same state
		if len(f.State.Messages) != len(m.s.Messages) || f.State.Run.Status != m.s.Run.Status ||
			f.State.Run.Stage != m.s.Run.Stage || f.State.Run.Step != m.s.Run.Step {
			return "its state isn't that of the session"
		}
		return ""
	}
	s, err := f.State.Clone() // the fact is shared
	if err != nil {
		return err.Error()
	}
	s.Session, s.Seq = m.s.Session, m.s.Seq
	s.Run.Limits = s.Run.Limits.inForce()
	m.s = *s
	return ""
}

// check says why no sequence of facts can have made the state. run is the id of its newest run. A
// snapshot that was imported may contain anything.
func (s *State) check(run string) string {
	r, closed := s.Run, s.Messages
	acting := r.Stage == StageActing
	if acting && len(closed) > 0 {
		closed = closed[:len(closed)-1] // without the reply whose calls are open
	}
	switch {
	case r.ID == "" || r.ID != run:
		return "its run isn't the one that it names"
	case !slices.Contains([]Status{Running, Paused, Completed, Stopped, Failed}, r.Status) || acting && !r.IsOpen():
		return fmt.Sprintf("status %q doesn't fit stage %q", r.Status, r.Stage)
	case !slices.Contains([]Stage{StageReady, StageCalling, StageActing, StageReplied, StageFailed}, r.Stage):
		return fmt.Sprintf("there is no stage %q", r.Stage)
	case checkHead(s.Title, listedLabels(s.Labels, s.OwnLabels), s.Owner, s.Parent, r.Ancestors) != "":
		return checkHead(s.Title, listedLabels(s.Labels, s.OwnLabels), s.Owner, s.Parent, r.Ancestors)
	case s.checkOwn() != "":
		return s.checkOwn()
	case r.Code == CodeQueued && (r.Queue == nil || r.Status != Paused):
		return "its run is queued, and doesn't say since when"
	case r.First < 0 || r.First >= len(s.Messages) || !isWellFormed(closed):
		return "its conversation isn't well formed"
	case checkOutside(s.Outside, len(s.Messages)) != "":
		return checkOutside(s.Outside, len(s.Messages))
	case r.ContextReset != nil && (r.ContextReset.Index < 1 || r.ContextReset.Prompt < 0):
		return "its place in a chain of runs is wrong"
	case r.Closed != r.closed():
		return "it miscounts the calls that have their results"
	case !acting && len(r.Calls) > 0 || acting &&
		!slices.ContainsFunc(r.Calls, func(c CallState) bool { return c.Status != CallDone }):
		return "its calls don't fit its stage"
	}
	if !acting {
		return ""
	}
	made := s.Messages[len(s.Messages)-1].Calls()
	if len(made) != len(r.Calls) {
		return "its calls aren't those of the newest reply"
	}
	for i := range r.Calls {
		if made[i] == nil || made[i].ID != CallID(r.ID, r.Step, i) || !r.Calls[i].isValid(made[i]) {
			return fmt.Sprintf("call %d isn't the model's, or its status doesn't fit", i)
		}
	}
	return ""
}

// closed counts the calls of the newest reply that have their results.
func (r *RunState) closed() (n int) {
	for i := range r.Calls {
		if r.Calls[i].Status == CallDone {
			n++
		}
	}
	return n
}

// isValid reports whether a call that the model made can be in this state.
func (c *CallState) isValid(made *provider.ToolCall) bool {
	if c.Call == nil || !c.matches(made) {
		return false
	}
	switch c.Status {
	case CallOpen, CallApproved, CallDecided:
		return true
	case CallStarted:
		return c.Started
	case CallSuspended:
		return c.Pause != nil && c.Pause.ID != "" && c.matches(&c.Pause.Call)
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
