package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestAConfigThatCantWorkIsRefused(t *testing.T) {
	var done effects
	work := done.tool(tools.Spec{Name: "work"})
	var none *providertest.Model
	model := providertest.Script()
	for name, c := range map[string]struct {
		cfg  agent.Config
		says string
	}{
		"no provider":   {agent.Config{}, "Provider"},
		"a nil pointer": {agent.Config{Provider: none}, "Provider"},
		"two tools": {agent.Config{Provider: model, Tools: []tools.Tool{work, work}},
			`two tools have this name`},
		"a nil tool": {agent.Config{Provider: model, Tools: []tools.Tool{nil}}, "nil"},
		"no schema": {agent.Config{Provider: model,
			Tools: []tools.Tool{tools.New(tools.Spec{Name: "x"},
				func(context.Context, struct{ C chan int }) (string, error) { return "", nil })}}, "x"},
		"an output": {agent.Config{Provider: model,
			Tools: []tools.Tool{tools.New(tools.Spec{Name: "x"}, func(context.Context, recursive) (chan int, error) {
				return nil, nil
			})}}, "the output type chan int"},
		"a note": {agent.Config{Provider: model,
			Memory: &agent.Memory{ProgressNotes: []notes.Progress{notes.ProgressOf("x",
				notes.ByModel[struct{ C chan int }](nil, ""))}}}, "chan int"},
		"no function": {agent.Config{Provider: model,
			Tools: []tools.Tool{tools.Func[Number, string]{Spec: tools.Spec{Name: "x"}}}}, "Run"},
		"a nil policy": {agent.Config{Provider: model, Policies: []tools.Policy{nil}}, "Policies[0]"},
		"a long owner": {agent.Config{Provider: model, Owner: strings.Repeat("x", 257)}, "Owner"},
		"an odd owner": {agent.Config{Provider: model, Owner: "a\nb"}, "Owner"},
		"a broken option": {agent.Config{Provider: model, Params: agent.Params{
			Options: map[string]json.RawMessage{"x": []byte("{")}}}, `Options["x"]`},
		"two modes":       {agent.Config{Provider: model, Modes: []agent.Mode{{Name: "a"}, {Name: "a"}}}, "Modes[1]"},
		"a nameless mode": {agent.Config{Provider: model, Modes: []agent.Mode{{}}}, "Modes[0]"},
		"an unknown mode": {agent.Config{Provider: model,
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "x", Modes: []string{"b"}})}}, `"b"`},
		"a needed tool": {agent.Config{Provider: model,
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "x", Requires: []string{"y"}})}}, `"y"`},
		"a negative figure": {agent.Config{Provider: model, Params: agent.Params{MaxOutput: -1}}, "MaxOutput"},
		"what isn't there":  {agent.Config{Provider: model, InDoubt: 7}, "InDoubt"},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := agent.New(c.cfg)
			require.Nil(t, a)
			var bad *agent.ArgError
			require.ErrorAs(t, err, &bad)
			require.Contains(t, bad.Field, "Config.")
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestAToolWhoseTypesJSONHasNoFormForIsATypedErrorOfNew(t *testing.T) {
	_, err := agent.New(agent.Config{Provider: providertest.Script(), Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "x"}, func(context.Context, struct{}) (chan int, error) { return nil, nil })}})
	var bad *tools.SpecError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "x", bad.Tool)
	require.Contains(t, bad.Problem, "chan int")
	_, err = agent.New(agent.Config{Provider: providertest.Script(), Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "x"}, func(context.Context, recursive) (recursive, error) {
			return recursive{}, nil
		})}})
	require.NoError(t, err)
}

type recursive struct {
	Next *recursive `json:"next"`
}

func TestLimitsThatAreOffAreTaken(t *testing.T) {
	off := agent.Limits{Steps: -1, StepsPerPhase: -1, Tokens: -1, Cost: -1, Duration: -1, PromptBytes: -1,
		MediaBytes:    -1,
		ParallelCalls: -1, Repeats: -1, Corrections: -1, SendBacks: -1, OutputCorrections: -1, Idle: -1}
	var done effects
	a, _ := scripted(t,
		agent.Config{Limits: off, Tools: []tools.Tool{done.tool(tools.Spec{Name: "work", ParallelSafe: true})}},
		calls("work", 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), say("Done."))
	require.Equal(t, "Done.", run(t, a).Text())
	require.Equal(t, 12, done.of(1))
}

