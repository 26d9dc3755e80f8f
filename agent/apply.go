package agent

import (
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
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
	if err := isFact(f); err != nil {
		err.Session = m.s.Session
		return err
	}
	meta := f.Envelope()
	problem := m.misplaced(f, &meta)
	if problem == "" {
		problem = m.fold(f)
	}
	if problem != "" {
		return &FactError{Session: m.s.Session, Seq: meta.Seq, Kind: f.kind(), Problem: problem}
	}
	m.s.Seq = meta.Seq
	switch f.(type) {
	case Snapshot, Undone, RuleRevoked: // the run did nothing
	default:
		m.s.Run.Last = instant(meta.Time)
	}
	return nil
}

// isFact refuses what only looks like a fact: nil, a pointer to a fact, or a type that embeds one.
func isFact(f Fact) *FactError {
	switch f.(type) {
	case RunStarted, StepStarted, Compacted, NoteWritten, Replied, StepFailed, ToolStarted, ToolFinished, Suspended, Decided, Steered, SentBack,
		ModeChanged, PhaseChanged, ContextResetRequested, Continued, RuleRevoked, Undone, Snapshot, RunEnded:
		return nil
	}
	return &FactError{Kind: fmt.Sprintf("%T", f), Problem: "it is no fact; facts are types of this package, by value"}
}

// misplaced says why a fact can't come now, whatever it holds.
func (m *Machine) misplaced(f Fact, meta *Meta) string {
	r := m.s.Run
	switch {
	case meta.Origin == nil || meta.Run == "":
		return "it names no run"
	case meta.Session != m.s.Session:
		return fmt.Sprintf("it is of session %q", meta.Session)
	case meta.Seq != m.s.Seq+1:
		return fmt.Sprintf("its number should be %d", m.s.Seq+1)
	}
	_, starts := f.(RunStarted)
	switch f.(type) {
	case Snapshot:
		if r == nil || meta.Run == r.ID {
			return ""
		}
	case Compacted: // also between runs
		if r != nil && meta.Run == r.ID {
			return ""
		}
	case RuleRevoked: // at any time: rules outlast runs
		if r != nil && meta.Run == r.ID {
			return ""
		}
	case Undone: // effects outlast runs
		switch {
		case r.open():
			return "a run is open"
		case r != nil && meta.Run == r.ID:
			return ""
		}
	}
	switch {
	case starts && r.open():
		return "run " + r.ID + " hasn't ended"
	case starts && r != nil && meta.Run == r.ID:
		return "there was a run " + r.ID + " before"
	case starts:
		return ""
	case !r.open():
		return "no run is open"
	case meta.Run != r.ID:
		return fmt.Sprintf("it is of run %s, but %s is open", meta.Run, r.ID)
	}
	if r.Status == Paused {
		switch f.(type) {
		case Continued, Decided, RunEnded, ModeChanged, StepFailed, ToolFinished: // the last two close what is open
		default:
			return "the run is paused"
		}
	}
	return ""
}

// fold folds in a fact that isn't misplaced, or says what is wrong with it. It changes nothing then.
func (m *Machine) fold(f Fact) (problem string) {
	r := m.s.Run
	switch f := f.(type) {
	case RunStarted:
		problem = m.start(&f)
	case StepStarted:
		problem = m.stepStarted(r, &f)
	case Compacted:
		problem = m.compacted(r, &f)
	case NoteWritten:
		problem = m.noteWritten(r, &f)
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
		if problem = m.said(r, &f.Message); problem == "" {
			r.keepUserText(f.Message.Text())
		}
	case SentBack:
		problem = m.sentBack(r, &f)
	case ModeChanged:
		if m.s.Mode = f.To; f.Limits != nil {
			r.Limits = f.Limits
		}
	case PhaseChanged:
		m.s.Phase, r.PhaseStep = f.To, 0
	case ContextResetRequested:
		r.ContextResetDue = true
	case Continued:
		if r.Status == Running { // its process died: it had worked up to the last fact, as far as anyone knows
			r.Worked += max(r.Last.Sub(r.Since), 0)
		}
		if len(f.Tools) > 0 {
			r.Fingerprints = f.Tools
		}
		r.run(f.Time)
	case RuleRevoked:
		problem = m.revoked(&f)
	case Undone:
		problem = m.undone(&f)
	case Snapshot:
		problem = m.loaded(&f)
	case RunEnded:
		problem = m.ended(r, &f)
	}
	return problem
}

