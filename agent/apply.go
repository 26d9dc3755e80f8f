package agent

import (
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A FactError is a fact that can't have happened after those before it: a mistake of the driver, or a journal that isn't
// what was written.
type FactError struct {
	Session string
	Seq     uint64
	Kind    string
	Problem string
}

// Error says which fact it is and why it doesn't fit.
func (e *FactError) Error() string {
	return fmt.Sprintf("agent: session %q: fact %d (%s) doesn't fit: %s", e.Session, e.Seq, e.Kind, e.Problem)
}

// Apply folds a fact into the state. A fact that can't follow those before it is a *[FactError], and changes nothing.
func (m *Machine) Apply(f Fact) error {
	if f == nil {
		return &FactError{Session: m.s.Session, Problem: "it is nil"}
	}
	meta := f.Envelope()
	bad := func(format string, args ...any) error {
		return &FactError{Session: m.s.Session, Seq: meta.Seq, Kind: f.kind(), Problem: fmt.Sprintf(format, args...)}
	}
	if meta.Origin == nil {
		return bad("it names no run")
	}
	if meta.Seq != m.s.Seq+1 {
		return bad("its number should be %d", m.s.Seq+1)
	}
	r := m.s.Run
	if start, ok := f.(RunStarted); ok {
		if r.open() {
			return bad("run %s hasn't ended", r.ID)
		}
		m.start(&start)
		m.s.Seq = meta.Seq
		return nil
	}
	if !r.open() {
		return bad("no run is open")
	}
	if meta.Run != r.ID {
		return bad("it is of run %s, but %s is open", meta.Run, r.ID)
	}
	var problem string
	switch f := f.(type) {
	case StepStarted:
		problem = m.stepStarted(r, &f)
	case Replied:
		problem = m.replied(r, &f)
	case StepFailed:
		problem = m.stepFailed(r, &f)
	case ToolStarted:
		problem = m.toolStarted(r, &f)
	case ToolFinished:
		problem = m.toolFinished(r, &f)
	case Suspended:
		problem = m.suspended(r, &f)
	case Decided:
		problem = m.decided(r, &f)
	case Steered:
		problem = m.said(r, f.Message)
	case SentBack:
		problem = m.sentBack(r, &f)
	case ModeChanged:
		m.s.Mode = f.To
	case PhaseChanged:
		m.s.Phase, r.PhaseStep = f.To, 0
	case Continued:
		r.Status, r.Code, r.Reason, r.Since = Running, "", "", f.Time
	case RunEnded:
		problem = m.ended(r, &f)
	default:
		problem = "its kind is unknown"
	}
	if problem != "" {
		return bad("%s", problem)
	}
	m.s.Seq = meta.Seq
	return nil
}

func (m *Machine) start(f *RunStarted) {
	m.s.Messages = append(m.s.Messages, f.History...)
	m.s.Mode = f.Mode
	m.s.Phase = ""
	m.s.Run = &RunState{
		ID: f.Run, Trace: f.Trace, Agent: f.Agent, Parent: f.Parent, Status: Running, Stage: stageReady,
		Limits: f.Limits, Choice: f.Choice, Output: f.Output,
		Interactive: f.Interactive, Priority: f.Priority, Task: f.Task,
		First: len(m.s.Messages), Since: f.Time,
	}
	m.s.Messages = append(m.s.Messages, f.Message)
	m.results = 0
}

func (m *Machine) stepStarted(r *RunState, f *StepStarted) string {
	again := r.Stage == stageCalling && f.Step == r.Step
	ready := (r.Stage == stageReady || r.Stage == stageSaid) && f.Step == r.Step+1
	if !again && !ready {
		return fmt.Sprintf("a model call for step %d can't begin at stage %s of step %d", f.Step, r.Stage, r.Step)
	}
	if r.Status != Running {
		return "the run is paused"
	}
	if ready {
		r.Step++
		r.PhaseStep++
	}
	r.Stage, r.Final, r.Model = stageCalling, f.Final, f.Model
	if f.Note != "" && ready {
		m.s.Messages = append(m.s.Messages, provider.User(f.Note))
	}
	return ""
}

func (m *Machine) replied(r *RunState, f *Replied) string {
	if r.Stage != stageCalling || f.Step != r.Step {
		return fmt.Sprintf("no model call of step %d is open", f.Step)
	}
	n, problem := countCalls(f.Message.Parts)
	if problem != "" {
		return problem
	}
	r.book(f.Usage, f.Cost, f.Priced)
	if f.Model != "" {
		r.Model = f.Model
	}
	r.Stop = f.Stop
	if len(f.Message.Parts) > 0 {
		m.s.Messages = append(m.s.Messages, f.Message)
	}
	m.results = 0
	if n == 0 {
		r.Calls, r.Stage = nil, stageSaid
		return ""
	}
	r.Calls, r.Stage = make([]CallState, 0, n), stageActing
	for i := range f.Message.Parts {
		if p := &f.Message.Parts[i]; p.Kind == provider.PartToolCall {
			r.Calls = append(r.Calls, CallState{Call: p.Call, Stand: standOpen})
			r.ToolNames = append(r.ToolNames, p.Call.Name)
		}
	}
	if r.Choice.Mode == provider.ChooseRequired || r.Choice.Mode == provider.ChooseTool {
		r.Choice = provider.Choice{} // a forced choice holds until it was met, or the model could never end
	}
	return ""
}

// countCalls returns how many calls parts have, each with an id of its own.
func countCalls(parts []provider.Part) (n int, problem string) {
	for i := range parts {
		if parts[i].Kind != provider.PartToolCall {
			continue
		}
		c := parts[i].Call
		if c == nil || c.ID == "" {
			return 0, fmt.Sprintf("call %d has no id", n)
		}
		for j := range i {
			if d := parts[j].Call; parts[j].Kind == provider.PartToolCall && d.ID == c.ID {
				return 0, fmt.Sprintf("call %d has the id of another", n)
			}
		}
		n++
	}
	return n, ""
}

func (r *RunState) book(u provider.Usage, cost provider.Money, priced bool) {
	r.Usage = r.Usage.Add(u)
	r.Cost += cost
	if !priced && u.Total() > 0 {
		r.Unpriced = true
	}
}

func (m *Machine) stepFailed(r *RunState, f *StepFailed) string {
	if r.Stage != stageCalling || f.Step != r.Step {
		return fmt.Sprintf("no model call of step %d is open", f.Step)
	}
	if len(f.Partial.Calls()) > 0 {
		return "a partial answer has no calls"
	}
	r.book(f.Usage, 0, false)
	r.Stage, r.Calls = stageBroken, nil
	if len(f.Partial.Parts) > 0 {
		m.s.Messages = append(m.s.Messages, f.Partial)
	}
	return ""
}

func (m *Machine) toolStarted(r *RunState, f *ToolStarted) string {
	c, problem := r.openCall(f.Meta.Call)
	if problem != "" {
		return problem
	}
	if f.Call == nil {
		return "it has no call"
	}
	if c.Stand == standStarted && !c.Repeat && !c.Retry {
		return "the call was started, and may not be started again"
	}
	if c.Stand == standSuspended {
		return "the call waits for a decision"
	}
	c.Stand, c.Started, c.Key, c.Repeat, c.Retry = standStarted, true, f.Key, f.Repeatable, false
	return ""
}

func (m *Machine) toolFinished(r *RunState, f *ToolFinished) string {
	c, problem := r.openCall(f.Meta.Call)
	if problem != "" {
		return problem
	}
	if f.Result == nil || f.Result.CallID != f.Meta.Call {
		return "the result isn't of this call"
	}
	if c.Stand == standSuspended {
		return "the call waits for a decision"
	}
	if f.Result.Status == tools.OK && c.Stand != standStarted {
		return "a call that wasn't started can't have succeeded"
	}
	t, n := r.judgeRepeat(c.Call, f.Result, f.Result.Polls)
	if r.Tools == nil {
		r.Tools = make(map[string]toolState, 4)
	}
	r.Tools[c.Call.Name] = t
	if n > 0 && r.Limits.Repeats > 0 && n >= r.Limits.Repeats {
		r.Stuck = c.Call.Name
	}
	c.Stand, c.Pause, c.Result = standDone, nil, f.Result
	if m.results++; m.results == len(r.Calls) {
		m.closeStep(r)
	}
	return ""
}

// closeStep adds the results of the step to the conversation, in call order.
func (m *Machine) closeStep(r *RunState) {
	parts := make([]provider.Part, len(r.Calls))
	for i := range r.Calls {
		parts[i] = provider.Part{Kind: provider.PartToolResult, Result: &r.Calls[i].Result.ToolResult}
	}
	m.s.Messages = append(m.s.Messages, provider.Message{Role: provider.RoleTool, Parts: parts})
	r.Calls, r.Stage = nil, stageReady
}

func (m *Machine) suspended(r *RunState, f *Suspended) string {
	c, problem := r.openCall(f.Meta.Call)
	if problem != "" {
		return problem
	}
	if c.Stand == standSuspended {
		return "the call is suspended already"
	}
	if f.Pause.ID == "" || f.Pause.Call.ID != f.Meta.Call || slices.Contains(m.s.Used, f.Pause.ID) {
		return "the pause has no id of its own, or isn't of this call"
	}
	p := f.Pause
	c.Stand, c.Pause = standSuspended, &p
	c.Pauses++
	if string(p.Call.Input) != string(c.Call.Input) {
		c.Call = &p.Call // what is asked about is what would run
	}
	return ""
}

func (m *Machine) decided(r *RunState, f *Decided) string {
	i := slices.IndexFunc(r.Calls, func(c CallState) bool {
		return c.Stand == standSuspended && c.Pause.ID == f.Decision.ID
	})
	if i < 0 {
		return "no pause has this id"
	}
	c := &r.Calls[i]
	d := &f.Decision
	m.s.Used = append(m.s.Used, d.ID)
	doubt := c.Pause.Kind == PauseInDoubt
	switch d.Kind {
	case Approved, AlwaysAllow, Edited:
		c.Stand, c.By = standApproved, d.Who
		c.Retry = doubt
		if d.Kind == Edited {
			call := *c.Call
			call.Input, call.Invalid = d.Input, ""
			c.Call, c.Edited = &call, true
		}
		if d.Kind == AlwaysAllow {
			m.s.Rules = append(slices.DeleteFunc(m.s.Rules, func(old Rule) bool { return old.Tool == c.Call.Name }),
				Rule{Tool: c.Call.Name, Schema: c.Pause.Tool, By: d.Who, Since: f.Time})
		}
	default: // its result follows in the same append
		c.Stand = standOpen
		if c.Started {
			c.Stand = standStarted
		}
	}
	c.Pause = nil
	m.resume(r, f)
	return ""
}

// resume opens a paused run again.
func (m *Machine) resume(r *RunState, f Fact) {
	if r.Status == Paused {
		r.Status, r.Code, r.Reason = Running, "", ""
		r.Since = f.Envelope().Time
	}
}

// said adds what a person said to the conversation, between steps.
func (m *Machine) said(r *RunState, msg provider.Message) string {
	if r.Stage != stageReady && r.Stage != stageSaid {
		return "a message can come in only between steps"
	}
	m.s.Messages = append(m.s.Messages, msg)
	r.Stage = stageReady
	return ""
}

func (m *Machine) sentBack(r *RunState, f *SentBack) string {
	if r.Stage != stageSaid {
		return "only a run that is about to finish can be sent back"
	}
	switch f.Why {
	case SendBackOutput:
		r.Corrected++
	default:
		r.SentBack++
	}
	return m.said(r, provider.User(f.Text))
}

func (m *Machine) ended(r *RunState, f *RunEnded) string {
	switch f.Status {
	case Paused:
		if r.Status == Paused {
			return "the run is paused already"
		}
	case Completed, Stopped, Failed:
		if r.Stage == stageActing && m.results < len(r.Calls) {
			return "calls are open"
		}
	default:
		return fmt.Sprintf("status %q ends no run", f.Status)
	}
	if r.Status == Running {
		r.Worked += max(f.Time.Sub(r.Since), 0)
	}
	r.Status, r.Code, r.Reason = f.Status, f.Code, f.Reason
	if f.Status != Paused {
		m.s.Used = nil // the ids of a run that has ended name nothing
	}
	return ""
}

// openCall returns the call with that id if it has no result yet.
func (r *RunState) openCall(id string) (*CallState, string) {
	if r.Stage != stageActing {
		return nil, "no calls are open"
	}
	c := r.callByID(id)
	if c == nil {
		return nil, fmt.Sprintf("the newest reply has no call %q", id)
	}
	if c.Stand == standDone {
		return nil, fmt.Sprintf("call %q has its result", id)
	}
	return c, ""
}
