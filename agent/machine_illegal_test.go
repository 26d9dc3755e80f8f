package agent

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// refuses asserts that a fact is refused with a *FactError and changes nothing.
func refuses(t *testing.T, m *Machine, f Fact, why string) {
	t.Helper()
	before, next := shape(t, m), m.Next()
	var err error
	require.NotPanics(t, func() { err = m.Apply(f) }, why)
	var fe *FactError
	require.ErrorAs(t, err, &fe, why)
	require.Equal(t, m.s.Session, fe.Session)
	require.NotEmpty(t, fe.Problem)
	require.NotEmpty(t, fe.Error())
	require.Equal(t, before, shape(t, m), why)
	require.Equal(t, next, m.Next(), why)
}

// shape returns the state as JSON with the number of its messages in their place: they are long, and compared more seldom.
func shape(t *testing.T, m *Machine) string {
	t.Helper()
	s := m.s
	s.Messages = nil
	data, err := json.Marshal(s)
	require.NoError(t, err)
	return fmt.Sprintf("%d messages, %s", len(m.s.Messages), data)
}

// withMeta returns a fact with another envelope.
func withMeta(f Fact, change func(*Meta)) Fact {
	v := reflect.New(reflect.TypeOf(f)).Elem()
	v.Set(reflect.ValueOf(f))
	meta := v.FieldByName("Meta").Addr().Interface().(*Meta)
	if meta.Origin != nil {
		o := *meta.Origin
		meta.Origin = &o
	}
	change(meta)
	return v.Interface().(Fact)
}

// withoutPointers returns a fact whose pointers are nil, the envelope's excepted, and whether it had any.
func withoutPointers(f Fact) (Fact, bool) {
	v := reflect.New(reflect.TypeOf(f)).Elem()
	v.Set(reflect.ValueOf(f))
	had := false
	for i := range v.NumField() {
		if field := v.Field(i); field.Kind() == reflect.Pointer && !field.IsNil() && v.Type().Field(i).Name != "Meta" {
			field.SetZero()
			had = true
		}
	}
	return v.Interface().(Fact), had
}

// pretender embeds a fact, and so has its methods.
type pretender struct{ Fact }

func TestWhatOnlyLooksLikeAFactIsRefused(t *testing.T) {
	s := newSim(t, 1)
	for len(s.facts) < 20 {
		s.step()
	}
	refuses(t, s.m, nil, "nil")
	refuses(t, s.m, pretender{}, "a struct around nil")
	refuses(t, s.m, pretender{RunEnded{Meta: s.meta(""), Status: Stopped}}, "a struct around a fact")
	for kind, typ := range factTypes {
		refuses(t, s.m, reflect.Zero(reflect.PointerTo(typ)).Interface().(Fact), "nil *"+kind)
		refuses(t, s.m, reflect.New(typ).Interface().(Fact), "*"+kind)
		refuses(t, s.m, reflect.Zero(typ).Interface().(Fact), "zero "+kind)
		for _, f := range []Fact{nil, pretender{}, reflect.Zero(reflect.PointerTo(typ)).Interface().(Fact), reflect.Zero(typ).Interface().(Fact)} {
			var fe *FactError
			require.NotPanics(t, func() { _, err := EncodeFact(f); require.ErrorAs(t, err, &fe) }, kind)
		}
	}
}

// harmless are the kinds of facts whose zero value is one, in a run that works.
var harmless = map[string]bool{"continued": true, "mode_changed": true, "phase_changed": true, "context_reset_requested": true}

