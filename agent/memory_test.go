package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// reading is a tool whose results have about n tokens.
func reading(n int) tools.Tool {
	return tools.New(tools.Spec{Name: "read", ReadOnly: true}, func(_ context.Context, in Number) (string, error) {
		return fmt.Sprintf("page %d: ", in.N) + strings.Repeat("word ", n), nil
	})
}

// reads is a script that reads n pages and is done.
func reads(n int) []providertest.Step {
	var steps []providertest.Step
	for i := range n {
		steps = append(steps, call("read", i))
	}
	return append(steps, say("done"))
}

// small is a memory for a window of 10,000 tokens of which 9,000 may be used.
func small(steps ...memory.Step) *agent.Memory {
	return &agent.Memory{Config: memory.Config{Window: memory.Window{Size: 10_000, Reserve: 1_000}, Steps: steps}}
}

func TestWhatWasCompactedIsAnEventWithFiguresAndHoldsFromThenOn(t *testing.T) {
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			cfg := agent.Config{Memory: small(memory.Step{Strategy: memory.Slide{}}), Tools: []tools.Tool{reading(800)},
				Journal: store(), Limits: agent.Limits{Steps: 50}}
			a, m := scripted(t, cfg, append(reads(20), say("again"))...)
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "read it all"}))
			require.NoError(t, err)
			compacted := of[*machine.Compacted](all)
			require.NotEmpty(t, compacted)
			r := compacted[0].Report
			require.Equal(t, "share 0.70", r.Trigger)
			require.Equal(t, 9_000, r.Budget)
			require.GreaterOrEqual(t, r.Before, 6_300)
			require.LessOrEqual(t, r.After, 4_500)
			require.Less(t, r.MessagesAfter, r.MessagesBefore)
			require.Positive(t, compacted[0].Seq, "it is a fact")

			for i, req := range m.Requests() {
				require.Equal(t, "read it all", req.Messages[0].Text(), "request %d", i)
				require.NoError(t, paired(req.Messages), "request %d", i)
			}
			b := a
			if cfg.Journal != nil { // another process resumes the conversation as it is now
				b, m = scripted(t, cfg, say("again"))
			}
			runInput(t, b, agent.Input{Session: "s", Prompt: "and now?"})
			last := m.Requests()[len(m.Requests())-1]
			require.Less(t, len(last.Messages), 30)
			require.NoError(t, paired(last.Messages))
			log := facts(t, b, "s")
			requireSound(t, "s", log)
			require.Contains(t, asText(t, log), "page 0: ", "the original stays in the log")
			steps, err := b.Session("s").Trace(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(last.Messages), len(steps[len(steps)-1].Messages))
		})
	}
}

func TestARequestThatCannotFitFailsTheRunAndNamesTheBiggestParts(t *testing.T) {
	a, m := scripted(t, agent.Config{Memory: small(), Instructions: strings.Repeat("rule ", 12_000)}, say("never"))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "hi"})
	require.ErrorIs(t, err, memory.ErrContextTooLarge)
	var large *memory.ContextTooLargeError
	require.ErrorAs(t, res.Err(), &large)
	require.Equal(t, "the system text", large.Biggest[0].What)
	require.Equal(t, agent.Failed, res.Status)
	require.Equal(t, machine.CodeContext, res.Code)
	require.Equal(t, fault.Permanent, fault.Of(err))
	m.AssertCalls(t, 0)
}

