package machine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A sim drives a machine at random, but legally. It does what Next says, with any possible outcome,
// and now and then what a host, a person or a crash would do.
type sim struct {
	t      *testing.T
	rng    *rand.Rand
	m      *machine.Machine
	facts  []machine.Fact
	origin *machine.Origin
	now    time.Time
	runs   int
	// inputs is the conversation before the inputs of the runs that can be replaced, by the numbers
	// of the facts that started them; replaced are the numbers of those that were.
	inputs   map[uint64][]provider.Message
	replaced []uint64
	before   func(f machine.Fact) // called before a fact is applied
	after    func(f machine.Fact) // and after
}

func newSim(t *testing.T, seed uint64) *sim {
	return &sim{t: t, rng: rand.New(rand.NewPCG(seed, 1)), m: machine.New("s-1"),
		inputs: make(map[uint64][]provider.Message),
		now:    time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (s *sim) one(in int) bool { return s.rng.IntN(in) == 0 }

func pick[T any](s *sim, from ...T) T { return from[s.rng.IntN(len(from))] }

// meta returns the envelope of the next fact.
func (s *sim) meta(call string) machine.Meta {
	s.now = s.now.Add(time.Duration(s.rng.Int64N(int64(time.Second))))
	return machine.Meta{Origin: s.origin, Seq: s.m.State().Seq + 1, Time: s.now, V: machine.Version, Step: stepOf(s.m),
		Call: call}
}

func (s *sim) apply(f machine.Fact) {
	s.t.Helper()
	if s.before != nil {
		s.before(f)
	}
	require.NoError(s.t, s.m.Apply(f))
	s.facts = append(s.facts, f)
	if s.after != nil {
		s.after(f)
	}
}

// text returns some text, sometimes one that JSON must escape.
func (s *sim) text() string {
	return pick(s, "yes", "a <b> & c", "line\nbreak \"quoted\" \\", "\u2028 separators \u2029", "äöü 🙂",
		"\x01 control") + fmt.Sprint(s.rng.IntN(4))
}

// named returns a fact that gives the session another title, or adds or removes a label.
func (s *sim) named(text string) machine.Fact {
	switch len(s.facts) % 4 {
	case 0:
		return &machine.LabelChanged{Meta: s.meta(""), Key: "a & b", Value: text}
	case 1:
		return &machine.LabelChanged{Meta: s.meta(""), Key: "a & b"}
	}
	return &machine.TitleChanged{Meta: s.meta(""), Title: text}
}

// step lets one thing happen, which may be more than one fact.
func (s *sim) step() {
	r := s.m.State().Run
	switch {
	case len(s.m.State().Rules) > 0 && s.one(10):
		s.apply(&machine.RuleRevoked{Meta: s.meta(""), Tool: s.m.State().Rules[0].Tool})
	case r != nil && s.one(40):
		state, err := machine.CloneState(s.m.State())
		if err != nil {
			panic(err)
		}
		s.apply(&machine.Snapshot{Meta: s.meta(""), State: state})
	case r != nil && s.one(30):
		s.apply(s.named(pick(s, "a <title>", "another")))
	case r != nil && s.one(25):
		s.compact()
	case r != nil && !r.IsOpen() && s.one(10):
		s.apply(&machine.Undone{Meta: s.meta(""),
			Calls:   []machine.UndoneCall{{Call: &provider.ToolCall{ID: s.text() + "c", Name: "a"}}},
			Message: provider.User("undone")})
	case len(s.m.State().Ends) > 0 && s.one(5):
		s.apply(&machine.Delivered{Meta: s.meta(""), Ended: pick(s, s.m.State().Ends...).Run})
	case r != nil && r.Status == machine.Failed && r.WhyNotRequeued() == "" && s.one(2):
		s.requeue()
	case !r.IsOpen():
		s.begin(s.one(6), s.one(5))
	case r.Status == machine.Paused:
		s.paused()
	case s.one(40): // a crash, after which the run is resumed
		s.apply(&machine.Continued{Meta: s.meta("")})
	case s.one(40):
		s.apply(&machine.ModeChanged{Meta: s.meta(""), From: s.m.State().Mode, To: s.text(), Reason: s.text()})
	case s.one(40):
		s.apply(&machine.PhaseChanged{Meta: s.meta(""), From: s.m.State().Phase, To: s.text()})
	case s.one(40):
		s.apply(&machine.ToolsChanged{Meta: s.meta(""),
			Tools: []machine.ToolFingerprint{{Name: pick(s, "a", "b"), Schema: s.text(), Lazy: s.one(2),
				Gone: s.one(2)}}})
	case s.one(40):
		s.apply(&machine.Emitted{Meta: s.meta(""), Kind: s.text(), Value: json.RawMessage(`{"n":1}`)})
	case s.one(40):
		s.apply(&machine.ContextResetRequested{Meta: s.meta("")})
	case s.one(60) && r.Stage != machine.StageCalling:
		s.apply(&machine.RunEnded{Meta: s.meta(""), Status: machine.Paused, Code: machine.CodeHost})
	case s.one(40):
		s.note(s.text())
	case s.one(30) && r.Stage == machine.StageReady:
		s.resetContext()
	case s.one(80):
		s.abort(machine.Stopped, machine.CodeCanceled)
	case s.one(10) && s.reopen(): // a decision that was posted doesn't fit
	case s.one(20) && (r.Stage == machine.StageReady || r.Stage == machine.StageReplied):
		s.apply(&machine.Steered{Meta: s.meta(""), ID: s.text(), Message: provider.User(s.text())})
	default:
		s.act(s.m.Next())
	}
}

func (s *sim) start() { s.begin(false, false) }

// begin starts a run, or one that makes a call without a model, or queues it.
func (s *sim) begin(direct, queued bool) {
	s.runs++
	s.origin = &machine.Origin{Session: s.m.State().Session, Run: fmt.Sprintf("r-%d", s.runs), Agent: "sim",
		Trace: s.text(), Labels: pick(s, "", provider.LabelsOf(map[string]string{"user": "ann"}))}
	f := &machine.RunStarted{Meta: s.meta(""), Message: provider.User(s.text()), Mode: pick(s, "", "plan"),
		Interactive: s.one(2), Priority: int32(s.rng.IntN(99)),
		Caller: machine.Caller{User: s.text(), Task: s.text()}, Key: pick(s, "", "a", "b")}
	f.Limits = new(machine.Limits{Steps: s.rng.IntN(8) - 1, StepsPerPhase: pick(s, -1, 3),
		Tokens: pick(s, int64(-1), 200), Cost: pick(s, provider.Money(-1), 150),
		Repeats: pick(s, -1, 2, 3)}.WithDefaults())
	f.ToolChoice = provider.ToolChoice{Mode: pick(s, provider.ChooseAuto, provider.ChooseRequired)}
	if queued {
		f.Queue = &machine.Queue{At: s.now.Add(time.Second), Attempts: 1 + s.rng.IntN(3)}
	}
	if direct {
		f.Message = memory.HostMessage(s.text())
		f.Call = &provider.ToolCall{ID: machine.CallID(s.origin.Run, 0, 0), Name: pick(s, "look", "write"),
			Input: json.RawMessage(`{"n":1}`)}
	}
	if s.runs == 1 && s.one(2) {
		f.History = []provider.Message{provider.User("before"), provider.Assistant("indeed")}
	}
	if len(s.inputs) > 0 && s.one(3) {
		s.replace(f)
		return
	}
	s.apply(f)
	s.inputs[f.Seq] = nonNil(s.m.State().Messages[:s.m.State().Run.First])
}

// replace applies a fact that starts a run, as one that replaces any earlier run.
func (s *sim) replace(f *machine.RunStarted) {
	start := pick(s, slices.Sorted(maps.Keys(s.inputs))...)
	w, problem, err := machine.NewRewind("s-1", s.facts, start)
	require.NoError(s.t, err)
	require.Empty(s.t, problem)
	f.Replaces = &machine.Replaced{Start: start, Before: w.Before,
		Note: w.Note(s.facts, func(tool string) bool { return tool == "look" })}
	want := slices.Clone(s.inputs[start])
	for seq := range s.inputs {
		if seq < start {
			continue
		}
		delete(s.inputs, seq)
		s.replaced = append(s.replaced, seq)
	}
	s.inputs[f.Seq] = slices.Clone(want)
	if note := f.Replaces.Note; note != "" {
		want = append(want, message(provider.RoleUser, memory.ToldBefore(note)))
	}
	s.apply(f)
	require.Equal(s.t, want, nonNil(s.m.State().Messages[:s.m.State().Run.First]))
}

// requeue queues a run again that has failed.
func (s *sim) requeue() {
	s.apply(&machine.RunEnded{Meta: s.meta(""), Status: machine.Paused, Code: machine.CodeQueued, Reason: s.text(),
		At: s.now.Add(time.Minute)})
}

// nonNil returns an empty slice instead of nil.
func nonNil(m []provider.Message) []provider.Message { return append([]provider.Message{}, m...) }

// compact leaves out, replaces and keeps groups at random.
func (s *sim) compact() {
	messages := s.m.State().Messages
	f := &machine.Compacted{Meta: s.meta(""), Report: &memory.Report{Trigger: s.text()},
		Usage: provider.Usage{Input: s.rng.Int64N(9)}, Cost: provider.Money(s.rng.IntN(5))}
	for from := 0; from < len(messages); {
		to := from + 1
		for to < len(messages) && messages[to].Role == provider.RoleTool {
			to++
		}
		switch {
		case from == s.m.State().Run.First && to < len(messages) && s.one(4): // cut
			f.Spans = append(f.Spans,
				machine.Span{From: from, To: to, Messages: []provider.Message{provider.User(s.text())}})
		case to == len(messages) || from == s.m.State().Run.First || s.one(2): // the last group may be an open step
			f.Spans = append(f.Spans, machine.Span{From: from, To: to})
		case s.one(3):
			f.Spans = append(f.Spans, machine.Span{From: from, To: to,
				Messages: []provider.Message{provider.User(s.text()), provider.Assistant(s.text())}[:1+s.rng.IntN(2)]})
		case s.one(4):
			f.Spans = append(f.Spans,
				machine.Span{From: from, To: from, Messages: []provider.Message{provider.User(s.text())}})
		}
		from = to
	}
	s.apply(f)
}

func (s *sim) note(category string) {
	s.apply(&machine.NoteWritten{Meta: s.meta(""), Category: category, Index: s.m.State().Note(category).Index + 1,
		Share: s.rng.Float64(), Note: json.RawMessage(`{"done":[]}`),
		Usage: provider.Usage{Input: s.rng.Int64N(9)}, Cost: 1, Priced: s.one(2)})
}

// resetContext starts a run that continues the work of the one that is open.
func (s *sim) resetContext() {
	r := s.m.State().Run
	s.note(machine.ContextResetCategory)
	s.apply(&machine.RunEnded{Meta: s.meta(""), Status: machine.Stopped, Code: machine.CodeContextReset})
	s.runs++
	s.origin = &machine.Origin{Session: s.m.State().Session, Run: fmt.Sprintf("r-%d", s.runs), Agent: "sim"}
	f := &machine.RunStarted{Meta: s.meta(""), Message: provider.User(s.text()), Mode: s.m.State().Mode,
		Limits: r.Limits, ToolChoice: r.ToolChoice,
		ContextReset: &machine.ContextResetState{Index: r.ContextResets() + 1, From: r.ID, Prompt: s.rng.IntN(2)}}
	f.Meta.Step = 0
	s.apply(f)
	require.Len(s.t, s.m.State().Messages, 1)
	require.GreaterOrEqual(s.t, s.m.State().Run.Usage.Total(), r.Usage.Total())
	require.Equal(s.t, r.Step, s.m.State().Run.Step)
}

// paused resumes a paused run, decides on one of its pauses, or ends it.
func (s *sim) paused() {
	r := s.m.State().Run
	pending := r.Pending()
	switch {
	case s.one(6) && s.reopen():
	case len(pending) > 0 && !s.one(8):
		s.decide(pending[s.rng.IntN(len(pending))])
	case s.one(3):
		s.abort(machine.Stopped, machine.CodeSuperseded)
	default:
		s.apply(&machine.Continued{Meta: s.meta("")})
	}
}

// decide takes any decision that fits a pause.
func (s *sim) decide(p machine.Pause) {
	kinds := []machine.DecisionKind{machine.Rejected, machine.Suggested, machine.Expired, machine.Superseded}
	switch p.Kind {
	case machine.PauseApproval:
		kinds = append(kinds, machine.Approved, machine.Edited, machine.AlwaysAllow)
	case machine.PauseInDoubt:
		kinds = append(kinds, machine.Approved, machine.AnswerGiven)
	case machine.PauseCorrection:
		kinds = append(kinds, machine.Edited)
	default:
		kinds = append(kinds, machine.AnswerGiven)
	}
	d := machine.Decision{ID: p.ID, Kind: pick(s, kinds...), Reason: s.text(), User: s.text()}
	switch d.Kind {
	case machine.Edited:
		d.Input = json.RawMessage(`{"n":99}`)
	case machine.AnswerGiven:
		d.Value = json.RawMessage(`"it did"`)
	}
	if len(p.Path) > 0 { // its call runs again with it
		s.apply(&machine.Decided{Meta: s.meta(p.Path[0]), Decision: d})
		return
	}
	s.apply(&machine.Decided{Meta: s.meta(p.Call.ID), Decision: d})
	switch d.Kind {
	case machine.AnswerGiven:
		if !p.Again {
			s.finish(p.Call.ID, tools.Answered)
		}
	case machine.Rejected, machine.Suggested, machine.Expired, machine.Superseded:
		s.finish(p.Call.ID, tools.Rejected)
	}
}

// act does what Next says.
func (s *sim) act(a machine.Action) {
	r := s.m.State().Run
	switch a.Kind {
	case machine.ActCallModel:
		if !a.Again {
			f := &machine.StepStarted{Meta: s.meta(""), Model: "m", Final: a.Final}
			if f.Step = r.Step + 1; a.Final != "" {
				f.Note = s.text()
			}
			s.apply(f)
			return
		}
		s.reply()
	case machine.ActRunCalls:
		c := &r.Calls[pick(s, a.Calls...)]
		switch {
		case s.one(3) && c.Status == machine.CallOpen:
			s.suspend(c, pick(s, machine.PauseApproval, machine.PauseCorrection))
		case s.one(5):
			s.finish(c.Call.ID, pick(s, tools.Invalid, tools.Unknown, tools.Denied, tools.Unavailable))
		default:
			s.started(c)
		}
	case machine.ActDoubt:
		c := &r.Calls[pick(s, a.Calls...)]
		switch {
		case s.one(3) && c.Repeat:
			s.suspend(c, machine.PauseAgent)
		case s.one(4):
			s.suspend(c, pick(s, machine.PauseInDoubt, "question"))
		case s.one(4) && c.Repeat:
			s.started(c)
		case s.one(4) && (!r.Stop.RunsCalls() || r.Final != ""):
			s.finish(c.Call.ID, tools.InDoubt)
		default:
			s.finish(c.Call.ID, pick(s, tools.OK, tools.OK, tools.Failed, tools.TimedOut, tools.Unverified,
				tools.Canceled, tools.InDoubt))
		}
	case machine.ActSettle:
		s.finish(r.Calls[pick(s, a.Calls...)].Call.ID, tools.NotRun)
	case machine.ActWait:
		s.apply(&machine.RunEnded{Meta: s.meta(""), Status: a.Status})
	case machine.ActFinish:
		if r.WhyNotRequeued() == "" && s.one(2) {
			s.requeue()
			return
		}
		if a.Status == machine.Completed && r.Direct == nil && s.one(3) {
			s.apply(&machine.SentBack{Meta: s.meta(""), Why: pick(s, machine.SendBackHook, machine.SendBackOutput),
				Text: s.text()})
			return
		}
		f := &machine.RunEnded{Meta: s.meta(""), Status: a.Status, Code: a.Code}
		if a.Err != nil {
			f.Reason = a.Err.Error()
		}
		s.apply(f)
	default:
		require.Fail(s.t, "a running run has nothing to do")
	}
}

// reply ends the model call under way, or starts it again.
func (s *sim) reply() {
	r := s.m.State().Run
	usage := provider.Usage{Input: s.rng.Int64N(100), Output: s.rng.Int64N(20), Raw: `{"in":1}`}
	if s.one(8) {
		f := &machine.StepFailed{Meta: s.meta(""), Usage: usage, Class: fault.Degraded, Error: s.text()}
		if s.one(2) {
			f.Partial = provider.Assistant(s.text())
		}
		s.apply(f)
		return
	}
	if s.one(10) {
		s.apply(&machine.StepStarted{Meta: s.meta(""), Model: "m", Final: r.Final})
		return
	}
	f := &machine.Replied{Meta: s.meta(""), Usage: usage, Cost: provider.Money(s.rng.IntN(100)), Priced: s.one(2),
		Model: "m-1"}
	f.Stop = pick(s, provider.StopDone, provider.StopToolCalls, provider.StopToolCalls, provider.StopToolCalls,
		provider.StopLength, provider.StopFiltered,
		provider.StopPaused, provider.StopError, provider.StopUnknown)
	f.Message.Role = provider.RoleAssistant
	if s.one(3) {
		f.Message.Parts = append(f.Message.Parts, provider.Part{Kind: provider.PartReasoning, Text: s.text(),
			Opaque: &provider.Opaque{Provider: "p", Data: s.text()}})
	}
	if s.one(2) {
		f.Message.Parts = append(f.Message.Parts, provider.TextPart(s.text()))
	}
	for n := range s.rng.IntN(6) {
		call := &provider.ToolCall{ID: machine.CallID(r.ID, r.Step, n), ProviderID: pick(s, "", "same"),
			Name: pick(s, "look", "write", "poll")}
		switch s.rng.IntN(4) {
		case 0:
			call.Invalid = `{"n":`
		case 1:
		default:
			call.Input = json.RawMessage(fmt.Sprintf(`{"n":%d,"big":12345678901234567890123,"html":"<&>"}`,
				s.rng.IntN(2)))
		}
		f.Message.Parts = append(f.Message.Parts, provider.Part{Kind: provider.PartToolCall, Call: call})
	}
	s.apply(f)
}

func (s *sim) started(c *machine.CallState) {
	call := *c.Call
	if call.Invalid != "" || s.one(4) { // a hook changed the input
		call.Input, call.Invalid = json.RawMessage(`{"n":7}`), ""
	}
	// a call that owns work may always be started again
	s.apply(&machine.ToolStarted{Meta: s.meta(call.ID), Call: &call, IdempotencyKey: call.ID,
		Repeatable: s.one(3) || machine.Waits(c), ReadOnly: call.Name == "look"})
}

func (s *sim) suspend(c *machine.CallState, kind machine.PauseKind) {
	p := machine.Pause{Kind: kind, Call: *c.Call, Title: "Do " + c.Call.Name, Reason: s.text(), Always: true,
		Fingerprint: "schema-1"}
	if s.one(2) {
		p.Schema, p.Expires = json.RawMessage(`{"type":"string"}`), s.now.Add(time.Hour)
	}
	p.ID = machine.PauseID(s.m.State().Session, &p.Call, kind, c.Pauses, "")
	if kind == machine.PauseAgent && machine.Waits(c) { // the agent has acted on one decision, the others are open
		p.Nested = slices.DeleteFunc(slices.Clone(c.Pause.Nested), func(n machine.Pause) bool {
			return slices.Contains(s.m.State().Used, n.ID)
		})
	}
	for i := 0; kind == machine.PauseAgent && i < 2; i++ {
		n := machine.Pause{ID: fmt.Sprintf("%s.%d", p.ID, i), Kind: machine.PauseApproval, Title: "Do it",
			Reason: s.text()}
		n.Call = provider.ToolCall{ID: machine.CallID("r-child", 1, i), Name: "write",
			Input: json.RawMessage(`{"n":1}`)}
		p.Nested = append(p.Nested, n)
	}
	f := &machine.Suspended{Meta: s.meta(c.Call.ID)}
	if p.Again = kind == "question" && s.one(2); p.Again && s.one(2) {
		f.State = json.RawMessage(`{"draft":[1,"<b>"]}`)
	}
	f.Pause = p
	s.apply(f)
}

func (s *sim) finish(id string, status tools.Status) {
	c := s.m.State().Run.Call(id)
	call := *c.Call
	res := &machine.ToolResult{Status: status, Polls: call.Name == "poll", Class: fault.None,
		Outside: len(s.facts)%3 == 0}
	res.ToolResult = provider.ToolResult{CallID: id, Name: call.Name,
		Parts: []provider.Part{provider.TextPart(s.text())}, Error: !status.Good()}
	if s.one(3) {
		res.Data = json.RawMessage(`{"rows":[1,2.50]}`)
	}
	if s.one(5) {
		addNote(res, "Note: mind the gap")
	}
	s.apply(&machine.ToolFinished{Meta: s.meta(id), Call: &call, Result: res, Took: time.Millisecond})
}

// abort ends a run in any stage. Open calls get their results first.
func (s *sim) abort(status machine.Status, code string) {
	r := s.m.State().Run
	if r.Stage == machine.StageCalling && s.one(2) {
		s.apply(&machine.StepFailed{Meta: s.meta(""), Error: "the run ended"})
	}
	for r.Stage == machine.StageActing {
		for i := range r.Calls {
			switch c := &r.Calls[i]; c.Status {
			case machine.CallDone:
				continue
			case machine.CallSuspended:
				s.apply(&machine.Decided{Meta: s.meta(c.Call.ID),
					Decision: machine.Decision{ID: c.Pause.ID, Kind: machine.Superseded}})
				s.finish(c.Call.ID, tools.Rejected)
			case machine.CallStarted:
				s.finish(c.Call.ID, tools.InDoubt)
			default:
				s.finish(c.Call.ID, tools.NotRun)
			}
			break
		}
	}
	s.apply(&machine.RunEnded{Meta: s.meta(""), Status: status, Code: code})
}

// stateJSON returns the state as JSON, for comparisons.
func stateJSON(t *testing.T, m *machine.Machine) string {
	t.Helper()
	data, err := json.Marshal(m.State())
	require.NoError(t, err)
	return string(data)
}

// stepOf returns the step that the next fact belongs to.
func stepOf(m *machine.Machine) int {
	if r := m.State().Run; r != nil {
		return r.Step
	}
	return 0
}

// addNote adds a text to a result, as an agent does.
func addNote(res *machine.ToolResult, text string) {
	res.Parts = append(res.Parts, provider.TextPart(text))
	res.Notes++
}