func TestFactsThatCannotFollowAreRefusedAndChangeNothing(t *testing.T) {
	seen := make(map[string]int)
	eachLog(t, 6, func(t *testing.T, s *sim) {
		used := make(map[string]bool)
		begun := make(map[string]bool) // started calls that may not be started again
		s.before = func(f Fact) {
			if !s.one(5) {
				return
			}
			whole := stateJSON(t, s.m)
			defer func() { require.Equal(t, whole, stateJSON(t, s.m)) }()
			try := func(bad Fact, why string) {
				seen[why]++
				refuses(t, s.m, bad, fmt.Sprintf("%s: %s before fact %d", why, bad.kind(), len(s.facts)+1))
			}
			try(withMeta(f, func(m *Meta) { m.Seq-- }), "a number that was")
			try(withMeta(f, func(m *Meta) { m.Seq++ }), "a number that leaves one out")
			try(withMeta(f, func(m *Meta) { m.Origin = nil }), "no origin")
			try(withMeta(f, func(m *Meta) { m.Run = "" }), "no run")
			try(withMeta(f, func(m *Meta) { m.Session = "s-2" }), "another session")
			if _, starts := f.(RunStarted); !starts {
				try(withMeta(f, func(m *Meta) { m.Run = "r-0" }), "another run")
				if bare, had := withoutPointers(f); had {
					try(bare, "nil inside")
				}
			}
			r := s.m.s.Run
			if !r.open() {
				for _, typ := range factTypes {
					zero := reflect.Zero(typ).Interface().(Fact)
					try(withMeta(zero, func(m *Meta) { *m = s.meta("") }), "no run is open")
				}
				if r != nil {
					try(RunStarted{Meta: Meta{Origin: &Origin{Session: "s-1", Run: r.ID}, Seq: s.m.s.Seq + 1}, Message: provider.User("hi")}, "a run that was")
				}
				return
			}
			for kind, typ := range factTypes {
				legal := harmless[kind] && (r.Status == Running || kind != "phase_changed" && kind != "context_reset_requested") || r.Stage == stageCalling && kind == "step_failed" ||
					r.Stage == stageCalling && kind == "step_started" && r.Final == "" // the same call again
				if !legal {
					zero := reflect.Zero(typ).Interface().(Fact)
					try(withMeta(zero, func(m *Meta) { *m = s.meta("") }), "zero value")
				}
			}
			try(RunStarted{Meta: s.meta(""), Message: provider.User("hi")}, "a run in a run")
			try(RunEnded{Meta: s.meta(""), Status: Running}, "an end that is none")
			try(Decided{Meta: s.meta(""), Decision: Decision{ID: "p-unknown", Kind: Approved}}, "a pause that isn't")
			for id := range used {
				try(Decided{Meta: s.meta(""), Decision: Decision{ID: id, Kind: Approved}}, "a decision taken before")
			}
			call := &provider.ToolCall{ID: "r-999.1.0", Name: "look"}
			result := func(c *provider.ToolCall) *ToolResult {
				return &ToolResult{ToolResult: provider.ToolResult{CallID: c.ID, Name: c.Name}, Status: tools.OK}
			}
			try(ToolStarted{Meta: s.meta(call.ID), Call: call}, "a call that isn't")
			try(ToolFinished{Meta: s.meta(call.ID), Call: call, Result: result(call)}, "a call that isn't")
			try(Suspended{Meta: s.meta(call.ID), Pause: Pause{ID: "p-1", Kind: PauseApproval, Call: *call}}, "a call that isn't")
			if r.Stage != stageCalling {
				try(Replied{Meta: s.meta(""), Message: provider.Assistant("hi"), Stop: provider.StopDone}, "a reply to nothing")
				try(StepFailed{Meta: s.meta("")}, "a failure of nothing")
			} else {
				try(Replied{Meta: s.meta(""), Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
					{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "call_1", Name: "look"}}}}, Stop: provider.StopToolCalls}, "a call with the provider's id")
				try(Replied{Meta: s.meta(""), Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartToolCall}}},
					Stop: provider.StopToolCalls}, "a call that is nil")
				try(Replied{Meta: s.meta(""), Message: provider.User("hi"), Stop: provider.StopDone}, "a reply by the user")
				try(StepFailed{Meta: s.meta(""), Partial: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
					{Kind: provider.PartToolCall, Call: call}}}}, "a partial answer with a call")
				step := withMeta(StepStarted{}, func(m *Meta) { *m = s.meta(""); m.Step++ })
				try(step, "a step in a step")
			}
			if r.Stage != stageReady && r.Stage != stageSaid {
				try(Steered{Meta: s.meta(""), Message: provider.User("hi")}, "a message within a step")
			}
			if r.Stage != stageSaid {
				try(SentBack{Meta: s.meta(""), Why: SendBackHook, Text: "more"}, "sent back without an answer")
			}
			if r.Stage != stageActing {
				return
			}
			for _, status := range []Status{Completed, Stopped, Failed} {
				try(RunEnded{Meta: s.meta(""), Status: status}, "an end with open calls")
			}
			try(withMeta(StepStarted{}, func(m *Meta) { *m = s.meta(""); m.Step++ }), "a step with open calls")
			for i := range r.Calls {
				c := &r.Calls[i]
				other := *c.Call
				other.Name = "other"
				try(ToolStarted{Meta: s.meta(c.Call.ID), Call: &other}, "another tool's name")
				try(ToolFinished{Meta: s.meta(c.Call.ID), Call: c.Call, Result: result(call)}, "another call's result")
				if c.Status != callStarted {
					try(ToolFinished{Meta: s.meta(c.Call.ID), Call: c.Call, Result: result(c.Call)}, "success without a start")
				}
				if begun[c.Call.ID] && !c.Retry {
					try(ToolStarted{Meta: s.meta(c.Call.ID), Call: c.Call, Repeatable: true}, "a second start")
				}
				switch c.Status {
				case callDone:
					try(ToolFinished{Meta: s.meta(c.Call.ID), Call: c.Call, Result: result(c.Call)}, "a second result")
					try(Suspended{Meta: s.meta(c.Call.ID), Pause: Pause{ID: "p-1", Kind: "question", Call: *c.Call}}, "a pause of what is done")
				case callSettled:
					try(ToolStarted{Meta: s.meta(c.Call.ID), Call: c.Call}, "a start after a refusal")
					try(Suspended{Meta: s.meta(c.Call.ID), Pause: Pause{ID: "p-1", Kind: PauseApproval, Call: *c.Call}}, "a pause after a refusal")
				case callSuspended:
					try(ToolStarted{Meta: s.meta(c.Call.ID), Call: c.Call}, "a start without a decision")
					try(ToolFinished{Meta: s.meta(c.Call.ID), Call: c.Call, Result: result(c.Call)}, "a result without a decision")
					try(Suspended{Meta: s.meta(c.Call.ID), Pause: Pause{ID: "p-1", Kind: PauseApproval, Call: *c.Call}}, "a pause of what is paused")
					try(Decided{Meta: s.meta(c.Call.ID), Decision: Decision{ID: c.Pause.ID, Kind: "maybe"}}, "an unknown decision")
					if c.Pause.Kind == "question" {
						try(Decided{Meta: s.meta(c.Call.ID), Decision: Decision{ID: c.Pause.ID, Kind: Approved}}, "approval of a question")
					}
					for j := range r.Calls {
						if d := &r.Calls[j]; d.Status == callOpen {
							try(Suspended{Meta: s.meta(d.Call.ID), Pause: Pause{ID: c.Pause.ID, Kind: PauseApproval, Call: *d.Call}}, "two pauses with one id")
						}
					}
				case callOpen:
					for id := range used {
						try(Suspended{Meta: s.meta(c.Call.ID), Pause: Pause{ID: id, Kind: PauseApproval, Call: *c.Call}}, "a pause with a used id")
					}
				}
			}
		}
		s.after = func(f Fact) {
			switch f := f.(type) {
			case RunStarted:
				clear(used)
			case Decided:
				used[f.Decision.ID] = true
			case ToolStarted:
				if begun[f.Call.ID] = !f.Repeatable; s.m.s.Run.Status == Paused {
					t.Error("a paused run started a call")
				}
			}
		}
	})
	require.Greater(t, len(seen), 35)
	for why, n := range seen {
		require.Positive(t, n, why)
	}
}

