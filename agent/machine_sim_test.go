package agent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A sim drives a machine at random, but legally: it does what Next says, lets anything come of it that may, and now and
// then does what a host, a person or a crash would do.
type sim struct {
	t      *testing.T
	rng    *rand.Rand
	m      *Machine
	facts  []Fact
	origin *Origin
	now    time.Time
	runs   int
	before func(f Fact) // called before a fact is applied
	after  func(f Fact) // and after
}

func newSim(t *testing.T, seed uint64) *sim {
	return &sim{t: t, rng: rand.New(rand.NewPCG(seed, 1)), m: NewMachine("s-1"), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func (s *sim) one(in int) bool { return s.rng.IntN(in) == 0 }

func pick[T any](s *sim, from ...T) T { return from[s.rng.IntN(len(from))] }

// meta returns the envelope of the next fact.
func (s *sim) meta(call string) Meta {
	s.now = s.now.Add(time.Duration(s.rng.Int64N(int64(time.Second))))
	return Meta{Origin: s.origin, Seq: s.m.s.Seq + 1, Time: s.now, V: factVersion, Step: s.m.stepNumber(), Call: call}
}

func (s *sim) apply(f Fact) {
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

// text returns some text, also such that JSON has to escape.
func (s *sim) text() string {
	return pick(s, "yes", "a <b> & c", "line\nbreak \"quoted\" \\", "\u2028 separators \u2029", "äöü 🙂", "\x01 control") + fmt.Sprint(s.rng.IntN(4))
}

// step lets one thing happen, which may be more than one fact.
func (s *sim) step() {
	r := s.m.s.Run
	switch {
	case len(s.m.s.Rules) > 0 && s.one(10):
		s.apply(RuleRevoked{Meta: s.meta(""), Tool: s.m.s.Rules[0].Tool})
	case r != nil && s.one(40):
		state, err := s.m.s.clone()
		if err != nil {
			panic(err)
		}
		s.apply(Snapshot{Meta: s.meta(""), State: state})
	case r != nil && s.one(25):
		s.compact()
	case r != nil && !r.open() && s.one(10):
		s.apply(Undone{Meta: s.meta(""), Calls: []UndoneCall{{Call: &provider.ToolCall{ID: s.text() + "c", Name: "a"}}}, Message: provider.User("undone")})
	case !r.open():
		s.start()
	case r.Status == Paused:
		s.paused()
	case s.one(40): // a crash, and somebody continues
		s.apply(Continued{Meta: s.meta("")})
	case s.one(40):
		s.apply(ModeChanged{Meta: s.meta(""), From: s.m.s.Mode, To: s.text(), Reason: s.text()})
	case s.one(40):
		s.apply(PhaseChanged{Meta: s.meta(""), From: s.m.s.Phase, To: s.text()})
	case s.one(40):
		s.apply(ContextResetRequested{Meta: s.meta("")})
	case s.one(60) && r.Stage != stageCalling:
		s.apply(RunEnded{Meta: s.meta(""), Status: Paused, Code: CodeHost})
	case s.one(40):
		s.note(s.text())
	case s.one(30) && r.Stage == stageReady:
		s.resetContext()
	case s.one(80):
		s.abort(Stopped, CodeCanceled)
	case s.one(20) && (r.Stage == stageReady || r.Stage == stageSaid):
		s.apply(Steered{Meta: s.meta(""), ID: s.text(), Message: provider.User(s.text())})
	default:
		s.act(s.m.Next())
	}
}

func (s *sim) start() {
	s.runs++
	s.origin = &Origin{Session: s.m.s.Session, Run: fmt.Sprintf("r-%d", s.runs), Agent: "sim", Trace: s.text()}
	f := RunStarted{Meta: s.meta(""), Message: provider.User(s.text()), Mode: pick(s, "", "plan"), Interactive: s.one(2), Priority: s.rng.IntN(99)}
	f.Limits = new(Limits{Steps: s.rng.IntN(8) - 1, StepsPerPhase: pick(s, -1, 3), Tokens: pick(s, int64(-1), 200), Cost: pick(s, provider.Money(-1), 150),
		Repeats: pick(s, -1, 2, 3)}.withDefaults())
	f.ToolChoice = provider.ToolChoice{Mode: pick(s, provider.ChooseAuto, provider.ChooseRequired)}
	if s.runs == 1 && s.one(2) {
		f.History = []provider.Message{provider.User("before"), provider.Assistant("indeed")}
	}
	s.apply(f)
}

// compact leaves out, replaces and keeps groups at random.
func (s *sim) compact() {
	messages := s.m.s.Messages
	f := Compacted{Meta: s.meta(""), Report: &memory.Report{Trigger: s.text()}, Usage: provider.Usage{Input: s.rng.Int64N(9)}, Cost: provider.Money(s.rng.IntN(5))}
	for from := 0; from < len(messages); {
		to := from + 1
		for to < len(messages) && messages[to].Role == provider.RoleTool {
			to++
		}
		switch {
		case from == s.m.s.Run.First && to < len(messages) && s.one(4): // cut
			f.Spans = append(f.Spans, Span{From: from, To: to, Messages: []provider.Message{provider.User(s.text())}})
		case to == len(messages) || from == s.m.s.Run.First || s.one(2): // the last group may be an open step
			f.Spans = append(f.Spans, Span{From: from, To: to})
		case s.one(3):
			f.Spans = append(f.Spans, Span{From: from, To: to, Messages: []provider.Message{provider.User(s.text()), provider.Assistant(s.text())}[:1+s.rng.IntN(2)]})
		case s.one(4):
			f.Spans = append(f.Spans, Span{From: from, To: from, Messages: []provider.Message{provider.User(s.text())}})
		}
		from = to
	}
	s.apply(f)
}

func (s *sim) note(category string) {
	s.apply(NoteWritten{Meta: s.meta(""), Category: category, Index: s.m.s.noted(category).Index + 1, Share: s.rng.Float64(), Note: json.RawMessage(`{"done":[]}`),
		Usage: provider.Usage{Input: s.rng.Int64N(9)}, Cost: 1, Priced: s.one(2)})
}

// resetContext begins a run that continues the work of the one that is open.
func (s *sim) resetContext() {
	r := s.m.s.Run
	s.note(contextResetCategory)
	s.apply(RunEnded{Meta: s.meta(""), Status: Stopped, Code: CodeContextReset})
	s.runs++
	s.origin = &Origin{Session: s.m.s.Session, Run: fmt.Sprintf("r-%d", s.runs), Agent: "sim"}
	f := RunStarted{Meta: s.meta(""), Message: provider.User(s.text()), Mode: s.m.s.Mode, Limits: r.Limits, ToolChoice: r.ToolChoice,
		ContextReset: &ContextResetState{Index: r.contextResets() + 1, From: r.ID, Prompt: s.rng.IntN(2)}}
	f.Meta.Step = 0
	s.apply(f)
	require.Len(s.t, s.m.s.Messages, 1)
	require.GreaterOrEqual(s.t, s.m.s.Run.Usage.Total(), r.Usage.Total())
	require.Equal(s.t, r.Step, s.m.s.Run.Step)
}

// paused does one of the things that resume a paused run.
func (s *sim) paused() {
	r := s.m.s.Run
	pending := r.pending()
	switch {
	case len(pending) > 0 && !s.one(8):
		s.decide(pending[s.rng.IntN(len(pending))])
	case s.one(3):
		s.abort(Stopped, CodeSuperseded)
	default:
		s.apply(Continued{Meta: s.meta("")})
	}
}

// decide takes any decision that fits a pause.
func (s *sim) decide(p Pause) {
	kinds := []DecisionKind{Rejected, Suggested, Expired, Superseded}
	switch p.Kind {
	case PauseApproval:
		kinds = append(kinds, Approved, Edited, AlwaysAllow)
	case PauseInDoubt:
		kinds = append(kinds, Approved, AnswerGiven)
	case PauseCorrection:
		kinds = append(kinds, Edited)
	default:
		kinds = append(kinds, AnswerGiven)
	}
	d := Decision{ID: p.ID, Kind: pick(s, kinds...), Reason: s.text(), Who: s.text()}
	switch d.Kind {
	case Edited:
		d.Input = json.RawMessage(`{"n":99}`)
	case AnswerGiven:
		d.Value = json.RawMessage(`"it did"`)
	}
	if len(p.Path) > 0 { // the call resumes it
		s.apply(Decided{Meta: s.meta(p.Path[0]), Decision: d})
		return
	}
	s.apply(Decided{Meta: s.meta(p.Call.ID), Decision: d})
	switch d.Kind {
	case AnswerGiven:
		s.finish(p.Call.ID, tools.Answered)
	case Rejected, Suggested, Expired, Superseded:
		s.finish(p.Call.ID, tools.Rejected)
	}
}

// act does what Next said.
func (s *sim) act(a Action) {
	r := s.m.s.Run
	switch a.Kind {
	case ActCallModel:
		if !a.Again {
			f := StepStarted{Meta: s.meta(""), Model: "m", Final: a.Final}
			if f.Step = r.Step + 1; a.Final != "" {
				f.Note = s.text()
			}
			s.apply(f)
			return
		}
		s.reply()
	case ActRunCalls:
		c := &r.Calls[pick(s, a.Calls...)]
		switch {
		case s.one(3) && c.Status == callOpen:
			s.suspend(c, pick(s, PauseApproval, PauseCorrection))
		case s.one(5):
			s.finish(c.Call.ID, pick(s, tools.Invalid, tools.Unknown, tools.Denied, tools.Unavailable))
		default:
			s.started(c)
		}
	case ActDoubt:
		c := &r.Calls[pick(s, a.Calls...)]
		switch {
		case s.one(3) && c.Repeat:
			s.suspend(c, PauseAgent)
		case s.one(4):
			s.suspend(c, pick(s, PauseInDoubt, "question"))
		case s.one(4) && c.Repeat:
			s.started(c)
		case s.one(4) && !r.callsRun():
			s.finish(c.Call.ID, tools.InDoubt)
		default:
			s.finish(c.Call.ID, pick(s, tools.OK, tools.OK, tools.Failed, tools.TimedOut, tools.Unverified, tools.Canceled, tools.InDoubt))
		}
	case ActSettle:
		s.finish(r.Calls[pick(s, a.Calls...)].Call.ID, tools.NotRun)
	case ActWait:
		s.apply(RunEnded{Meta: s.meta(""), Status: a.Status})
	case ActFinish:
		if a.Status == Completed && s.one(3) {
			s.apply(SentBack{Meta: s.meta(""), Why: pick(s, SendBackHook, SendBackOutput), Text: s.text()})
			return
		}
		f := RunEnded{Meta: s.meta(""), Status: a.Status, Code: a.Code}
		if a.Err != nil {
			f.Reason = a.Err.Error()
		}
		s.apply(f)
	default:
		require.Fail(s.t, "a running run has nothing to do")
	}
}

// reply lets the model call under way come to an end, or begin again.
func (s *sim) reply() {
	r := s.m.s.Run
	usage := provider.Usage{Input: s.rng.Int64N(100), Output: s.rng.Int64N(20), Raw: `{"in":1}`}
	if s.one(8) {
		f := StepFailed{Meta: s.meta(""), Usage: usage, Class: fault.Degraded, Error: s.text()}
		if s.one(2) {
			f.Partial = provider.Assistant(s.text())
		}
		s.apply(f)
		return
	}
	if s.one(10) {
		s.apply(StepStarted{Meta: s.meta(""), Model: "m", Final: r.Final})
		return
	}
	f := Replied{Meta: s.meta(""), Usage: usage, Cost: provider.Money(s.rng.IntN(100)), Priced: s.one(2), Model: "m-1"}
	f.Stop = pick(s, provider.StopDone, provider.StopToolCalls, provider.StopToolCalls, provider.StopToolCalls, provider.StopLength, provider.StopFiltered,
		provider.StopPaused, provider.StopError, provider.StopUnknown)
	f.Message.Role = provider.RoleAssistant
	if s.one(3) {
		f.Message.Parts = append(f.Message.Parts, provider.Part{Kind: provider.PartReasoning, Text: s.text(), Opaque: &provider.Opaque{Provider: "p", Data: s.text()}})
	}
	if s.one(2) {
		f.Message.Parts = append(f.Message.Parts, provider.TextPart(s.text()))
	}
	for n := range s.rng.IntN(6) {
		call := &provider.ToolCall{ID: callID(r.ID, r.Step, n), ProviderID: pick(s, "", "same"), Name: pick(s, "look", "write", "poll")}
		switch s.rng.IntN(4) {
		case 0:
			call.Invalid = `{"n":`
		case 1:
		default:
			call.Input = json.RawMessage(fmt.Sprintf(`{"n":%d,"big":12345678901234567890123,"html":"<&>"}`, s.rng.IntN(2)))
		}
		f.Message.Parts = append(f.Message.Parts, provider.Part{Kind: provider.PartToolCall, Call: call})
	}
	s.apply(f)
}

func (s *sim) started(c *CallState) {
	call := *c.Call
	if call.Invalid != "" || s.one(4) { // a hook changed the input
		call.Input, call.Invalid = json.RawMessage(`{"n":7}`), ""
	}
	s.apply(ToolStarted{Meta: s.meta(call.ID), Call: &call, IdempotencyKey: call.ID, Repeatable: s.one(3)})
}

func (s *sim) suspend(c *CallState, kind PauseKind) {
	p := Pause{Kind: kind, Call: *c.Call, Reason: s.text(), Always: true, Tool: "schema-1"}
	if s.one(2) {
		p.Schema, p.Expires = json.RawMessage(`{"type":"string"}`), s.now.Add(time.Hour)
	}
	p.ID = pauseID(s.m.s.Session, &p.Call, kind, c.Pauses)
	if kind == PauseAgent && c.waits() { // the agent has acted on one decision, and waits for the others again
		p.Nested = slices.DeleteFunc(slices.Clone(c.Pause.Nested), func(n Pause) bool { return slices.Contains(s.m.s.Used, n.ID) })
	}
	for i := 0; kind == PauseAgent && i < 2; i++ {
		n := Pause{ID: fmt.Sprintf("%s.%d", p.ID, i), Kind: PauseApproval, Reason: s.text()}
		n.Call = provider.ToolCall{ID: callID("r-child", 1, i), Name: "write", Input: json.RawMessage(`{"n":1}`)}
		p.Nested = append(p.Nested, n)
	}
	s.apply(Suspended{Meta: s.meta(c.Call.ID), Pause: p})
}

func (s *sim) finish(id string, status tools.Status) {
	c := s.m.s.Run.callByID(id)
	call := *c.Call
	res := &ToolResult{Status: status, Polls: call.Name == "poll", Class: fault.None}
	res.ToolResult = provider.ToolResult{CallID: id, Name: call.Name, Parts: []provider.Part{provider.TextPart(s.text())}, Error: !status.Good()}
	if s.one(3) {
		res.Data = json.RawMessage(`{"rows":[1,2.50]}`)
	}
	if s.one(5) {
		res.addNote("Note: mind the gap")
	}
	s.apply(ToolFinished{Meta: s.meta(id), Call: &call, Result: res, Took: time.Millisecond})
}

// abort ends a run wherever it is: open calls get their result first.
func (s *sim) abort(status Status, code string) {
	r := s.m.s.Run
	if r.Stage == stageCalling && s.one(2) {
		s.apply(StepFailed{Meta: s.meta(""), Error: "the run ended"})
	}
	for r.Stage == stageActing {
		for i := range r.Calls {
			switch c := &r.Calls[i]; c.Status {
			case callDone:
				continue
			case callSuspended:
				s.apply(Decided{Meta: s.meta(c.Call.ID), Decision: Decision{ID: c.Pause.ID, Kind: Superseded}})
				s.finish(c.Call.ID, tools.Rejected)
			case callStarted:
				s.finish(c.Call.ID, tools.InDoubt)
			default:
				s.finish(c.Call.ID, tools.NotRun)
			}
			break
		}
	}
	s.apply(RunEnded{Meta: s.meta(""), Status: status, Code: code})
}

// stateJSON is what two states are compared by.
func stateJSON(t *testing.T, m *Machine) string {
	t.Helper()
	data, err := json.Marshal(m.State())
	require.NoError(t, err)
	return string(data)
}

// balanced says what is wrong with a conversation: each call has one result, right behind its reply and in call order, and
// there is no other result. It knows nothing of how the machine sees to that.
func balanced(messages []provider.Message) error {
	ids := make(map[string]bool)
	for i := 0; i < len(messages); i++ {
		var calls, results []string
		for _, p := range messages[i].Parts {
			if p.Kind == provider.PartToolResult {
				return fmt.Errorf("message %d (%s) has a result that no call precedes", i, messages[i].Role)
			}
			if p.Kind == provider.PartToolCall {
				if calls = append(calls, p.Call.ID); ids[p.Call.ID] || p.Call.ID == "" {
					return fmt.Errorf("message %d: call %q has no id of its own", i, p.Call.ID)
				}
				ids[p.Call.ID] = true
			}
		}
		if len(messages[i].Parts) == 0 || messages[i].Role == provider.RoleTool {
			return fmt.Errorf("message %d is empty, or results that no call precedes", i)
		}
		if len(calls) == 0 {
			continue
		}
		if messages[i].Role != provider.RoleAssistant {
			return fmt.Errorf("message %d (%s) has calls", i, messages[i].Role)
		}
		if i++; i == len(messages) || messages[i].Role != provider.RoleTool {
			return fmt.Errorf("no results behind message %d", i-1)
		}
		for _, p := range messages[i].Parts {
			if p.Kind != provider.PartToolResult {
				return fmt.Errorf("message %d has a part that is no result", i)
			}
			results = append(results, p.Result.CallID)
		}
		if fmt.Sprint(calls) != fmt.Sprint(results) {
			return fmt.Errorf("message %d: calls %v, results %v", i, calls, results)
		}
	}
	return nil
}
