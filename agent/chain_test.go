package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// noted is a ContextReset whose notes cost nothing.
func noted() *notes.ContextReset {
	return &notes.ContextReset{Write: func(_ context.Context, in *notes.Input) (notes.ResetNote, error) {
		return notes.ResetNote{Done: []string{fmt.Sprint("part ", in.Index)}}, nil
	}}
}

// handing is a tool that asks for a context reset of its run, through next.
func handing(name string, then func(ctx context.Context, in Number) (string, error)) tools.Tool {
	return tools.New(tools.Spec{Name: name}, func(ctx context.Context, in Number) (string, error) {
		text, err := then(ctx, in)
		return text, errors.Join(err, agent.RequestContextReset(ctx))
	})
}

func TestWhatAPersonSaidIsToldInEveryRunOfAChainHoweverMuchTheAgentHasSaid(t *testing.T) {
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			var a *agent.Agent
			mem := small()
			mem.ContextReset = noted()
			say1 := tools.New(tools.Spec{Name: "said"}, func(ctx context.Context, in Number) (string, error) {
				_, err := a.Session("s").Steer(ctx, fmt.Sprintf("delete nothing in %d!", in.N))
				return fmt.Sprint("ok ", in.N), err
			})
			ok := func(context.Context, Number) (string, error) { return "ok", nil }
			look := tools.New(tools.Spec{Name: "look", ReadOnly: true},
				func(_ context.Context, in Number) (string, error) { return fmt.Sprint("ok ", in.N), nil })
			steps := []providertest.Step{call("said", 1)}
			for n := range 25 {
				steps = append(steps, call("look", n))
			}
			steps = append(steps, call("next", 1), call("said", 2), call("next", 2), call("look", 1), say("done"))
			cfg := agent.Config{Memory: mem, Tools: []tools.Tool{say1, look, handing("next", ok)}, Journal: store(),
				Limits: agent.Limits{Steps: 60},
				Hooks: []agent.Hooks{{BeforeStep: func(context.Context, *agent.Step) error {
					return agent.Warn("mind the gap")
				}}}}
			a, _ = scripted(t, cfg, steps...)
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
			require.NoError(t, err)
			starts := of[*agent.RunStarted](all)
			require.Len(t, starts, 3)
			require.Contains(t, starts[1].Message.Parts[1].Text, "delete nothing in 1!")
			require.NotContains(t, starts[1].Message.Parts[1].Text, "mind the gap", "no person has said that")
			require.Contains(t, starts[2].Message.Parts[1].Text, "- delete nothing in 1!\n- delete nothing in 2!\n")
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestUndoTakesBackWhatTheRunsBeforeAContextResetDid(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		s := &shelf{things: map[int]bool{}}
		mem := small()
		mem.ContextReset = noted()
		list := append(s.tools(), handing("next", func(context.Context, Number) (string, error) { return "ok", nil }))
		a, _ := scripted(t, agent.Config{Memory: mem, Journal: store, Tools: list},
			call("put", 9), say("Another run."), call("put", 1), call("next", 0), call("put", 2), call("next", 0),
			call("put", 3), say("Done."))
		run(t, a)
		run(t, a)
		got, err := a.Session("s").Undo(t.Context(), agent.Rollback{Steps: 2})
		require.NoError(t, err)
		require.Len(t, got.Undone, 1, "the last two steps: a put, and the context reset")
		got, err = a.Session("s").Undo(t.Context(), agent.Rollback{})
		require.NoError(t, err)
		require.Equal(t, []string{"3 300", "2 200", "1 100"}, s.log)
		require.Len(t, got.Undone, 2)
		require.Equal(t, map[int]bool{9: true}, s.things)
	})
}

// expensive is a model whose notes cost 1,000 tokens each, and are what note returns.
func expensive(note func() (*provider.Response, error), steps func(n int) *provider.Response) provider.Provider {
	n := 0
	return providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		if req.Labels.Kind == "note" || req.Labels.Kind == "summary" {
			r, err := note()
			if r != nil {
				r.Usage = provider.Usage{Input: 900, Output: 100}
			}
			return r, err
		}
		n++
		r := steps(n)
		r.Usage = provider.Usage{Output: 10}
		return r, nil
	})
}

