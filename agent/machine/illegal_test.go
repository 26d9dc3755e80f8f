package machine_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// refuses asserts that a fact is refused with a *FactError and changes nothing.
func refuses(t *testing.T, m *machine.Machine, f machine.Fact, why string) {
	t.Helper()
	before, next := shape(t, m), m.Next()
	var err error
	require.NotPanics(t, func() { err = m.Apply(f) }, why)
	var fe *machine.FactError
	require.ErrorAs(t, err, &fe, why)
	require.Equal(t, m.State().Session, fe.Session)
	require.NotEmpty(t, fe.Problem)
	require.NotEmpty(t, fe.Error())
	require.Equal(t, before, shape(t, m), why)
	require.Equal(t, next, m.Next(), why)
}

// shape returns the state as JSON, with the number of messages instead of the messages, which are
// long.
func shape(t *testing.T, m *machine.Machine) string {
	t.Helper()
	s := *m.State()
	s.Messages = nil
	data, err := json.Marshal(s)
	require.NoError(t, err)
	return fmt.Sprintf("%d messages, %s", len(m.State().Messages), data)
}

// withMeta returns a fact with another envelope.
func withMeta(f machine.Fact, change func(*machine.Meta)) machine.Fact {
	f = machine.CloneFact(f)
	change(reflect.ValueOf(f).Elem().FieldByName("Meta").Addr().Interface().(*machine.Meta))
	return f
}

// withoutPointers returns a fact with its pointers set to nil, and whether it had any.
func withoutPointers(f machine.Fact) (machine.Fact, bool) {
	f = machine.CloneFact(f)
	v, had := reflect.ValueOf(f).Elem(), false
	for i := range v.NumField() {
		if field := v.Field(i); field.Kind() == reflect.Pointer && !field.IsNil() && v.Type().Field(i).Name != "Meta" {
			field.SetZero()
			had = true
		}
	}
	return f, had
}

// harmless are the kinds of facts whose zero value is accepted in a running run.
var harmless = map[string]bool{"continued": true, "mode_changed": true, "phase_changed": true,
	"context_reset_requested": true}