// TestWhateverHappensToASummaryTheRunGoesOn is about each way in which a summary may fail.
func TestWhateverHappensToASummaryTheRunGoesOn(t *testing.T) {
	answer := func(text string, stop provider.StopReason) provider.Provider {
		return providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			return &provider.Response{Parts: []provider.Part{provider.TextPart(text)}, Stop: stop,
				Usage: provider.Usage{Input: 100, Output: 10}}, nil
		})
	}
	for name, c := range map[string]struct {
		p     provider.Provider
		spend int
		why   string
	}{
		"it fails": {p: providertest.Func(func(context.Context, *provider.Request) (*provider.Response,
			error) {
			return nil, errors.New("down")
		}), why: "down"},
		"it hangs": {p: providertest.Script(providertest.Hang(), providertest.Hang(), providertest.Hang(),
			providertest.Hang()), why: "deadline"},
		"it panics": {p: providertest.Func(
			func(context.Context, *provider.Request) (*provider.Response, error) { panic("oh") }), why: "panic"},
		"it is too long":    {p: answer(strings.Repeat("word ", 2_000), provider.StopDone), why: "longer"},
		"it is cut":         {p: answer("and so", provider.StopLength), why: "longer"},
		"it is empty":       {p: answer("  \n", provider.StopDone), why: "empty"},
		"it is refused":     {p: answer("no", provider.StopFiltered), why: "filtered"},
		"it is over budget": {p: answer("in short", provider.StopDone), spend: 10, why: "budget"},
		"it calls tools": {p: providertest.Script(slices.Repeat(
			[]providertest.Step{providertest.Unfit(call("read", 1))}, 4)...), why: "tool"},
		"it ends before End": {p: providertest.Script(providertest.Cut(2, say("in sh")),
			providertest.Cut(2, say("in sh")), providertest.Cut(2, say("in sh")), providertest.Cut(2, say("in sh"))),
			why: "before the answer was complete"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := memory.NewSummarise(memory.Summary{Provider: c.p, Spend: c.spend})
				require.NoError(t, err)
				a, _ := scripted(t, agent.Config{
					Memory: small(memory.Step{Strategy: s}, memory.Step{Strategy: memory.Slide{}}),
					Tools:  []tools.Tool{reading(800)}, Limits: agent.Limits{Steps: 50},
				}, reads(12)...)
				all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
				require.NoError(t, err)
				end := of[*agent.RunEnded](all)
				require.Equal(t, agent.Completed, end[0].Status)
				warnings := of[*agent.MemoryWarning](all)
				require.NotEmpty(t, warnings)
				require.Contains(t, strings.ToLower(warnings[0].Text), c.why)
				require.NotEmpty(t, of[*machine.Compacted](all), "the next strategy continued")
			})
		})
	}
}

func TestASummaryCountsTowardsTheLimitsOfItsRun(t *testing.T) {
	s := summariser(t, providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		require.Equal(t, "s", req.Labels.Session)
		require.Equal(t, "summary", req.Labels.Kind)
		require.True(t, req.Interactive, "a person waits for it")
		return &provider.Response{Parts: []provider.Part{provider.TextPart("in short")}, Stop: provider.StopDone,
			Usage: provider.Usage{Input: 50_000, Output: 10}}, nil
	}))
	a, _ := scripted(t, agent.Config{
		Memory: small(memory.Step{Strategy: s}), Tools: []tools.Tool{reading(800)},
		Limits: agent.Limits{Steps: 50, Tokens: 40_000},
	}, reads(30)...)
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "go", Interactive: true})
	var limit *agent.LimitError
	require.ErrorAs(t, res.Err(), &limit)
	require.Equal(t, machine.LimitTokens, limit.Limit)
	require.Greater(t, res.Usage.Total(), int64(50_000))
}

// A downStore fails.
type downStore struct{ memory.Store }

func (downStore) Put(context.Context, string, string) error { return errors.New("the disk is full") }

func TestAStoreThatIsDownIsAWarning(t *testing.T) {
	mem := small(memory.Step{Strategy: memory.CutResults{Over: 100}}, memory.Step{Strategy: memory.Slide{}})
	mem.Store = downStore{}
	a, _ := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(800)}, Limits: agent.Limits{Steps: 50}},
		reads(12)...)
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	require.Contains(t, of[*agent.MemoryWarning](all)[0].Text, "the disk is full")
	require.Equal(t, agent.Completed, of[*agent.RunEnded](all)[0].Status)
}