// run lets a run continue, from now on.
func (r *RunState) run(now time.Time) {
	r.Status, r.Code, r.Reason, r.Since = Running, "", "", instant(now)
}

// instant returns t as a journal gives it back.
func instant(t time.Time) time.Time { return t.Round(0).UTC() }

// fewMessages are those of a run with one step of calls: the input, the calls, their results and the answer.
const fewMessages = 4

func (m *Machine) start(f *RunStarted) string {
	if problem := saidBy(provider.RoleUser, &f.Message); problem != "" {
		return problem
	}
	if !orderly(f.History) {
		return "its history needs repair"
	}
	before := m.s.Run
	var chain *ChainState
	if f.ContextReset != nil {
		if problem := m.takesOver(f); problem != "" {
			return problem
		}
		chain = m.s.chain(f.ContextReset)
		m.s.Messages = nil // the conversation begins anew
	}
	m.s.Messages = append(slices.Grow(m.s.Messages, len(f.History)+fewMessages), f.History...)
	m.s.Mode = f.Mode
	if f.ContextReset == nil {
		m.s.Phase = ""
	}
	m.s.Run = &RunState{
		ID: f.Run, Trace: f.Trace, Agent: f.Agent, Parent: f.Parent, Status: Running, Stage: stageReady,
		Limits: f.Limits.orZero(), Own: f.Own, ToolChoice: f.ToolChoice, Output: f.Output,
		Interactive: f.Interactive, Priority: f.Priority, Task: f.Task, Fingerprints: f.Tools,
		First: len(m.s.Messages), Since: instant(f.Time),
	}
	if f.ContextReset != nil {
		m.s.Run.carry(before, chain)
	}
	m.s.Messages = append(m.s.Messages, f.Message)
	return ""
}

// saidBy says what is wrong with a message that has to be of one role, and to hold neither calls nor results.
func saidBy(role provider.Role, msg *provider.Message) string {
	if msg.Role != role || len(msg.Parts) == 0 {
		return fmt.Sprintf("its message is empty, or not of the role %q", role)
	}
	for i := range msg.Parts {
		if k := msg.Parts[i].Kind; k == provider.PartToolCall || k == provider.PartToolResult {
			return fmt.Sprintf("its message has a %s", k)
		}
	}
	return ""
}

func (m *Machine) stepStarted(r *RunState, f *StepStarted) string {
	again := r.Stage == stageCalling && f.Step == r.Step && f.Final == r.Final
	ready := (r.Stage == stageReady || r.Stage == stageSaid && r.Stop == provider.StopPaused) && f.Step == r.Step+1 && r.Final == ""
	if !again && !ready {
		return fmt.Sprintf("a model call for step %d can't begin at stage %s of step %d", f.Step, r.Stage, r.Step)
	}
	if again {
		r.Lost++
	}
	if ready {
		r.Step++
		r.PhaseStep++
	}
	r.Stage, r.Final, r.Model = stageCalling, f.Final, f.Model
	if f.Note != "" && ready {
		m.s.Messages = append(m.s.Messages, memory.Told(f.Note))
	}
	return ""
}