func TestFactsThatCannotFollowAreRefusedAndChangeNothing(t *testing.T) {
	seen := make(map[string]int)
	eachLog(t, 6, func(t *testing.T, s *sim) {
		used := make(map[string]bool)
		begun := make(map[string]bool) // started calls that may not be started again
		s.before = func(f machine.Fact) {
			if !s.one(5) {
				return
			}
			whole := stateJSON(t, s.m)
			defer func() { require.Equal(t, whole, stateJSON(t, s.m)) }()
			try := func(bad machine.Fact, why string) {
				seen[why]++
				refuses(t, s.m, bad, fmt.Sprintf("%s: %s before fact %d", why, machine.KindOf(bad), len(s.facts)+1))
			}
			try(withMeta(f, func(m *machine.Meta) { m.Seq-- }), "a number that was")
			try(withMeta(f, func(m *machine.Meta) { m.Seq++ }), "a number that leaves one out")
			try(withMeta(f, func(m *machine.Meta) { m.Origin = nil }), "no origin")
			try(withMeta(f, func(m *machine.Meta) { m.Origin = &machine.Origin{Session: m.Session()} }), "no run")
			try(withMeta(f, func(m *machine.Meta) { m.Origin = &machine.Origin{Session: "s-2", Run: m.Run()} }),
				"another session")
			if _, starts := f.(*machine.RunStarted); !starts {
				try(withMeta(f, func(m *machine.Meta) { m.Origin = &machine.Origin{Session: m.Session(), Run: "r-0"} }),
					"another run")
				if bare, had := withoutPointers(f); had {
					try(bare, "nil inside")
				}
			}
			r := s.m.State().Run
			if !r.IsOpen() {
				for _, typ := range machine.FactTypes {
					zero := reflect.New(typ).Interface().(machine.Fact)
					if _, ok := zero.(*machine.ModeChanged); !ok || r == nil { // it counts for the next run
						try(withMeta(zero, func(m *machine.Meta) { *m = s.meta("") }), "no run is open")
					}
				}
				if r != nil {
					try(&machine.RunStarted{Meta: machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: r.ID},
						Seq: s.m.State().Seq + 1}, Message: provider.User("hi")}, "a run that was")
				}
				return
			}
			for kind, typ := range machine.FactTypes {
				legal := harmless[kind] && (r.Status == machine.Running || kind != "phase_changed" &&
					kind != "context_reset_requested") || r.Stage == machine.StageCalling && kind == "step_failed" ||
					r.Stage == machine.StageCalling && kind == "step_started" && r.Final == "" // the same call again
				if !legal {
					zero := reflect.New(typ).Interface().(machine.Fact)
					try(withMeta(zero, func(m *machine.Meta) { *m = s.meta("") }), "zero value")
				}
			}
			try(&machine.RunStarted{Meta: s.meta(""), Message: provider.User("hi")}, "a run in a run")
			try(&machine.RunEnded{Meta: s.meta(""), Status: machine.Running}, "an end that is none")
			try(&machine.Decided{Meta: s.meta(""), Decision: machine.Decision{ID: "p-unknown", Kind: machine.Approved}},
				"a pause that isn't")
			for id := range used {
				try(&machine.Decided{Meta: s.meta(""), Decision: machine.Decision{ID: id, Kind: machine.Approved}},
					"a decision taken before")
			}
			call := &provider.ToolCall{ID: "r-999.1.0", Name: "look"}
			result := func(c *provider.ToolCall) *machine.ToolResult {
				return &machine.ToolResult{ToolResult: provider.ToolResult{CallID: c.ID, Name: c.Name},
					Status: tools.OK}
			}
			try(&machine.ToolStarted{Meta: s.meta(call.ID), Call: call}, "a call that isn't")
			try(&machine.ToolFinished{Meta: s.meta(call.ID), Call: call, Result: result(call)}, "a call that isn't")
			try(&machine.Suspended{Meta: s.meta(call.ID),
				Pause: machine.Pause{ID: "p-1", Kind: machine.PauseApproval, Call: *call}}, "a call that isn't")
			if r.Stage != machine.StageCalling {
				try(&machine.Replied{Meta: s.meta(""), Message: provider.Assistant("hi"), Stop: provider.StopDone},
					"a reply to nothing")
				try(&machine.StepFailed{Meta: s.meta("")}, "a failure of nothing")
			} else {
				try(&machine.Replied{Meta: s.meta(""),
					Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
						{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "call_1", Name: "look"}}}},
					Stop: provider.StopToolCalls}, "a call with the provider's id")
				try(&machine.Replied{Meta: s.meta(""), Message: provider.Message{Role: provider.RoleAssistant,
					Parts: []provider.Part{{Kind: provider.PartToolCall}}},
					Stop: provider.StopToolCalls}, "a call that is nil")
				try(&machine.Replied{Meta: s.meta(""), Message: provider.User("hi"), Stop: provider.StopDone},
					"a reply by the user")
				try(&machine.StepFailed{Meta: s.meta(""),
					Partial: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
						{Kind: provider.PartToolCall, Call: call}}}}, "a partial answer with a call")
				step := withMeta(&machine.StepStarted{}, func(m *machine.Meta) { *m = s.meta(""); m.Step++ })
				try(step, "a step in a step")
			}
			if r.Stage != machine.StageReady && r.Stage != machine.StageReplied {
				try(&machine.Steered{Meta: s.meta(""), Message: provider.User("hi")}, "a message within a step")
			}
			if r.Stage != machine.StageReplied {
				try(&machine.SentBack{Meta: s.meta(""), Why: machine.SendBackHook, Text: "more"},
					"sent back without an answer")
			}
			if r.Stage != machine.StageActing {
				return
			}
			for _, status := range []machine.Status{machine.Completed, machine.Stopped, machine.Failed} {
				try(&machine.RunEnded{Meta: s.meta(""), Status: status}, "an end with open calls")
			}
			try(withMeta(&machine.StepStarted{}, func(m *machine.Meta) { *m = s.meta(""); m.Step++ }),
				"a step with open calls")
			for i := range r.Calls {
				c := &r.Calls[i]
				other := *c.Call
				other.Name = "other"
				try(&machine.ToolStarted{Meta: s.meta(c.Call.ID), Call: &other}, "another tool's name")
				try(&machine.ToolFinished{Meta: s.meta(c.Call.ID), Call: c.Call, Result: result(call)},
					"another call's result")
				if c.Status != machine.CallStarted {
					try(&machine.ToolFinished{Meta: s.meta(c.Call.ID), Call: c.Call, Result: result(c.Call)},
						"success without a start")
				}
				if begun[c.Call.ID] && !c.Retry && c.Started {
					// a call that was suspended to run again isn't started any more
					try(&machine.ToolStarted{Meta: s.meta(c.Call.ID), Call: c.Call, Repeatable: true}, "a second start")
				}
				switch c.Status {
				case machine.CallDone:
					try(&machine.ToolFinished{Meta: s.meta(c.Call.ID), Call: c.Call, Result: result(c.Call)},
						"a second result")
					try(&machine.Suspended{Meta: s.meta(c.Call.ID),
						Pause: machine.Pause{ID: "p-1", Kind: "question", Call: *c.Call}}, "a pause of what is done")
				case machine.CallDecided:
					try(&machine.ToolStarted{Meta: s.meta(c.Call.ID), Call: c.Call}, "a start after a refusal")
					try(&machine.Suspended{Meta: s.meta(c.Call.ID), Pause: machine.Pause{ID: "p-1",
						Kind: machine.PauseApproval, Call: *c.Call}}, "a pause after a refusal")
				case machine.CallSuspended:
					try(&machine.ToolStarted{Meta: s.meta(c.Call.ID), Call: c.Call}, "a start without a decision")
					try(&machine.ToolFinished{Meta: s.meta(c.Call.ID), Call: c.Call, Result: result(c.Call)},
						"a result without a decision")
					try(&machine.Suspended{Meta: s.meta(c.Call.ID), Pause: machine.Pause{ID: "p-1",
						Kind: machine.PauseApproval, Call: *c.Call}}, "a pause of what is paused")
					try(&machine.Decided{Meta: s.meta(c.Call.ID),
						Decision: machine.Decision{ID: c.Pause.ID, Kind: "maybe"}}, "an unknown decision")
					for why, bad := range badlyReopened(s.m.State().Session, c) {
						try(withMeta(bad, func(m *machine.Meta) { *m = s.meta(c.Call.ID) }), why)
					}
					if c.Pause.Kind == "question" {
						try(&machine.Decided{Meta: s.meta(c.Call.ID), Decision: machine.Decision{ID: c.Pause.ID,
							Kind: machine.Approved}}, "approval of a question")
					}
					for j := range r.Calls {
						if d := &r.Calls[j]; d.Status == machine.CallOpen {
							try(&machine.Suspended{Meta: s.meta(d.Call.ID), Pause: machine.Pause{ID: c.Pause.ID,
								Kind: machine.PauseApproval, Call: *d.Call}}, "two pauses with one id")
						}
					}
				case machine.CallOpen:
					for id := range used {
						try(&machine.Suspended{Meta: s.meta(c.Call.ID), Pause: machine.Pause{ID: id,
							Kind: machine.PauseApproval, Call: *c.Call}}, "a pause with a used id")
					}
				}
			}
		}
		s.after = func(f machine.Fact) {
			switch f := f.(type) {
			case *machine.RunStarted:
				clear(used)
			case *machine.Decided:
				used[f.Decision.ID] = true
			case *machine.Suspended:
				for _, id := range f.Pause.Replaces {
					used[id] = true
				}
			case *machine.ToolStarted:
				if begun[f.Call.ID] = !f.Repeatable; s.m.State().Run.Status == machine.Paused {
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

// TestNoSequenceOfFactsBreaksAConversation applies random facts, few of which are legal. Those that
// are accepted must leave the conversation well formed, and must not start a call that may not be
// started.
func TestNoSequenceOfFactsBreaksAConversation(t *testing.T) {
	accepted := make(map[string]int)
	for seed := range some(200) {
		c := &chaos{t: t, rng: rand.New(rand.NewPCG(uint64(seed), 2)), m: machine.New("s-1"),
			starts: make(map[string]bool), closed: make(map[string]bool), pauses: make(map[string]string)}
		for now := shape(t, c.m); c.tries < 400; c.tries++ {
			f := c.fact()
			var err error
			require.NotPanics(t, func() { err = c.m.Apply(f) })
			if err != nil {
				var fe *machine.FactError
				require.ErrorAs(t, err, &fe)
				require.Equal(t, now, shape(t, c.m), "seed %d", seed)
				continue
			}
			now = shape(t, c.m)
			accepted[machine.KindOf(f)]++
			c.accepted(f, seed)
		}
	}
	require.Len(t, accepted, len(machine.FactTypes))
	for kind, n := range accepted {
		least := 10
		if kind == "rule_revoked" || kind == "delivered" { // needs a rule, or an end, first
			least = 1
		}
		require.GreaterOrEqual(t, n, least, "facts of kind %s are accepted now and then", kind)
	}
}

type chaos struct {
	t      *testing.T
	tries  int
	rng    *rand.Rand
	m      *machine.Machine
	starts map[string]bool   // calls that were started and may not be started again
	closed map[string]bool   // calls that were turned down
	pauses map[string]string // which call they are of
}

func any1[T any](c *chaos, from ...T) T { return from[c.rng.IntN(len(from))] }

// fact returns a random fact. Its vocabulary is small, so that it fits now and then.
func (c *chaos) fact() machine.Fact {
	r := c.m.State().Run
	if r == nil {
		r = &machine.RunState{ID: "r-1"}
	}
	run := r.ID
	if !r.IsOpen() || c.rng.IntN(20) == 0 {
		run += "x"
	}
	name := machine.CallID(r.ID, r.Step, c.rng.IntN(2))
	meta := machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: run}, Seq: c.m.State().Seq + 1, Step: r.Step +
		c.rng.IntN(2), Call: name}
	call := &provider.ToolCall{ID: name, Name: any1(c, "a", "a", "a", "a", "a", "b"),
		Input: any1(c, nil, json.RawMessage(`{}`))}
	pause := fmt.Sprint("p-", c.rng.IntN(6))
	text := any1(c, "hi", "")
	message := provider.Message{Role: any1(c, provider.RoleUser, provider.RoleUser, provider.RoleAssistant,
		provider.RoleTool), Parts: []provider.Part{provider.TextPart("hi")}}
	if c.rng.IntN(6) == 0 {
		message.Parts = any1(c, nil, []provider.Part{{Kind: provider.PartToolCall, Call: call}},
			[]provider.Part{{Kind: provider.PartToolCall}},
			[]provider.Part{{Kind: provider.PartToolResult, Result: &provider.ToolResult{CallID: name}}})
	}
	if rules := c.m.State().Rules; c.rng.IntN(60) == 0 || len(rules) > 0 && c.rng.IntN(3) == 0 {
		return &machine.RuleRevoked{Meta: meta, Tool: any1(c, "a", "b")}
	}
	if c.rng.IntN(60) == 0 {
		text := any1(c, "", "a", "a\nb", strings.Repeat("n", 201))
		if c.m.State().Seq%2 == 0 {
			return &machine.LabelChanged{Meta: meta, Key: text, Value: text}
		}
		return &machine.TitleChanged{Meta: meta, Title: text}
	}
	switch c.rng.IntN(42) {
	case 40, 41:
		meta.Origin = &machine.Origin{Session: "s-1", Run: r.ID}
		return &machine.Delivered{Meta: meta, Ended: any1(c, "", r.ID, r.ID)}
	case 0:
		meta.Origin = &machine.Origin{Session: "s-1", Run: r.ID}
		return &machine.Undone{Meta: meta, Calls: any1(c, nil, []machine.UndoneCall{{}},
			[]machine.UndoneCall{{Call: call}}), Message: any1(c, provider.Message{}, message)}
	case 1:
		return &machine.Snapshot{Meta: meta,
			State: any1(c, nil, &machine.State{}, &machine.State{Run: &machine.RunState{}}, c.m.State(), c.m.State())}
	case 2, 3, 4:
		meta.Origin = &machine.Origin{Session: "s-1", Run: r.ID}
		return c.compacted(meta, message)
	case 5:
		return &machine.NoteWritten{Meta: meta, Category: any1(c, "a", "a", ""), Index: c.m.State().Note("a").Index +
			c.rng.IntN(2), Share: any1(c, .5, .5, -1, math.NaN())}
	case 6, 7:
		if r.IsOpen() {
			return &machine.RunEnded{Meta: meta, Status: machine.Stopped, Code: machine.CodeContextReset}
		}
	}
	kind := c.rng.IntN(18)
	if c.rng.IntN(4) > 0 { // mostly of a kind that may come now
		switch {
		case !r.IsOpen():
			kind = 0
		case r.Status == machine.Paused:
			kind = any1(c, 9, 12, 16)
		case r.Stage == machine.StageReady:
			kind = 1
		case r.Stage == machine.StageCalling:
			kind = any1(c, 3, 3, 3, 6)
		case r.Stage == machine.StageActing:
			kind = any1(c, 7, 7, 9, 9, 9, 11, 12)
		case r.Stage == machine.StageReplied:
			kind = any1(c, 1, 14, 17)
		}
	}
	switch kind {
	case 0:
		f := &machine.RunStarted{Meta: meta, Message: message, Limits: new(machine.DefaultLimits())}
		if c.rng.IntN(4) == 0 {
			f.Queue = &machine.Queue{Attempts: c.rng.IntN(3)}
		}
		if c.rng.IntN(3) == 0 {
			f.History = []provider.Message{provider.User("before"), message}
		}
		if c.rng.IntN(4) == 0 || r.Code == machine.CodeContextReset {
			f.ContextReset = &machine.ContextResetState{Index: r.ContextResets() + c.rng.IntN(2),
				From: any1(c, r.ID, r.ID, ""), Prompt: c.rng.IntN(3)}
		}
		return f
	case 1, 2:
		return &machine.StepStarted{Meta: meta, Final: any1(c, "", "", "", machine.LimitSteps), Note: text}
	case 3, 4, 5:
		f := &machine.Replied{Meta: meta,
			Message: provider.Message{Role: any1(c, provider.RoleAssistant, provider.RoleAssistant, provider.RoleUser)},
			Stop: any1(c, provider.StopDone, provider.StopToolCalls, provider.StopToolCalls, provider.StopToolCalls,
				provider.StopToolCalls, provider.StopPaused, provider.StopLength, "")}
		for n := range c.rng.IntN(4) {
			calls := len((&provider.Message{Parts: f.Message.Parts}).Calls())
			id := any1(c, machine.CallID(r.ID, r.Step, calls), machine.CallID(r.ID, r.Step, calls),
				machine.CallID(r.ID, r.Step, calls), machine.CallID(r.ID, r.Step, n))
			f.Message.Parts = append(f.Message.Parts, any1(c, provider.TextPart("hi"),
				provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: id, Name: "a"}}))
		}
		return f
	case 6:
		return &machine.StepFailed{Meta: meta, Partial: any1(c, message, provider.Message{})}
	case 7, 8:
		return &machine.ToolStarted{Meta: meta, Call: any1(c, call, call, call, nil), Repeatable: c.rng.IntN(3) == 0}
	case 9, 10:
		res := &machine.ToolResult{Status: any1(c, tools.OK, tools.Failed, tools.Rejected, tools.Answered,
			tools.InDoubt, "")}
		res.CallID = name
		return &machine.ToolFinished{Meta: meta, Call: call, Result: any1(c, res, res, res, nil)}
	case 11:
		p := machine.Pause{ID: pause, Kind: any1(c, machine.PauseApproval, machine.PauseInDoubt,
			machine.PauseCorrection, "question", ""), Call: *call}
		if c.rng.IntN(3) == 0 {
			p.Replaces = []string{fmt.Sprint("p-", c.rng.IntN(6))}
		}
		return &machine.Suspended{Meta: meta, Pause: p}
	case 12, 13:
		return &machine.Decided{Meta: meta,
			Decision: machine.Decision{ID: pause,
				Kind: any1(c, machine.Approved, machine.Rejected, machine.Edited, machine.Suggested,
					machine.AnswerGiven, machine.AlwaysAllow, machine.Expired, machine.Superseded, "maybe"),
				Input: json.RawMessage(`{"e":1}`)}}
	case 14:
		return any1[machine.Fact](c, &machine.Steered{Meta: meta, Message: message},
			&machine.SentBack{Meta: meta, Why: any1(c, machine.SendBackHook, machine.SendBackOutput, "x"), Text: text})
	case 15:
		return any1[machine.Fact](c, &machine.ModeChanged{Meta: meta, To: text},
			&machine.PhaseChanged{Meta: meta, To: text}, &machine.ContextResetRequested{Meta: meta},
			&machine.Emitted{Meta: meta, Kind: text})
	case 16:
		return any1[machine.Fact](c, &machine.Continued{Meta: meta},
			&machine.ToolsChanged{Meta: meta, Tools: any1(c, []machine.ToolFingerprint{{Name: name}}, nil)})
	}
	return &machine.RunEnded{Meta: meta,
		Status: any1(c, machine.Completed, machine.Stopped, machine.Failed, machine.Paused, machine.Running, "")}
}