func TestAModelReadsBackWhatWasCutFromItsOwnSessionOnly(t *testing.T) {
	mem := small(memory.Step{Strategy: memory.CutResults{Over: 100}})
	texts := map[string]*memory.MapStore{"s": {}, "other": {}}
	mem.Stores = func(session string) memory.Store { return texts[session] }
	handle := ""
	ask := func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		if text := asText(t, req.Messages); handle == "" && strings.Contains(text, "m-") {
			i := strings.Index(text, `m-`)
			handle = text[i : i+18]
		}
		switch n := len(req.Messages); {
		case strings.Contains(req.LastUserText(), "steal"):
			if n > 1 {
				return provider.TextResponse("none"),
					nil
			}
			return callOf("memory.read", map[string]any{"handle": handle}), nil
		case handle != "" && !calledWith(req.Messages, "memory.read", handle):
			return callOf("memory.read", map[string]any{"handle": handle}), nil
		case handle != "":
			return provider.TextResponse("read"), nil
		default:
			return callOf("read", Number{n}), nil
		}
	}
	a := newAgent(t, agent.Config{Provider: providertest.Func(ask), Memory: mem, Tools: []tools.Tool{reading(800)},
		Limits: agent.Limits{Steps: 50}})
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
	require.Equal(t, "read", res.Text())
	require.Contains(t, results(res)[0].Parts[0].Text, "page ")
	require.Positive(t, texts["s"].Len())

	res = runInput(t, a, agent.Input{Session: "other", Prompt: "steal it"})
	require.True(t, results(res)[0].Error)
	require.NotContains(t, results(res)[0].Parts[0].Text, "page ")
}

func TestContextIsAskedForWhenSomebodySpeaksAndIsNoPartOfTheConversation(t *testing.T) {
	var asked []agent.ContextInput
	mem := small()
	var a *agent.Agent
	mem.Context = func(_ context.Context, in agent.ContextInput) (memory.Context, error) {
		asked = append(asked, in)
		if len(asked) == 3 {
			return memory.Context{}, errors.New("the index is down")
		}
		return memory.Context{User: "Ann, editor", Screen: fmt.Sprint("screen ", len(asked)), Goal: 99,
			Fetched: []memory.Fetched{{Name: "pages", Text: "Members is the team page, secret-7"},
				{Name: "huge", Text: strings.Repeat("word ", 20_000)}}}, nil
	}
	steer := tools.New(tools.Spec{Name: "steer"}, func(ctx context.Context, in Number) (string, error) {
		_, err := a.Session("s").Steer(ctx, "also this")
		return "ok", err
	})
	a, m := scripted(t, agent.Config{
		Memory: mem, Tools: []tools.Tool{reading(10), steer}, Redact: func(s string) string {
			return strings.ReplaceAll(s, "secret-7", "[redacted]")
		},
	}, call("read", 1), call("read", 2), call("steer", 3), call("read", 4), say("done"), say("well"))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "show the team page", Task: "t"}))
	require.NoError(t, err)
	require.Len(t, asked, 2, "at the beginning, and after the message")
	require.Equal(t, agent.ContextInput{Session: "s", Run: asked[0].Run, Task: "t", Text: "show the team page"},
		asked[0])
	require.Equal(t, "also this", asked[1].Text)
	reqs := m.Requests()
	for i, req := range reqs {
		require.Equal(t, "Ann, editor", req.System)
		text := asText(t, req.Messages)
		require.Equal(t, i < 3, strings.Contains(text, "screen 1"), "request %d", i)
		require.Equal(t, i >= 3, strings.Contains(text, "screen 2"), "request %d", i)
		require.Contains(t, text, "Members is the team page, [redacted]")
		require.NotContains(t, text, "huge", "what has no room is left out")
	}
	require.NotContains(t, asText(t, of[*agent.RunEnded](all)[0].Result.Messages), "screen")
	var told []*memory.Context
	for _, f := range of[*agent.StepStarted](all) {
		if f.Context != nil {
			told = append(told, f.Context)
		}
	}
	require.Len(t, told, 2, "it is recorded where it changed")
	require.Equal(t, "screen 2", told[1].Screen)
	require.NotContains(t, asText(t, all), "secret-7")

	all, err = events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "and now?"}))
	require.NoError(t, err)
	require.Contains(t, of[*agent.MemoryWarning](all)[0].Text, "the index is down")
	require.Equal(t, agent.Completed, of[*agent.RunEnded](all)[0].Status)
}