func TestAnInputThatCantBeTakenBeginsNothing(t *testing.T) {
	call := &provider.ToolCall{Name: "x"}
	for name, c := range map[string]struct {
		in    agent.Work
		field string
	}{
		"nothing":              {agent.Input{}, "Prompt"},
		"blanks":               {agent.Input{Prompt: " \n\t"}, "Prompt"},
		"no UTF-8":             {agent.Input{Prompt: "a\xff"}, "Prompt"},
		"a part without UTF-8": {agent.Input{Parts: []provider.Part{provider.TextPart("\xff")}}, "Parts"},
		"a part of a model": {agent.Input{Prompt: "x",
			Parts: []provider.Part{{Kind: provider.PartToolCall, Call: call}}}, "Parts"},
		"empty media": {
			agent.Input{Parts: []provider.Part{provider.MediaPart(provider.Media{Type: "image/png"})}}, "Parts"},
		"no media":         {agent.Input{Parts: []provider.Part{{Kind: provider.PartMedia}}}, "Parts"},
		"a session's name": {agent.Input{Session: "a\x00b", Prompt: "x"}, "Session"},
		"a long name":      {agent.Input{Session: strings.Repeat("a", 513), Prompt: "x"}, "Session"},
		"an unknown mode":  {agent.Input{Prompt: "x", Mode: "fast"}, "Mode"},
		"an unknown choice": {agent.Input{Prompt: "x", ToolChoice: provider.ToolChoice{Mode: "maybe"}},
			"ToolChoice"},
		"an unknown tool": {agent.Input{Prompt: "x",
			ToolChoice: provider.ToolChoice{Mode: provider.ChooseTool, Tool: "y"}}, "ToolChoice"},
		"resume without a name": {agent.Resume("", agent.Approve("p")), "Session"},
		"continue of no name":   {agent.Continue(""), "Session"},
	} {
		for where, store := range stores {
			t.Run(name+" "+where, func(t *testing.T) {
				a, model := scripted(t, agent.Config{Journal: store()})
				res, err := a.Run(t.Context(), c.in)
				var bad *agent.ArgError
				require.ErrorAs(t, err, &bad)
				require.Equal(t, strings.TrimPrefix(reflect.TypeOf(c.in).String(), "agent.")+"."+c.field, bad.Field)
				require.Nil(t, res)
				model.AssertCalls(t, 0)
				all, serr := events(a.Stream(t.Context(), c.in))
				require.Empty(t, all)
				require.Equal(t, err, serr)
			})
		}
	}
}

func TestHistoryThatIsNoUTF8IsRefused(t *testing.T) {
	bad := provider.TextPart("\xff")
	for name, msg := range map[string]provider.Message{
		"text": {Role: provider.RoleUser, Parts: []provider.Part{bad}},
		"result": {Role: provider.RoleTool,
			Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: "1", Parts: []provider.Part{bad}})}},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{})
			_, err := a.Run(t.Context(), agent.Input{Prompt: "x", History: []provider.Message{msg}})
			var in *agent.ArgError
			require.ErrorAs(t, err, &in)
			require.Equal(t, "Input.History", in.Field)
		})
	}
}

func TestThereIsNothingToGoOnWith(t *testing.T) {
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{Journal: store()}, say("Hi."))
			for _, in := range []agent.Work{agent.Continue("s"), agent.Resume("s", agent.Approve("p"))} {
				_, err := a.Run(t.Context(), in)
				var nothing *agent.SessionError
				require.ErrorIs(t, err, agent.ErrNothingOpen)
				require.ErrorAs(t, err, &nothing)
				require.Empty(t, nothing.Status)
			}
			require.Empty(t, facts(t, a, "s"))
			run(t, a)
			for _, in := range []agent.Work{agent.Continue("s"), agent.Resume("s", agent.Approve("p"))} {
				_, err := a.Run(t.Context(), in)
				var nothing *agent.SessionError
				require.ErrorIs(t, err, agent.ErrNothingOpen)
				require.ErrorAs(t, err, &nothing)
				require.Equal(t, agent.Completed, nothing.Status)
			}
		})
	}
}