func (m *Machine) replied(r *RunState, f *Replied) string {
	if r.Stage != stageCalling || f.Step != r.Step {
		return fmt.Sprintf("no model call of step %d is open", f.Step)
	}
	if f.Stop == "" {
		return "it has no stop reason"
	}
	n, problem := r.countCalls(&f.Message)
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
	if n == 0 {
		r.Calls, r.Stage = nil, stageSaid
		return ""
	}
	r.Calls, m.calls, r.Stage = slices.Grow(m.calls, n), nil, stageActing
	for i := range f.Message.Parts {
		if p := &f.Message.Parts[i]; p.Kind == provider.PartToolCall {
			r.Calls = append(r.Calls, CallState{Call: p.Call, Status: callOpen})
			r.ToolNames = append(r.ToolNames, p.Call.Name)
		}
	}
	if r.ToolChoice.Mode == provider.ChooseRequired || r.ToolChoice.Mode == provider.ChooseTool {
		r.ToolChoice = provider.ToolChoice{} // a forced choice holds until it was met, or the model could never end
	}
	return ""
}

// countCalls returns how many calls a reply has. Each is named by where it stands, so that no other has its name.
func (r *RunState) countCalls(msg *provider.Message) (n int, problem string) {
	if len(msg.Parts) > 0 && msg.Role != provider.RoleAssistant {
		return 0, fmt.Sprintf("a reply isn't of the role %q", msg.Role)
	}
	for i := range msg.Parts {
		switch p := &msg.Parts[i]; p.Kind {
		case provider.PartToolResult:
			return 0, "a reply has no results"
		case provider.PartToolCall:
			if p.Call == nil || !isCallID(p.Call.ID, r.ID, r.Step, n) {
				return 0, fmt.Sprintf("call %d isn't named %s", n, callID(r.ID, r.Step, n))
			}
			n++
		}
	}
	return n, ""
}

func (r *RunState) book(u provider.Usage, cost provider.Money, priced bool) {
	r.Usage = r.Usage.Add(u)
	r.Cost = r.Cost.Add(cost)
	if !priced && u.Total() > 0 {
		r.Unpriced = true
	}
}

func (m *Machine) stepFailed(r *RunState, f *StepFailed) string {
	if r.Stage != stageCalling || f.Step != r.Step {
		return fmt.Sprintf("no model call of step %d is open", f.Step)
	}
	if len(f.Partial.Parts) > 0 {
		if problem := saidBy(provider.RoleAssistant, &f.Partial); problem != "" {
			return problem
		}
	}
	r.book(f.Usage, f.Cost, f.Priced)
	r.Stage, r.Calls = stageBroken, nil
	if len(f.Partial.Parts) > 0 {
		m.s.Messages = append(m.s.Messages, f.Partial)
	}
	return ""
}

// said adds what the model is told to the conversation, between steps.
func (m *Machine) said(r *RunState, msg *provider.Message) string {
	if r.Stage != stageReady && r.Stage != stageSaid {
		return "a message can come in only between steps"
	}
	if problem := saidBy(provider.RoleUser, msg); problem != "" {
		return problem
	}
	m.s.Messages = append(m.s.Messages, *msg)
	r.Stage = stageReady
	return ""
}

func (m *Machine) sentBack(r *RunState, f *SentBack) string {
	switch {
	case r.Stage != stageSaid:
		return "only a run that is about to finish can be sent back"
	case f.Text == "":
		return "it doesn't say what is missing"
	case f.Why == SendBackOutput:
		r.Corrected++
	case f.Why == SendBackHook:
		r.SentBack++
	default:
		return fmt.Sprintf("%q is no reason to be sent back", f.Why)
	}
	msg := memory.Told(f.Text)
	return m.said(r, &msg)
}

func (m *Machine) ended(r *RunState, f *RunEnded) string {
	switch f.Status {
	case Paused:
		if r.Status == Paused {
			return "the run is paused already"
		}
	case Completed, Stopped, Failed:
		if r.Stage == stageActing {
			return "calls are open"
		}
	default:
		return fmt.Sprintf("status %q ends no run", f.Status)
	}
	if r.Status == Running {
		r.Worked += max(f.Time.Sub(r.Since), 0)
	}
	r.Status, r.Code, r.Reason = f.Status, f.Code, f.Reason
	return ""
}