// TestNoSequenceOfFactsBreaksAConversation throws facts at a machine that are legal only by luck. Whatever it takes has to
// leave the conversation in order, and no call may be started that mustn't be.
func TestNoSequenceOfFactsBreaksAConversation(t *testing.T) {
	taken := make(map[string]int)
	for seed := range 200 {
		c := &chaos{t: t, rng: rand.New(rand.NewPCG(uint64(seed), 2)), m: NewMachine("s-1"), starts: make(map[string]bool), closed: make(map[string]bool), pauses: make(map[string]string)}
		for now := shape(t, c.m); c.tries < 400; c.tries++ {
			f := c.fact()
			var err error
			require.NotPanics(t, func() { err = c.m.Apply(f) })
			if err != nil {
				var fe *FactError
				require.ErrorAs(t, err, &fe)
				require.Equal(t, now, shape(t, c.m), "seed %d", seed)
				continue
			}
			now = shape(t, c.m)
			taken[f.kind()]++
			c.taken(f, seed)
		}
	}
	require.Len(t, taken, len(factTypes))
	for kind, n := range taken {
		least := 10
		if kind == "rule_revoked" { // needs a rule first
			least = 1
		}
		require.GreaterOrEqual(t, n, least, "facts of kind %s are taken now and then", kind)
	}
}