func TestASubgoalOrAPhaseThatEndsCompacts(t *testing.T) {
	mem := small()
	mem.Rules = []memory.Rule{{When: memory.OnSubgoal()},
		{When: memory.OnPhase(), Target: .01, Steps: []memory.Step{{Strategy: memory.Slide{}}}}}
	mem.Subgoals, mem.SubgoalDone = memory.SubgoalCalls("begin", "end"), "end"
	mem.Keep = 1
	type Name struct {
		Name    string   `json:"name"`
		Summary string   `json:"summary,omitempty"`
		Facts   []string `json:"facts,omitempty"`
	}
	mark := func(name string) tools.Tool {
		return tools.New(tools.Spec{Name: name}, func(context.Context, Name) (string, error) { return "ok", nil })
	}
	phase := tools.New(tools.Spec{Name: "phase"}, func(ctx context.Context, in Number) (string, error) {
		return "ok", agent.SetPhase(ctx, fmt.Sprint("phase ", in.N))
	})
	a, m := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(100), mark("begin"), mark("end"), phase},
		Limits: agent.Limits{Steps: 50}},
		providertest.Call("begin", Name{Name: "A"}), call("read", 1), call("read", 2),
		providertest.Call("end", Name{Name: "A", Summary: "read both", Facts: []string{"id 42"}}),
		call("read", 3), call("read", 4), call("phase", 1), call("read", 5), say("done"))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	var triggers []string
	for _, f := range of[*machine.Compacted](all) {
		triggers = append(triggers, f.Report.Trigger)
	}
	require.Equal(t, []string{"subgoal", "phase"}, triggers)
	then := asText(t, m.Requests()[5].Messages) // once the end of the subgoal isn't among the last groups any more
	require.NotContains(t, then, "page 1")
	require.Contains(t, then, "id 42")
	require.Contains(t, then, "page 3")
	require.NotContains(t, asText(t, m.Requests()[7].Messages), "page 3")
}

func TestAConversationIsCompactedByHand(t *testing.T) {
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			gate := tools.New(tools.Spec{Name: "publish", Approval: tools.AskAlways},
				func(context.Context, Number) (string, error) { return "published", nil })
			mem := small(memory.Step{Strategy: memory.Slide{}})
			mem.Rules, mem.Keep = []memory.Rule{}, 1
			a, m := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(300), gate}, Journal: store()},
				call("read", 1), call("read", 2), call("read", 3), call("publish", 4), say("done"))
			res := run(t, a)
			require.Equal(t, agent.Paused, res.Status)

			report, err := a.Session("s").Compact(t.Context(), 0)
			require.NoError(t, err)
			require.Equal(t, "by hand", report.Trigger)
			require.Less(t, report.After, report.Before/2)
			report, err = a.Session("s").Compact(t.Context(), 0)
			require.NoError(t, err)
			require.False(t, report.Changed(), "again finds nothing to do")

			res = runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
			require.Equal(t, agent.Completed, res.Status)
			require.Equal(t, "go", res.Messages[0].Text())
			sent := m.Requests()[4].Messages
			require.NoError(t, paired(sent))
			require.Contains(t, asText(t, sent), "published")
			require.NotContains(t, asText(t, sent), "page 1")
			requireSound(t, "s", facts(t, a, "s"))

			_, err = a.Session("nobody").Compact(t.Context(), 0)
			require.ErrorIs(t, err, agent.ErrNothingOpen)
		})
	}
	a, _ := scripted(t, agent.Config{}, say("hi"))
	_, err := a.Session("s").Compact(t.Context(), 0)
	var bad *agent.ArgError
	require.ErrorAs(t, err, &bad)
	require.Contains(t, bad.Field, "Config.")
}

func TestHooksSeeWhatMemoryHasPrepared(t *testing.T) {
	var seen []string
	mem := small()
	mem.Context = func(context.Context, agent.ContextInput) (memory.Context, error) {
		return memory.Context{User: "Ann", Screen: "page 42"}, nil
	}
	a, m := scripted(t,
		agent.Config{Memory: mem, Instructions: "be brief", Tools: []tools.Tool{reading(10)}, Hooks: []agent.Hooks{{
			BeforeStep: func(_ context.Context, s *agent.Step) error {
				seen = append(seen, s.System, asText(t, s.Messages))
				if s.N == 2 {
					s.System += "!"
				}
				return agent.Warn("mind the gap")
			},
		}}}, call("read", 1), say("done"))
	run(t, a)
	require.Equal(t, "be brief\n\nAnn", seen[0])
	require.Contains(t, seen[1], "page 42")
	reqs := m.Requests()
	require.Equal(t, "be brief\n\nAnn", reqs[0].System)
	require.Equal(t, "be brief\n\nAnn!", reqs[1].System)
	for i, req := range reqs {
		text := asText(t, req.Messages)
		require.Contains(t, text, "page 42")
		require.Equal(t, i+1, strings.Count(text, "mind the gap"), "a warning is told once")
	}
}

