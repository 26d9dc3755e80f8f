package machine

import (
	"cmp"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// This file folds in the facts about model calls.

func (f *StepStarted) apply(m *Machine, r *RunState) string {
	again := r.Stage == StageCalling && f.Step == r.Step && f.Final == r.Final
	next := (r.Stage == StageReady || r.Stage == StageReplied && r.Stop == provider.StopPaused) && f.Step == r.Step+1 &&
		r.Final == ""
	switch {
	case again:
		r.Lost++
	case next:
		r.Step++
		r.PhaseStep++
		if f.Note != "" {
			m.s.Messages = append(m.s.Messages, memory.HostMessage(f.Note))
		}
	default:
		return fmt.Sprintf("a model call for step %d can't begin at stage %s of step %d", f.Step, r.Stage, r.Step)
	}
	r.Stage, r.Final, r.Model = StageCalling, f.Final, f.Model
	return ""
}

func (f *Replied) apply(m *Machine, r *RunState) string {
	if r.Stage != StageCalling || f.Step != r.Step {
		return fmt.Sprintf("no model call of step %d is open", f.Step)
	}
	if f.Stop == "" {
		return "it has no stop reason"
	}
	calls, problem := r.checkReply(&f.Message)
	if problem != "" {
		return problem
	}
	r.addUsage(f.Usage, f.Cost, f.Priced)
	r.Model, r.Stop = cmp.Or(f.Model, r.Model), f.Stop
	if calls == 0 && f.Message.Refusal() != "" && (f.Stop == provider.StopDone || f.Stop == provider.StopUnknown) {
		r.Stop = provider.StopFiltered // not every provider says so itself
	}
	if len(f.Message.Parts) > 0 {
		m.s.Messages = append(m.s.Messages, f.Message)
		m.s.addOutside(f.Outside)
	}
	if calls == 0 {
		r.Calls, r.Stage = nil, StageReplied
		return ""
	}
	r.Calls, r.Closed, r.Stage = make([]CallState, 0, calls), 0, StageActing
	for i := range f.Message.Parts {
		if p := &f.Message.Parts[i]; p.Kind == provider.PartToolCall {
			r.Calls = append(r.Calls, CallState{Call: p.Call, Status: CallOpen})
			r.ToolNames = append(r.ToolNames, p.Call.Name)
		}
	}
	if r.ToolChoice.Mode == provider.ChooseRequired || r.ToolChoice.Mode == provider.ChooseTool {
		// a forced choice ends once a call was made; otherwise the run could never end
		r.ToolChoice = provider.ToolChoice{}
	}
	return ""
}

// checkReply returns the number of calls in a reply, or says what is wrong with it. The calls must
// have the ids of [CallID].
func (r *RunState) checkReply(msg *provider.Message) (calls int, problem string) {
	if len(msg.Parts) > 0 && msg.Role != provider.RoleAssistant {
		return 0, fmt.Sprintf("a reply isn't of the role %q", msg.Role)
	}
	var room [64]byte
	for i := range msg.Parts {
		switch p := &msg.Parts[i]; p.Kind {
		case provider.PartToolResult:
			return 0, "a reply has no results"
		case provider.PartToolCall:
			if id := appendCallID(room[:0], r.ID, r.Step, calls); p.Call == nil || p.Call.ID != string(id) {
				return 0, fmt.Sprintf("the id of call %d isn't %s", calls, string(id))
			}
			calls++
		}
	}
	return calls, ""
}

// addUsage counts what a model call took.
func (r *RunState) addUsage(u provider.Usage, cost provider.Money, priced bool) {
	r.Usage = r.Usage.Add(u)
	r.Cost = r.Cost.Add(cost)
	if !priced && u.Total() > 0 {
		r.Unpriced = true
	}
}

// addSpent counts what a call has used.
func (r *RunState) addSpent(s *Spent) {
	r.addUsage(s.Usage, s.Cost, !s.Unpriced)
	r.SubagentCalls += s.Calls
}

func (f *StepFailed) apply(m *Machine, r *RunState) string {
	if r.Stage != StageCalling || f.Step != r.Step {
		return fmt.Sprintf("no model call of step %d is open", f.Step)
	}
	if len(f.Partial.Parts) > 0 {
		if problem := checkMessage(provider.RoleAssistant, &f.Partial); problem != "" {
			return problem
		}
		m.s.Messages = append(m.s.Messages, f.Partial)
	}
	r.addUsage(f.Usage, f.Cost, f.Priced)
	r.Stage, r.Calls, r.Closed, r.Passes = StageFailed, nil, 0, fault.Retryable(f.Class)
	return ""
}
