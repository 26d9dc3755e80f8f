package machine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// A FactError is a fact that can't follow the facts before it. Either the driver has made a
// mistake, or the journal isn't what was written.
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

// Apply folds a fact into the state. If the fact can't follow those before it, Apply returns a
// *[FactError] and changes nothing.
func (m *Machine) Apply(f Fact) error {
	if err := valid(f); err != nil {
		err.Session = m.s.Session
		return err
	}
	meta := f.meta()
	problem := m.checkOrder(f, meta)
	r, steps, cost := m.s.Run, 0, provider.Money(0)
	if r != nil {
		steps, cost = r.Step, r.Cost
	}
	if problem == "" {
		problem = f.apply(m, r)
	}
	if problem != "" {
		return &FactError{Session: m.s.Session, Seq: meta.Seq, Kind: f.kind(), Problem: problem}
	}
	m.s.Seq = meta.Seq
	if r != nil && r == m.s.Run {
		m.s.Totals.add(r, steps, cost)
	}
	if _, emitted := f.(*Emitted); has(f, idle) || emitted && r.Status != Running { // then the host did something
		return nil
	}
	m.s.Run.Last = normalTime(meta.Time)
	return nil
}

// checkOrder says why a fact can't come now, whatever its contents are. It returns "" if it can.
func (m *Machine) checkOrder(f Fact, meta *Meta) string {
	r := m.s.Run
	switch {
	case meta.Run() == "":
		return "it names no run"
	case meta.Session() != m.s.Session:
		return fmt.Sprintf("it is of session %q", meta.Session())
	case meta.Seq != m.s.Seq+1:
		return fmt.Sprintf("its number should be %d", m.s.Seq+1)
	}
	newest := r != nil && meta.Run() == r.ID
	switch f := f.(type) {
	case *RunStarted:
		switch {
		case r.IsOpen():
			return "run " + r.ID + " hasn't ended"
		case newest:
			return "there was a run " + r.ID + " before"
		}
		return ""
	case *Snapshot:
		if r == nil || newest {
			return ""
		}
	case *RunEnded: // queues a run again that has failed
		if newest && r.Status == Failed && f.Status == Paused && f.Code == CodeQueued {
			return ""
		}
	case *Undone: // only between runs
		switch {
		case r.IsOpen():
			return "a run is open"
		case newest:
			return ""
		}
	default:
		if newest && has(f, anytime) {
			return ""
		}
	}
	switch {
	case !r.IsOpen():
		return "no run is open"
	case !newest:
		return fmt.Sprintf("it is of run %s, but %s is open", meta.Run(), r.ID)
	}
	if r.Status == Paused {
		switch f.(type) {
		case *Continued, *Decided, *RunEnded:
		case *StepFailed, *ToolFinished: // a paused run that is to end must close what is open
		default:
			return "the run is paused"
		}
	}
	return ""
}

func (f *ModeChanged) apply(m *Machine, r *RunState) string {
	if m.s.Mode = f.To; f.Limits != nil {
		r.Limits = f.Limits.inForce()
	}
	return ""
}

func (f *PhaseChanged) apply(m *Machine, r *RunState) string {
	m.s.Phase, r.PhaseStep = f.To, 0
	return ""
}

func (f *ContextResetRequested) apply(_ *Machine, r *RunState) string {
	r.ContextResetDue = true
	return ""
}

func (f *ToolsChanged) apply(_ *Machine, r *RunState) string {
	if len(f.Tools) == 0 {
		return "it names no tools"
	}
	r.Fingerprints = ChangeTools(r.Fingerprints, f.Tools)
	return ""
}

func (f *Emitted) apply(m *Machine, _ *RunState) string { // it is for the host alone
	if f.Kind == "" {
		return "it has no kind"
	}
	m.s.addKey(f.Key, f.Run())
	return ""
}

func (f *RunStarted) apply(m *Machine, before *RunState) string {
	if problem := checkMessage(provider.RoleUser, &f.Message); problem != "" {
		return problem
	}
	switch {
	case !isWellFormed(f.History):
		return "its history needs repair"
	case f.Queue != nil && (f.Queue.Attempts < 1 || f.ContextReset != nil):
		return "it is queued for no attempt, or after a context reset"
	case f.Call != nil && (f.Call.ID != CallID(f.Run(), 0, 0) || f.Call.Name == "" || f.ContextReset != nil):
		return "its call has no name, not the id of the run's first call, or comes after a context reset"
	}
	labels := listedLabels(f.Labels(), m.s.OwnLabels)
	if problem := checkHead("", labels, f.Owner, f.ParentSession, f.Ancestors); problem != "" {
		return problem
	}
	if f.Owner != "" && f.Owner != m.s.Owner && m.s.Seq > 0 {
		return "the session doesn't belong to its owner"
	}
	if p := f.ParentSession; p != "" && (p != m.s.Parent && m.s.Seq > 0 || p == m.s.Session) {
		return "the session isn't the work of its parent"
	}
	messages, problem := m.s.rewound(f)
	if problem != "" {
		return problem
	}
	input := f.Message
	if f.ContextReset == nil && f.Replaces == nil {
		input = m.s.marked(input)
	}
	var chain *chainState
	if f.ContextReset != nil {
		if problem := m.checkContextReset(f); problem != "" {
			return problem
		}
		chain = m.s.extendChain(f.ContextReset)
		messages = nil // a new conversation
	} else {
		m.s.Phase = ""
	}
	if chain == nil {
		m.s.keepSpent()
	}
	m.s.Mode, m.s.Model, m.s.Labels = f.Mode, f.Model, f.Labels()
	m.s.Owner, m.s.Parent = cmp.Or(m.s.Owner, f.Owner), cmp.Or(m.s.Parent, f.ParentSession)
	m.s.Totals.Copied = f.From != "" && f.From != m.s.Session
	m.s.addKey(f.Key, f.Run())
	m.s.Messages = append(messages, f.History...)
	switch {
	case f.ContextReset != nil:
		m.s.Outside = nil
	case f.Replaces != nil:
		m.s.Outside = f.Replaces.Outside
	}
	m.s.Run = &RunState{
		ID: f.Run(), Trace: f.Trace(), Agent: f.Agent(), Parent: f.Parent(), Status: Running, Stage: StageReady,
		Limits: f.Limits.inForce(), Own: f.Own, ToolChoice: f.ToolChoice, Output: f.Output,
		Interactive: f.Interactive, Priority: int(f.Priority), Caller: f.Caller, Fingerprints: f.Tools,
		Children: f.Children, Only: f.Only, External: f.External, Start: f.Seq, First: len(m.s.Messages),
		Since: normalTime(f.Time), Ancestors: f.Ancestors,
	}
	if chain != nil {
		m.s.Run.inherit(before, chain)
	}
	if f.Queue != nil {
		// it waits until a worker continues it
		r := m.s.Run
		r.Queue, r.Status, r.Code = &QueueState{Queue: *f.Queue}, Paused, CodeQueued
	}
	m.s.Messages = append(m.s.Messages, input)
	m.s.addOutside(f.Outside)
	if r, call := m.s.Run, f.Call; call != nil { // as if a model had made it
		m.s.Messages = append(m.s.Messages, callMessage(call))
		r.Direct, r.Stage, r.Stop = &DirectRun{Key: f.CallKey}, StageActing, provider.StopToolCalls
		r.Calls, r.ToolNames = []CallState{{Call: call, Status: CallOpen}}, []string{call.Name}
	}
	return ""
}