func TestWhatAProviderCountsCorrectsTheEstimate(t *testing.T) {
	// The provider counts double: without learning that, compaction would come at 140 %.
	counter := memory.NewEstimator(provider.ModelInfo{})
	n, worst := 0, 0
	ask := func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		total := 2 * memory.CountRequest(counter, req).Total
		n, worst = n+1, max(worst, total)
		r := callOf("read", Number{n})
		if n == 30 {
			r = provider.TextResponse("done")
		}
		r.Usage = provider.Usage{Input: int64(total), Output: 10}
		return r, nil
	}
	a := newAgent(t, agent.Config{Provider: providertest.Func(ask), Memory: small(), Tools: []tools.Tool{reading(300)},
		Limits: agent.Limits{Steps: 50}})
	require.Equal(t, agent.Completed, run(t, a).Status)
	require.LessOrEqual(t, worst, 9_000)
}

func TestARunIsCanceledWhileItsConversationIsSummarised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := summariser(t, providertest.Script(providertest.Hang(), providertest.Hang()))
		a, _ := scripted(t, agent.Config{Memory: small(memory.Step{Strategy: s}), Tools: []tools.Tool{reading(800)},
			Limits: agent.Limits{Steps: 50}}, reads(20)...)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // the summary has a minute
		defer cancel()
		began := time.Now()
		res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, agent.Stopped, res.Status)
		require.Equal(t, machine.CodeCanceled, res.Code)
		require.Equal(t, 5*time.Second, time.Since(began))
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestLeavingTheStreamAtACompactionLeavesNothingBehind(t *testing.T) {
	s := summariser(t, providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		return nil, errors.New("down")
	}))
	for _, kind := range []string{"compacted", "warning"} {
		a, _ := scripted(t, agent.Config{
			Memory: small(memory.Step{Strategy: s}, memory.Step{Strategy: memory.Slide{}}),
			Tools:  []tools.Tool{reading(800)}, Journal: &journal.MapStore{}, Limits: agent.Limits{Steps: 50},
		}, append(reads(20), reads(20)...)...)
		for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
			require.NoError(t, err)
			_, compacted := ev.(*machine.Compacted)
			_, warned := ev.(*agent.MemoryWarning)
			if compacted && kind == "compacted" || warned && kind == "warning" {
				break
			}
		}
		log := facts(t, a, "s")
		requireSound(t, "s", log)
		end := log[len(log)-1].(*machine.RunEnded)
		require.Equal(t, machine.CodeAbandoned, end.Code)
		require.Equal(t, agent.Completed, runInput(t, a, agent.Input{Session: "s", Prompt: "again"}).Status)
	}
}

func TestTheSystemTextIsComposedForTheModeAndRecordedWhereItChanges(t *testing.T) {
	var mu sync.Mutex
	version := 1
	compose := func(_ context.Context, in agent.ComposeInput) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if version == 3 {
			return "", errors.New("the file is broken")
		}
		if in.Session != "s" || in.Run == "" || in.User != "ann" || in.Labels.Get("tenant") != "acme" {
			return "", fmt.Errorf("the session and the run aren't named: %+v", in)
		}
		return fmt.Sprintf("v%d for %s", version, in.Mode), nil
	}
	edit := tools.New(tools.Spec{Name: "edit"}, func(ctx context.Context, in Number) (string, error) {
		mu.Lock()
		version = in.N
		mu.Unlock()
		return "ok", nil
	})
	a, m := scripted(t, agent.Config{Compose: compose, Instructions: "unused",
		Modes: []agent.Mode{{Name: "ask", Instructions: "unused"}}, Tools: []tools.Tool{edit}},
		call("edit", 1), call("edit", 2), call("edit", 3))
	all, err := events(a.Stream(t.Context(),
		agent.Input{Session: "s", Prompt: "go", User: "ann", Labels: map[string]string{"tenant": "acme"}}))
	require.ErrorContains(t, err, "the file is broken")
	var recorded, sent []string
	for _, f := range of[*agent.StepStarted](all) {
		recorded = append(recorded, f.System)
	}
	for _, req := range m.Requests() {
		sent = append(sent, req.System)
	}
	require.Equal(t, []string{"v1 for ask", "v1 for ask", "v2 for ask"}, sent)
	require.Equal(t, []string{"v1 for ask", "", "v2 for ask"}, recorded)
	require.Equal(t, agent.Failed, of[*agent.RunEnded](all)[0].Status)
}