// compacted returns a compaction with random spans, few of which are legal.
func (c *chaos) compacted(meta machine.Meta, message provider.Message) machine.Fact {
	f := &machine.Compacted{Meta: meta, Report: any1(c, &memory.Report{}, &memory.Report{}, nil)}
	for at, n := 0, len(c.m.State().Messages); at < n && c.rng.IntN(5) > 0; {
		p := machine.Span{From: at + c.rng.IntN(3) - 1, To: at + c.rng.IntN(4)}
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

// accepted checks what must be true after a fact that was accepted.
func (c *chaos) accepted(f machine.Fact, seed int) {
	switch f := f.(type) {
	case *machine.ToolStarted:
		require.False(c.t, c.starts[f.Call.ID], "seed %d: call %s was started twice", seed, f.Call.ID)
		require.False(c.t, c.closed[f.Call.ID], "seed %d: call %s was started after it had been turned down", seed,
			f.Call.ID)
		require.Equal(c.t, machine.Running, c.m.State().Run.Status)
		c.starts[f.Call.ID] = !f.Repeatable
	case *machine.Suspended:
		c.pauses[f.Pause.ID] = f.Meta.Call
	case *machine.Decided:
		switch call := c.pauses[f.Decision.ID]; f.Decision.Kind {
		case machine.Approved, machine.Edited, machine.AlwaysAllow:
			c.starts[call] = false // a person lets it run, for the first time or in doubt
		default:
			c.closed[call] = true
		}
	}
	if r := c.m.State().Run; r.First < 0 || r.First >= len(c.m.State().Messages) {
		require.Failf(c.t, "the input of the run", "seed %d: message %d of %d", seed, r.First,
			len(c.m.State().Messages))
	}
	if a := c.m.Next(); a.Kind == machine.ActCallModel || !c.m.State().Run.IsOpen() {
		require.NoError(c.t, balanced(c.m.State().Messages), "seed %d", seed)
	}
}