type chaos struct {
	t      *testing.T
	tries  int
	rng    *rand.Rand
	m      *Machine
	starts map[string]bool   // calls that were started and may not be started again
	closed map[string]bool   // calls that were turned down
	pauses map[string]string // which call they are of
}

func any1[T any](c *chaos, from ...T) T { return from[c.rng.IntN(len(from))] }

// fact returns any fact, from a small vocabulary so that it fits now and then.
func (c *chaos) fact() Fact {
	r := c.m.s.Run
	if r == nil {
		r = &RunState{ID: "r-1"}
	}
	run := r.ID
	if !r.open() || c.rng.IntN(20) == 0 {
		run += "x"
	}
	name := callID(r.ID, r.Step, c.rng.IntN(2))
	meta := Meta{Origin: &Origin{Session: "s-1", Run: run}, Seq: c.m.s.Seq + 1, Step: r.Step + c.rng.IntN(2), Call: name}
	call := &provider.ToolCall{ID: name, Name: any1(c, "a", "a", "a", "a", "a", "b"), Input: any1(c, nil, json.RawMessage(`{}`))}
	pause := fmt.Sprint("p-", c.rng.IntN(6))
	text := any1(c, "hi", "")
	message := provider.Message{Role: any1(c, provider.RoleUser, provider.RoleUser, provider.RoleAssistant, provider.RoleTool), Parts: []provider.Part{provider.TextPart("hi")}}
	if c.rng.IntN(6) == 0 {
		message.Parts = any1(c, nil, []provider.Part{{Kind: provider.PartToolCall, Call: call}}, []provider.Part{{Kind: provider.PartToolCall}},
			[]provider.Part{{Kind: provider.PartToolResult, Result: &provider.ToolResult{CallID: name}}})
	}
	if rules := c.m.s.Rules; c.rng.IntN(60) == 0 || len(rules) > 0 && c.rng.IntN(3) == 0 {
		return RuleRevoked{Meta: meta, Tool: any1(c, "a", "b")}
	}
	switch c.rng.IntN(40) {
	case 0:
		meta.Origin = &Origin{Session: "s-1", Run: r.ID}
		return Undone{Meta: meta, Calls: any1(c, nil, []UndoneCall{{}}, []UndoneCall{{Call: call}}), Message: any1(c, provider.Message{}, message)}
	case 1:
		return Snapshot{Meta: meta, State: any1(c, nil, &State{}, &State{Run: &RunState{}})}
	case 2, 3, 4:
		meta.Origin = &Origin{Session: "s-1", Run: r.ID}
		return c.compacted(meta, message)
	case 5:
		return NoteWritten{Meta: meta, Category: any1(c, "a", "a", ""), Index: c.m.s.noted("a").Index + c.rng.IntN(2), Share: any1(c, .5, .5, -1, math.NaN())}
	case 6, 7:
		if r.open() {
			return RunEnded{Meta: meta, Status: Stopped, Code: CodeContextReset}
		}
	}
	kind := c.rng.IntN(18)
	if c.rng.IntN(4) > 0 { // mostly of a kind that may come now
		switch {
		case !r.open():
			kind = 0
		case r.Status == Paused:
			kind = any1(c, 9, 12, 16)
		case r.Stage == stageReady:
			kind = 1
		case r.Stage == stageCalling:
			kind = any1(c, 3, 3, 3, 6)
		case r.Stage == stageActing:
			kind = any1(c, 7, 7, 9, 9, 9, 11, 12)
		case r.Stage == stageSaid:
			kind = any1(c, 1, 14, 17)
		}
	}
	switch kind {
	case 0:
		f := RunStarted{Meta: meta, Message: message, Limits: new(DefaultLimits())}
		if c.rng.IntN(3) == 0 {
			f.History = []provider.Message{provider.User("before"), message}
		}
		if c.rng.IntN(4) == 0 || r.Code == CodeContextReset {
			f.ContextReset = &ContextResetState{Index: r.contextResets() + c.rng.IntN(2), From: any1(c, r.ID, r.ID, ""), Prompt: c.rng.IntN(3)}
		}
		return f
	case 1, 2:
		return StepStarted{Meta: meta, Final: any1(c, "", "", "", LimitSteps), Note: text}
	case 3, 4, 5:
		f := Replied{Meta: meta, Message: provider.Message{Role: any1(c, provider.RoleAssistant, provider.RoleAssistant, provider.RoleUser)},
			Stop: any1(c, provider.StopDone, provider.StopToolCalls, provider.StopToolCalls, provider.StopToolCalls, provider.StopToolCalls, provider.StopPaused, provider.StopLength, "")}
		for n := range c.rng.IntN(4) {
			calls := len((&provider.Message{Parts: f.Message.Parts}).Calls())
			id := any1(c, callID(r.ID, r.Step, calls), callID(r.ID, r.Step, calls), callID(r.ID, r.Step, calls), callID(r.ID, r.Step, n))
			f.Message.Parts = append(f.Message.Parts, any1(c, provider.TextPart("hi"), provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: id, Name: "a"}}))
		}
		return f
	case 6:
		return StepFailed{Meta: meta, Partial: any1(c, message, provider.Message{})}
	case 7, 8:
		return ToolStarted{Meta: meta, Call: any1(c, call, call, call, nil), Repeatable: c.rng.IntN(3) == 0}
	case 9, 10:
		res := &ToolResult{Status: any1(c, tools.OK, tools.Failed, tools.Rejected, tools.Answered, tools.InDoubt, "")}
		res.CallID = name
		return ToolFinished{Meta: meta, Call: call, Result: any1(c, res, res, res, nil)}
	case 11:
		return Suspended{Meta: meta, Pause: Pause{ID: pause, Kind: any1(c, PauseApproval, PauseInDoubt, PauseCorrection, "question", ""), Call: *call}}
	case 12, 13:
		return Decided{Meta: meta, Decision: Decision{ID: pause, Kind: any1(c, Approved, Rejected, Edited, Suggested, AnswerGiven, AlwaysAllow, Expired, Superseded, "maybe"),
			Input: json.RawMessage(`{"e":1}`)}}
	case 14:
		return any1[Fact](c, Steered{Meta: meta, Message: message}, SentBack{Meta: meta, Why: any1(c, SendBackHook, SendBackOutput, "x"), Text: text})
	case 15:
		return any1[Fact](c, ModeChanged{Meta: meta, To: text}, PhaseChanged{Meta: meta, To: text}, ContextResetRequested{Meta: meta})
	case 16:
		return Continued{Meta: meta}
	}
	return RunEnded{Meta: meta, Status: any1(c, Completed, Stopped, Failed, Paused, Running, "")}
}