func TestAPromptIsBoundedToTheByte(t *testing.T) {
	const limit = 4 << 20
	a, _ := scripted(t, agent.Config{}, say("Long."), say("Long."))
	for _, in := range []agent.Input{
		{Prompt: strings.Repeat("a", limit+1)},
		{Prompt: "a", Parts: []provider.Part{provider.TextPart(strings.Repeat("a", limit))}},
	} {
		_, err := a.Run(t.Context(), in)
		var le *agent.LimitError
		require.ErrorAs(t, err, &le)
		require.Equal(t, machine.LimitPromptBytes, le.Limit)
		require.EqualValues(t, limit, le.Max)
		require.EqualValues(t, limit+1, le.Have)
	}
	require.Equal(t, "Long.", runInput(t, a, agent.Input{Prompt: strings.Repeat("a", limit)}).Text())
	_, err := a.Run(t.Context(),
		agent.Input{Parts: []provider.Part{
			provider.MediaPart(provider.Media{Type: "image/png", Data: make([]byte, 32<<20+1)})}})
	var le *agent.LimitError
	require.ErrorAs(t, err, &le)
	require.Equal(t, machine.LimitMediaBytes, le.Limit)
}

func TestDeeplyNestedArgumentsHarmNothing(t *testing.T) {
	for _, depth := range []int{200, 9_990, 10_000, 100_000} {
		var done effects
		cfg := agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}}
		deep := `{"n":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
		a, _ := scripted(t, cfg, providertest.Unfit(providertest.Call("work", deep)), say("I see."))
		require.Equal(t, "I see.", run(t, a).Text())
		require.Equal(t, tools.Invalid, finished(t, a, "s")[0].Status)
		require.Zero(t, done.all())
		requireSound(t, "s", facts(t, a, "s"))
		require.Equal(t, "Still here.", run(t, reopen(t, cfg, say("Still here."))).Text(), "depth %d", depth)
	}
}

func TestAnEmptyReplyIsNoAnswer(t *testing.T) {
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{Journal: store()}, providertest.Empty(), say("Now."))
			res := run(t, a)
			require.Equal(t, agent.Stopped, res.Status)
			require.Equal(t, machine.CodeEmpty, res.Code)
			require.ErrorIs(t, res.Err(), machine.ErrNoAnswer)
			require.Empty(t, res.Text())
			read, err := a.Session("s").Result(t.Context())
			require.NoError(t, err)
			require.Equal(t, res.Err(), read.Err())
			require.Equal(t, "Now.", run(t, a).Text())
		})
	}
}

func TestAHugeReplyComesWhole(t *testing.T) {
	const size = 4 << 20
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{Journal: store(), Limits: agent.Limits{ReplyBytes: -1}},
				providertest.Huge(size))
			n := 0
			var res *agent.Result
			for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
				require.NoError(t, err)
				switch ev := ev.(type) {
				case *agent.TextDelta:
					n += len(ev.Text)
				case *agent.RunEnded:
					res = ev.Result
				}
			}
			require.Equal(t, size, n)
			require.Len(t, res.Text(), size)
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestImagesReachTheModel(t *testing.T) {
	png := provider.Media{Type: "image/png", Name: "roof.png", Data: []byte{0x89, 'P', 'N', 'G'}}
	a, model := scripted(t, agent.Config{Journal: &journal.MapStore{}}, say("A roof."), say("Still a roof."))
	in := agent.Input{Session: "s", Prompt: "What is this?",
		Parts: []provider.Part{provider.MediaPart(png), provider.TextPart("And why?")}}
	require.Equal(t, "A roof.", runInput(t, a, in).Text())
	run(t, a)
	for i := range 2 { // the second comes from the journal
		parts := model.Requests()[i].Messages[0].Parts
		require.Len(t, parts, 3)
		require.Equal(t, &png, parts[1].Media)
		require.Equal(t, "And why?", parts[2].Text)
	}
}

func TestAHistoryBeginsANewSessionAndIsRepaired(t *testing.T) {
	history := []provider.Message{
		provider.User("Look it up."),
		{Role: provider.RoleAssistant,
			Parts: []provider.Part{{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "1", Name: "work"}}}},
		provider.User("Well?"),
		{Role: provider.RoleTool,
			Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: "9", Name: "work"})}},
	}
	a, model := scripted(t, agent.Config{}, say("Hi."), say("Hi."))
	in := agent.Input{Session: "s", Prompt: "go", History: history}
	res := runInput(t, a, in)
	require.Len(t, res.Messages, 2, "a run's messages are its own")
	sent := model.Requests()[0].Messages
	require.Len(t, sent, 5)
	require.Equal(t, "1", sent[2].Parts[0].Result.CallID)
	require.True(t, sent[2].Parts[0].Result.Error)
	require.Equal(t, "go", sent[4].Text())
	_, err := a.Run(t.Context(), in)
	var bad *agent.ArgError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "Input.History", bad.Field)
	model.AssertCalls(t, 1)
}

func TestARefusedInputSupersedesNothing(t *testing.T) {
	var done effects
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}},
		call("risky", 1), say("Done."))
	paused := run(t, a)
	for _, in := range []agent.Input{
		{Session: "s", Prompt: "x", Supersede: true, History: []provider.Message{provider.User("x")}},
		{Session: "s", Prompt: "x", Supersede: true, Mode: "none"},
	} {
		_, err := a.Run(t.Context(), in)
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad)
		require.Contains(t, bad.Field, "Input.")
	}
	require.Equal(t, "Done.", runInput(t, a, approveAll(paused)).Text(), "the pause is still there")
	require.Equal(t, 1, done.of(1))
}

func TestANilContextHarmsNothing(t *testing.T) {
	var none context.Context
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{Journal: store()}, say("Hi."), say("Hi."), providertest.Call("x", nil))
			res, err := a.Run(none, agent.Input{Session: "s", Prompt: "go"})
			require.NoError(t, err)
			require.Equal(t, "Hi.", res.Text())
			_, err = events(a.Stream(none, agent.Input{Session: "s", Prompt: "go"}))
			require.NoError(t, err)
			_, err = a.Session("s").Facts(none)
			require.NoError(t, err)
			_, err = a.Session("s").Pending(none)
			require.NoError(t, err)
			_, err = a.Session("s").Steer(none, "hello")
			require.ErrorIs(t, err, agent.ErrNothingOpen)
			require.ErrorIs(t, a.Session("s").Stop(none), agent.ErrNothingOpen)
			require.ErrorIs(t, a.Session("s").Pause(none), agent.ErrNothingOpen)
			require.ErrorIs(t, a.Session("s").Cancel(none), agent.ErrNothingOpen)
			require.NoError(t, a.Session("s").Delete(none))
			require.Error(t, agent.SwitchMode(none, "a", ""))
			require.Error(t, agent.SetPhase(none, "a"))
		})
	}
}

func TestAStreamIsRangedOverOnce(t *testing.T) {
	a, model := scripted(t, agent.Config{}, say("Hi."), say("Hi."))
	seq := a.Stream(t.Context(), agent.Input{Prompt: "go"})
	_, err := events(seq)
	require.NoError(t, err)
	all, err := events(seq)
	require.Empty(t, all)
	require.ErrorIs(t, err, provider.ErrConsumed)
	model.AssertCalls(t, 1)
}

func TestAFailedRunHasItsErrorAndItsResult(t *testing.T) {
	cause := errors.New("no such key")
	a, _ := scripted(t, agent.Config{}, providertest.Fail(fault.UserFixable, providertest.Cause(cause)))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.ErrorIs(t, err, cause)
	var pe *provider.Error
	require.ErrorAs(t, err, &pe)
	require.Equal(t, agent.Failed, res.Status)
	require.Equal(t, err, res.Err())
	require.Equal(t, "go", res.Messages[0].Text())
}

func TestAnUnnamedSessionIsForgottenUnlessItIsPaused(t *testing.T) {
	var done effects
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}},
		say("Hi."), call("risky", 1), say("Done."))
	res := runInput(t, a, agent.Input{Prompt: "go"})
	require.NotEmpty(t, res.Session)
	_, err := a.Run(t.Context(), agent.Continue(res.Session))
	var nothing *agent.SessionError
	require.ErrorIs(t, err, agent.ErrNothingOpen)
	require.ErrorAs(t, err, &nothing)
	require.Empty(t, nothing.Status)

	res = runInput(t, a, agent.Input{Prompt: "go"})
	require.Equal(t, agent.Paused, res.Status)
	pending, err := a.Session(res.Session).Pending(t.Context())
	require.NoError(t, err)
	require.Equal(t, res.Pending, pending)
	require.Equal(t, "Done.", runInput(t, a, approveAll(res)).Text())
	_, err = a.Session(res.Session).Facts(t.Context())
	require.NoError(t, err)
	pending, err = a.Session(res.Session).Pending(t.Context())
	require.NoError(t, err)
	require.Empty(t, pending)
}

func TestAPriorityThatDoesNotFitIsAnError(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("each int fits")
	}
	a, model := scripted(t, agent.Config{}, say("ok"))
	large := int64(1)<<32 + 5
	_, err := a.Run(t.Context(), agent.Input{Prompt: "hi", Priority: int(large)})
	var wrong *agent.ArgError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "Input.Priority", wrong.Field)
	model.AssertCalls(t, 0)
}