// callMessage returns the message that makes a call.
func callMessage(call *provider.ToolCall) provider.Message {
	return provider.Message{Role: provider.RoleAssistant,
		Parts: []provider.Part{{Kind: provider.PartToolCall, Call: call}}}
}

func (f *Continued) apply(_ *Machine, r *RunState) string {
	if r.Status == Running { // its process died; it is taken to have worked until its newest fact
		r.Worked += max(r.Last.Sub(r.Since), 0)
	}
	if len(f.Tools) > 0 {
		r.Fingerprints = f.Tools
	}
	r.resume(f.Time)
	return ""
}

// resume sets a run to running, from now on.
func (r *RunState) resume(now time.Time) {
	r.Status, r.Code, r.Reason, r.Limit, r.Problem, r.Since = Running, "", "", "", nil, normalTime(now)
}

// normalTime returns t as a journal gives it back.
func normalTime(t time.Time) time.Time { return t.Round(0).UTC() }

// checkMessage says why a message isn't one of the role with contents, but without calls and
// results.
func checkMessage(role provider.Role, msg *provider.Message) string {
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

// addUserMessage adds a message in the user's role to the conversation, between two steps.
func (m *Machine) addUserMessage(r *RunState, msg *provider.Message) string {
	if r.Stage != StageReady && r.Stage != StageReplied {
		return "a message can come in only between steps"
	}
	if problem := checkMessage(provider.RoleUser, msg); problem != "" {
		return problem
	}
	m.s.Messages = append(m.s.Messages, *msg)
	r.Stage = StageReady
	return ""
}

func (f *Steered) apply(m *Machine, r *RunState) string {
	if problem := m.addUserMessage(r, &f.Message); problem != "" {
		return problem
	}
	m.s.addOutside(f.Outside)
	said := r.UserMessages[max(len(r.UserMessages)-maxUserMessages+1, 0):]
	// a Clone of the machine shares the slice
	r.UserMessages = append(slices.Clip(said), cutBytes(f.Message.Text(), maxUserMessageBytes))
	m.s.addKey(f.Key, f.Run())
	return ""
}

func (f *SentBack) apply(m *Machine, r *RunState) string {
	switch {
	case r.Stage != StageReplied:
		return "only a run that is about to complete can be sent back"
	case f.Text == "":
		return "it doesn't say what is missing"
	case f.Why == SendBackOutput:
		r.Corrected++
	case f.Why == SendBackHook:
		r.countSendBack(f.Hooks)
	default:
		return fmt.Sprintf("%q isn't a reason for sending a run back", f.Why)
	}
	msg := memory.HostMessage(f.Text)
	return m.addUserMessage(r, &msg)
}

// countSendBack counts that hooks have sent the run back.
func (r *RunState) countSendBack(hooks []string) {
	if len(hooks) == 0 {
		r.SentBack++
		return
	}
	by := maps.Clone(r.SentBackBy) // a Clone of the machine shares the map
	if by == nil {
		by = make(map[string]int, len(hooks))
	}
	for _, h := range hooks {
		by[h]++
	}
	r.SentBackBy = by
}

func (f *RunEnded) apply(m *Machine, r *RunState) string {
	switch f.Status {
	case Paused:
		if r.Status == Paused {
			return "the run is paused already"
		}
		if f.Code == CodeQueued {
			if problem := r.requeue(f); problem != "" {
				return problem
			}
		}
	case Completed, Stopped, Failed:
		if r.Stage == StageActing {
			return "calls are open"
		}
	default:
		return fmt.Sprintf("a run can't end with status %q", f.Status)
	}
	if r.Status == Running {
		r.Worked += max(f.Time.Sub(r.Since), 0)
	}
	r.Status, r.Code, r.Reason, r.Limit = f.Status, f.Code, f.Reason, f.Limit
	r.Problem, r.Missing = f.Problem, f.Missing
	m.s.noteEnd(f)
	return ""
}