func answer(text string) *provider.Response {
	return provider.TextResponse(text)
}

func TestNotesThatFailAreBookedAndCountTowardsTheLimits(t *testing.T) {
	p := expensive(func() (*provider.Response, error) {
		return answer("I'd rather not"), nil
	}, func(n int) *provider.Response {
		switch n {
		case 1:
			return callOf("next", Number{1})
		}
		return answer("done")
	})
	mem := small()
	mem.ContextReset = &notes.ContextReset{}
	a := newAgent(t, agent.Config{Provider: p, Memory: mem,
		Tools: []tools.Tool{handing("next", func(context.Context, Number) (string, error) { return "ok", nil })}})
	res := run(t, a)
	require.Equal(t, agent.Completed, res.Status)
	require.Equal(t, int64(2*10+4*1_000), res.Usage.Total(), "two tries of two answers each")
	var kept []*machine.NoteWritten
	for _, f := range facts(t, a, "s") {
		if f, ok := f.(*machine.NoteWritten); ok {
			kept = append(kept, f)
		}
	}
	require.Len(t, kept, 1)
	require.Contains(t, kept[0].Error, "schema")
	require.Empty(t, kept[0].Note)
	found, err := notes.Read[notes.ResetNote](facts(t, a, "s"), "context_reset")
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestANoteThatIsBrokenOffIsBooked(t *testing.T) {
	for _, what := range []string{"checkpoint", "context reset"} {
		t.Run(what, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			mem := small()
			write := func(_ context.Context, in *notes.Input) (notes.ResetNote, error) {
				in.Book(provider.Usage{Input: 900, Output: 100}, 0)
				cancel()
				return notes.ResetNote{}, nil
			}
			if mem.ContextReset = (&notes.ContextReset{Write: write}); what == "checkpoint" {
				mem.ProgressNotes, mem.ContextReset = []notes.Progress{notes.ProgressOf("c", write, .0001)},
					noted()
			}
			a, _ := scripted(t,
				agent.Config{Memory: mem,
					Tools: []tools.Tool{handing("next", func(context.Context, Number) (string, error) {
						return "ok", nil
					})}}, call("next", 1), say("done"))
			res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, machine.CodeCanceled, res.Code)
			require.GreaterOrEqual(t, res.Usage.Total(), int64(1_000))
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestASummaryIsBookedThoughTheRequestDoesNotFitAfterIt(t *testing.T) {
	large := 0
	p := expensive(func() (*provider.Response, error) {
		return answer("in short"), nil
	}, func(n int) *provider.Response {
		if n > 12 {
			return answer("done")
		}
		return callOf("read", Number{n})
	})
	mem := small(memory.Step{Strategy: summariser(t, p)})
	mem.Context = func(context.Context, agent.ContextInput) (memory.Context, error) {
		return memory.Context{Screen: strings.Repeat("word ", large)}, nil
	}
	a := newAgent(t,
		agent.Config{Provider: p, Memory: mem, Tools: []tools.Tool{reading(300)}, Limits: agent.Limits{Steps: 50}})
	run(t, a)
	large = 20_000 // nothing makes room for that
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "and now?"})
	require.ErrorIs(t, err, memory.ErrContextTooLarge)
	require.Equal(t, int64(1_000), res.Usage.Total())
	requireSound(t, "s", facts(t, a, "s"))
}

// A recorded model keeps the requests that it got.
type recorded struct{ requests []*provider.Request }

func (r *recorded) Requests() []*provider.Request { return r.requests }

// unmeasured is scripted with a model that doesn't say what requests take.
func unmeasured(t testing.TB, cfg agent.Config, steps ...providertest.Step) (*agent.Agent, *recorded) {
	t.Helper()
	m := new(recorded)
	cfg.Provider = providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		m.requests = append(m.requests, req)
		r := steps[len(m.requests)-1].Response()
		r.Usage = provider.Usage{Output: 10}
		return r, nil
	})
	return newAgent(t, cfg), m
}