// compacted is a compaction with spans that are legal only by luck.
func (c *chaos) compacted(meta Meta, message provider.Message) Fact {
	f := Compacted{Meta: meta, Report: any1(c, &memory.Report{}, &memory.Report{}, nil)}
	for at, n := 0, len(c.m.s.Messages); at < n && c.rng.IntN(5) > 0; {
		p := Span{From: at + c.rng.IntN(3) - 1, To: at + c.rng.IntN(4)}
		if c.rng.IntN(3) == 0 {
			p.To = n + c.rng.IntN(2)
		}
		if c.rng.IntN(3) == 0 {
			p.Messages = []provider.Message{message}
		}
		f.Spans, at = append(f.Spans, p), max(p.To, at+1)
	}
	return f
}

// taken checks what has to hold after a fact that was taken.
func (c *chaos) taken(f Fact, seed int) {
	switch f := f.(type) {
	case ToolStarted:
		require.False(c.t, c.starts[f.Call.ID], "seed %d: call %s was started twice", seed, f.Call.ID)
		require.False(c.t, c.closed[f.Call.ID], "seed %d: call %s was started after it had been turned down", seed, f.Call.ID)
		require.Equal(c.t, Running, c.m.s.Run.Status)
		c.starts[f.Call.ID] = !f.Repeatable
	case Suspended:
		c.pauses[f.Pause.ID] = f.Meta.Call
	case Decided:
		switch call := c.pauses[f.Decision.ID]; f.Decision.Kind {
		case Approved, Edited, AlwaysAllow:
			c.starts[call] = false // a person lets it run, for the first time or in doubt
		default:
			c.closed[call] = true
		}
	}
	if r := c.m.s.Run; r.First < 0 || r.First >= len(c.m.s.Messages) {
		require.Failf(c.t, "the input of the run", "seed %d: message %d of %d", seed, r.First, len(c.m.s.Messages))
	}
	if a := c.m.Next(); a.Kind == ActCallModel || !c.m.s.Run.open() {
		require.NoError(c.t, balanced(c.m.s.Messages), "seed %d", seed)
	}
}