func TestAMemoryThatIsWrongIsRefused(t *testing.T) {
	write := func(context.Context, *notes.Input) (int, error) { return 1, nil }
	for name, mem := range map[string]*agent.Memory{
		"a step without a strategy":  {Config: memory.Config{Steps: []memory.Step{{}}}},
		"a rule without a trigger":   {Config: memory.Config{Rules: []memory.Rule{{}}}},
		"a checkpoint without Write": {ProgressNotes: []notes.Progress{{}}},
		"a category twice": {ProgressNotes: []notes.Progress{notes.ProgressOf("a", write),
			notes.ProgressOf("a", write)}},
		"the category of context resets": {
			ProgressNotes: []notes.Progress{notes.ProgressOf("context_reset", write)}},
		"a mark that is no share": {
			ProgressNotes: []notes.Progress{notes.ProgressOf("a", write, 1.5)}},
		"a context reset beyond the window": {ContextReset: &notes.ContextReset{At: 2}},
	} {
		_, err := agent.New(agent.Config{Provider: providertest.Script(), Memory: mem})
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad, name)
		require.Contains(t, bad.Field, "Config.Memory", name)
	}
}

// A counting provider counts the tokens of requests itself.
type counting struct {
	*providertest.Model
	asked int
}

func (c *counting) CountTokens(context.Context, *provider.Request) (int, error) {
	c.asked++
	return 8_000, nil
}

func TestAProviderThatCountsIsAskedWhenAConversationGrows(t *testing.T) {
	for _, no := range []bool{false, true} {
		c := &counting{Model: providertest.Script(reads(11)...)}
		mem := small(memory.Step{Strategy: memory.Slide{}})
		mem.NoAsk = no
		a := newAgent(t,
			agent.Config{Provider: c, Memory: mem, Tools: []tools.Tool{reading(600)}, Limits: agent.Limits{Steps: 50}})
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.NoError(t, err)
		require.Equal(t, !no, c.asked > 0)
		require.Less(t, c.asked, 8, "not at each step")
		require.Equal(t, !no, len(of[*machine.Compacted](all)) > 0, "it counts more than is estimated")
	}
}

func TestTheNewestWordsOfAPersonStayThoughHooksWarn(t *testing.T) {
	for _, warn := range []bool{false, true} {
		var a *agent.Agent
		mem := small(memory.Step{Strategy: memory.Slide{}})
		mem.Context = func(context.Context, agent.ContextInput) (memory.Context, error) {
			return memory.Context{Screen: "page 42"}, nil
		}
		read := tools.New(tools.Spec{Name: "read", ReadOnly: true},
			func(ctx context.Context, in Number) (string, error) {
				if in.N == 1 {
					if _, err := a.Session("s").Steer(ctx, "delete nothing!"); err != nil {
						return "", err
					}
				}
				return fmt.Sprintf("page %d: ", in.N) + strings.Repeat("word ", 800), nil
			})
		a, m := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{read}, Limits: agent.Limits{Steps: 50},
			Hooks: []agent.Hooks{{BeforeStep: func(context.Context, *agent.Step) error {
				if warn {
					return agent.Warn("mind the gap")
				}
				return nil
			}}}}, reads(20)...)
		run(t, a)
		reqs := m.Requests()
		last := asText(t, reqs[len(reqs)-1].Messages)
		require.Contains(t, last, "delete nothing!")
		if warn {
			require.Contains(t, last, "mind the gap", "the newest warning is told")
			require.Less(t, strings.Count(last, "mind the gap"), 20, "old ones go")
		}
		for _, msg := range reqs[len(reqs)-1].Messages {
			text := asText(t, msg)
			require.Equal(t, strings.Contains(text, "delete nothing!"), strings.Contains(text, "page 42"),
				"what the screen shows stands behind what was said")
		}
	}
}