func TestTheInputOfAChainIsVerbatimThoughItHadToBeCut(t *testing.T) {
	prompt := "begin " + strings.Repeat("word ", 12_000) + "end"
	mem := small()
	mem.ContextReset = noted()
	mem.ContextReset.At = 1
	a, m := unmeasured(t,
		agent.Config{Memory: mem,
			Tools: []tools.Tool{reading(800), handing("next", func(context.Context, Number) (string, error) {
				return "ok", nil
			})}, Limits: agent.Limits{Steps: 50}},
		call("read", 1), call("read", 2), call("read", 3), call("read", 4), call("read", 5), call("read", 6),
		call("next", 1), call("read", 7), say("done"))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: prompt}))
	require.NoError(t, err)
	for i, req := range m.Requests() {
		require.LessOrEqual(t, memory.CountRequest(memory.NewEstimator(provider.ModelInfo{}), req).Total, 9_000,
			"request %d", i)
		require.True(t, strings.HasPrefix(req.Messages[0].Text(), "begin "))
	}
	for i, s := range of[*agent.RunStarted](all) {
		require.True(t, prompt == s.Message.Parts[0].Text, "run %d", i)
	}
	require.Greater(t, len(of[*agent.RunStarted](all)), 1)
}

func TestAPromptNearlyAsBigAsTheWindowComesToAnEnd(t *testing.T) {
	for _, words := range []int{6_500, 7_500, 20_000} {
		mem := small()
		mem.ContextReset = noted()
		a, m := unmeasured(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(800)},
			Limits: agent.Limits{Steps: 20, PromptBytes: -1}}, reads(15)...)
		all, err := events(a.Stream(t.Context(),
			agent.Input{Session: "s", Prompt: "begin " + strings.Repeat("word ", words)}))
		require.NoError(t, err, "%d words", words)
		ends := of[*agent.RunEnded](all)
		require.Equal(t, agent.Completed, ends[len(ends)-1].Status, "%d words", words)
		require.LessOrEqual(t, len(ends), 11)
		for _, end := range ends {
			require.Positive(t, end.Result.Steps, "nobody hands off what wasn't begun")
		}
		for i, req := range m.Requests() {
			require.LessOrEqual(t, memory.CountRequest(memory.NewEstimator(provider.ModelInfo{}), req).Total, 9_000,
				"%d words, request %d", words, i)
		}
	}
}

func machineOf(t *testing.T, a *agent.Agent, session string) *machine.Machine {
	m, err := machine.Replay(session, facts(t, a, session)...)
	require.NoError(t, err)
	return m
}

func TestAContextResetIsAskedForAfterACompactionThatRulesWant(t *testing.T) {
	for at, runs := range map[float64]int{.55: 1, .15: 3} {
		mem := small(memory.Step{Strategy: memory.Slide{}})
		mem.Rules, mem.Keep = []memory.Rule{{When: memory.AtShare(.5), Target: .1}}, 1
		mem.ContextReset = noted()
		mem.ContextReset.At, mem.ContextReset.Most = at, 2
		a, _ := unmeasured(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(2_600)},
			Limits: agent.Limits{Steps: 50}}, reads(9)...)
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.NoError(t, err)
		require.Len(t, of[*agent.RunStarted](all), runs, "%v", at)
		if runs == 1 {
			require.NotEmpty(t, of[*machine.Compacted](all))
		}
	}
}

func TestTheLastCallOfARunHandsNothingOff(t *testing.T) {
	t.Run("without rules", func(t *testing.T) { lastCall(t, nil) })
	t.Run("with rules", func(t *testing.T) { lastCall(t, []memory.Rule{{When: memory.AtShare(.7)}}) })
}

func lastCall(t *testing.T, rules []memory.Rule) {
	mem := small()
	mem.ContextReset, mem.Rules = noted(), rules
	a, m := scripted(t, agent.Config{Memory: mem, Limits: agent.Limits{Steps: 1},
		Tools: []tools.Tool{handing("next", func(context.Context, Number) (string, error) { return "ok", nil })}},
		call("next", 1), say("here I stand"))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	require.Len(t, of[*agent.RunStarted](all), 1)
	require.Equal(t, "here I stand", of[*agent.RunEnded](all)[0].Result.Text())
	require.Empty(t, m.Requests()[1].Tools)
}

// TestARunAndThoseThatGoOnWithItsWorkAreOneToTheirLimits: what an input asks for holds for the
// whole chain.
func TestWhatAnInputAsksForHoldsForTheWholeChain(t *testing.T) {
	mem := small()
	mem.ContextReset = noted()
	mem.ContextReset.Write = func(_ context.Context, in *notes.Input) (notes.ResetNote, error) {
		in.Book(provider.Usage{Input: 100}, 7)
		in.Book(provider.Usage{Input: 100}, 5)
		return notes.ResetNote{}, nil
	}
	phase := tools.New(tools.Spec{Name: "phase"}, func(ctx context.Context, in Number) (string, error) {
		return "ok", agent.SetPhase(ctx, "two")
	})
	next := handing("next", func(context.Context, Number) (string, error) { return "ok", nil })
	a, m := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{phase, next}},
		call("phase", 1), call("next", 1), say("no JSON"), call("next", 1), say("no JSON"), say("no JSON"))
	in := agent.Input{Session: "s", Prompt: "go", Interactive: true, Priority: 7, Task: "t",
		ToolChoice: provider.ToolChoice{Mode: provider.ChooseRequired},
		Limits:     &agent.Limits{OutputCorrections: 2}}
	_, res, err := agent.RunFor[Number](t.Context(), a, in)
	var output *agent.OutputError
	require.ErrorAs(t, err, &output, "the corrections of a chain are counted on")
	require.Equal(t, 6, res.Steps)
	require.Equal(t, "two", res.Phase)
	require.Equal(t, provider.Money(24), res.Cost)
	for i, req := range m.Requests() {
		require.True(t, req.Interactive)
		require.Equal(t, 7, req.Priority)
		require.Equal(t, i == 0, req.ToolChoice.Mode == provider.ChooseRequired, "request %d: it was met", i)
	}
	var starts []*agent.RunStarted
	for _, f := range facts(t, a, "s") {
		if f, ok := f.(*agent.RunStarted); ok {
			starts = append(starts, f)
		}
	}
	require.Len(t, starts, 3)
	for _, s := range starts {
		require.Equal(t, 2, s.Own.OutputCorrections)
		require.Equal(t, starts[0].Tools, s.Tools)
		require.Equal(t, starts[0].Trace(), s.Trace())
	}
}

func TestAForcedChoiceThatWasNotMetIsForcedInTheFreshRun(t *testing.T) {
	mem := small()
	mem.ContextReset = noted()
	mem.ContextReset.At = .1
	a, m := unmeasured(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(1)},
		Hooks: []agent.Hooks{{BeforeFinish: func(_ context.Context, r *agent.Result) error {
			if r.Steps == 1 {
				return agent.SendBack("read it first")
			}
			return nil
		}}}}, say(strings.Repeat("no ", 1_500)), call("read", 1), say("done"))
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "go",
		ToolChoice: provider.ToolChoice{Mode: provider.ChooseTool, Tool: "read"}})
	require.Equal(t, "done", res.Text())
	reqs := m.Requests()
	require.Len(t, reqs[1].Messages, 1, "the context was reset")
	require.Equal(t, "read", reqs[1].ToolChoice.Tool)
	require.Empty(t, reqs[2].ToolChoice.Tool)
}

func TestAModeSwitchedRightBeforeAContextResetIsThatOfTheFreshRun(t *testing.T) {
	mem := small()
	mem.ContextReset = noted()
	next := handing("next", func(ctx context.Context, _ Number) (string, error) {
		return "ok", agent.SwitchMode(ctx, "two", "it is time")
	})
	a, m := scripted(t,
		agent.Config{Memory: mem, Tools: []tools.Tool{next}, Modes: []agent.Mode{{Name: "one"},
			{Name: "two", Model: "m2", Instructions: "be brief", Limits: &agent.Limits{Steps: 2}}}},
		call("next", 1), call("next", 2), say("here I stand"))
	res := run(t, a)
	require.Equal(t, machine.CodeLimit, res.Code)
	require.Equal(t, 3, res.Steps, "two, and the last")
	for _, req := range m.Requests()[1:] {
		require.Equal(t, "m2", req.Model)
		require.Equal(t, "be brief", req.System)
	}
}

func TestAReceiptOfAMessageSaysTheStepOfTheFreshRun(t *testing.T) {
	var a *agent.Agent
	var receipts []*agent.Receipt
	steer := func(ctx context.Context, text string) error {
		r, err := a.Session("s").Steer(ctx, text)
		receipts = append(receipts, r)
		return err
	}
	mem := small()
	mem.ContextReset = &notes.ContextReset{
		Write: func(ctx context.Context, in *notes.Input) (notes.ResetNote, error) {
			return notes.ResetNote{}, steer(ctx, "while the note is written")
		}}
	a, _ = scripted(t,
		agent.Config{Memory: mem,
			Tools: []tools.Tool{handing("next", func(ctx context.Context, _ Number) (string, error) {
				return "ok", steer(ctx, "before")
			})}},
		call("next", 1), say("done"))
	run(t, a)
	require.Len(t, receipts, 2)
	for _, r := range receipts {
		step, err := r.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, step)
	}
}

func TestAFreshRunIsRecoveredByAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r relay
		store := &weak{Store: &journal.MapStore{}, at: 30, err: death, lasts: true}
		require.False(t, r.work(t, store))
		require.NotNil(t, machineOf(t, r.agent(t, store.Store), "s").State().Run.ContextReset)
		<-time.After(time.Minute)
		n, err := r.agent(t, store.Store).Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.True(t, r.work(t, store.Store))
		r.requireDone(t, store.Store)
	})
}

func TestNothingIsWrittenForAConsumerThatHasLeft(t *testing.T) {
	mem := small()
	mem.ContextReset = noted()
	mem.ContextReset.At = .0001
	first := 0
	write := func(context.Context, *notes.Input) (int, error) {
		first++
		return 1, nil
	}
	never := func(context.Context, *notes.Input) (int, error) {
		require.Fail(t, "nobody is there any more")
		return 1, nil
	}
	mem.ContextReset.Write = func(ctx context.Context, in *notes.Input) (notes.ResetNote, error) {
		_, err := never(ctx, in)
		return notes.ResetNote{}, err
	}
	mem.ProgressNotes = []notes.Progress{notes.ProgressOf("a", write, .01),
		notes.ProgressOf("b", never, .01)}
	a, _ := unmeasured(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(800)}}, reads(3)...)
	for ev := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		if _, ok := ev.(*machine.NoteWritten); ok {
			break
		}
	}
	require.Equal(t, 1, first)
	requireSound(t, "s", facts(t, a, "s"))
}

func TestAnAnswerMayBeAllowedToBeLongerThanTheWindow(t *testing.T) {
	mem := &agent.Memory{Config: memory.Config{Window: memory.Window{Size: 10_000}}}
	mem.ContextReset = &notes.ContextReset{}
	f := &filling{t: t, upTo: 20}
	a := newAgent(t, agent.Config{Provider: providertest.Func(f.answer), Params: agent.Params{MaxOutput: 1_000_000},
		Memory: mem, Tools: []tools.Tool{reading(800)}, Limits: agent.Limits{Steps: 50}})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	ends := of[*agent.RunEnded](all)
	require.Equal(t, agent.Completed, ends[len(ends)-1].Status)
	require.Greater(t, len(ends), 2)
}

func TestWhatAFreshRunIsToldTakesAQuarterOfTheWindowAtMost(t *testing.T) {
	mem := small()
	mem.ContextReset = &notes.ContextReset{
		Write: func(context.Context, *notes.Input) (notes.ResetNote, error) {
			return notes.ResetNote{Notes: strings.Repeat("word ", 10_000)}, nil
		}}
	a, m := unmeasured(t,
		agent.Config{Memory: mem, Tools: []tools.Tool{handing("next", func(context.Context, Number) (string, error) {
			return "ok", nil
		})}}, call("next", 1), say("done"))
	run(t, a)
	n := memory.CountRequest(memory.NewEstimator(provider.ModelInfo{}),
		&provider.Request{Messages: m.Requests()[1].Messages}).Total
	require.LessOrEqual(t, n, 9_000/4+20)
	require.Greater(t, n, 1_500)
}

func TestAStructuredAnswerIsThatOfTheLastRunOfAChain(t *testing.T) {
	mem := small()
	mem.ContextReset = noted()
	a, m := scripted(t, agent.Config{Memory: mem,
		Tools: []tools.Tool{handing("next", func(context.Context, Number) (string, error) { return "ok", nil })}},
		call("next", 1), say("no JSON"), call("next", 2), say(`{"n":7}`))
	v, res, err := agent.RunFor[Number](t.Context(), a, agent.Input{Session: "s", Prompt: "go"})
	require.NoError(t, err)
	require.Equal(t, 7, v.N)
	require.Equal(t, 4, res.Steps)
	for _, req := range m.Requests() {
		require.NotNil(t, req.Output)
	}
}

func TestAMessageOfAnotherProcessIsDeliveredToTheFreshRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var receipt *agent.Receipt
		mem := small()
		mem.ContextReset = &notes.ContextReset{
			Write: func(ctx context.Context, in *notes.Input) (notes.ResetNote, error) {
				b := newAgent(t, agent.Config{Provider: providertest.Script(), Journal: store})
				var err error
				receipt, err = b.Session("s").Steer(ctx, "be quick")
				return notes.ResetNote{}, err
			}}
		a, m := scripted(t, agent.Config{Memory: mem, Journal: store,
			Tools: []tools.Tool{handing("next", func(context.Context, Number) (string, error) { return "ok", nil })}},
			call("next", 1), say("done"))
		require.Equal(t, "done", run(t, a).Text())
		step, err := receipt.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, step)
		require.Equal(t, "be quick", m.Requests()[1].LastUserText())
	})
}

func TestWhatIsAskedOfARunWhileANoteIsWrittenIsHeeded(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		for name, c := range map[string]struct {
			ask  func(ctx context.Context, a *agent.Agent) error
			code string
		}{
			"stop": {func(ctx context.Context, a *agent.Agent) error {
				return a.Session("s").Stop(ctx)
			}, machine.CodeHost},
			"pause": {func(ctx context.Context, a *agent.Agent) error {
				return a.Session("s").Pause(ctx)
			}, machine.CodeHost},
			"cancel": {func(ctx context.Context, a *agent.Agent) error { return a.Session("s").Cancel(ctx) }, ""},
			"mode": {func(ctx context.Context, a *agent.Agent) error {
				return a.Session("s").SetMode(ctx, "two")
			}, ""},
		} {
			t.Run(fmt.Sprint(name, elsewhere), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					store := &journal.MapStore{}
					modes := []agent.Mode{{Name: "one", Model: "m1"}, {Name: "two", Model: "m2"}}
					var a *agent.Agent
					mem := small()
					mem.ContextReset = &notes.ContextReset{
						Write: func(ctx context.Context, in *notes.Input) (notes.ResetNote, error) {
							b := a
							if elsewhere {
								b = newAgent(t,
									agent.Config{Provider: providertest.Script(), Journal: store, Modes: modes})
							}
							return notes.ResetNote{}, c.ask(ctx, b)
						}}
					a, m := scripted(t,
						agent.Config{Memory: mem, Journal: store, Modes: modes,
							Tools: []tools.Tool{handing("next", func(context.Context, Number) (string, error) {
								return "ok", nil
							})}},
						call("next", 1), say("done"))
					res := run(t, a)
					switch name {
					case "stop":
						require.Equal(t, agent.Stopped, res.Status)
						require.Equal(t, c.code, res.Code)
					case "cancel":
						require.Equal(t, agent.Stopped, res.Status)
					case "pause":
						require.Equal(t, agent.Paused, res.Status)
						require.Equal(t, "done", runInput(t, a, agent.Continue("s")).Text())
					case "mode":
						require.Equal(t, "done", res.Text())
						require.Equal(t, "two", res.Mode)
						require.Equal(t, "m2", m.Requests()[1].Model)
					}
					requireSound(t, "s", facts(t, a, "s"))
				})
			})
		}
	}
}
