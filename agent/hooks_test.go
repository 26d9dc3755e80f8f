package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// hooked returns an agent with hooks and the tools "work" and "play".
func hooked(t *testing.T, done *effects, hooks []agent.Hooks, steps ...providertest.Step) (*agent.Agent,
	*providertest.Model) {
	t.Helper()
	return scripted(t, agent.Config{Hooks: hooks, Instructions: "Be brief.", Journal: &journal.MapStore{},
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"}), done.tool(tools.Spec{Name: "play"})}}, steps...)
}

func TestAHookMayChangeAStepForThatStepAlone(t *testing.T) {
	var done effects
	a, model := hooked(t, &done, []agent.Hooks{{BeforeStep: func(_ context.Context, s *agent.Step) error {
		if s.N != 1 {
			return nil
		}
		s.Model, s.System, s.Tools = "large", "Be long.", s.Tools[1:]
		s.Messages = append(s.Messages, provider.User("And quickly."))
		return nil
	}}}, providertest.Unfit(call("work", 1)), say("Done."))
	run(t, a)
	model.AssertTools(t, 0, "play")
	model.AssertTools(t, 1, "work", "play")
	model.AssertSaw(t, 0, providertest.SystemText("Be long."), providertest.UserText("quickly"))
	model.AssertSaw(t, 1, providertest.SystemText("Be brief."),
		providertest.ToolResultText("work", "isn't available now"))
	model.AssertDidNotSee(t, 1, providertest.UserText("quickly"))
	require.Equal(t, "large", model.Requests()[0].Model)
	require.Empty(t, model.Requests()[1].Model)
	require.Zero(t, done.all(), "a call of what wasn't offered doesn't run")
	start := facts(t, a, "s")[1].(*agent.StepStarted)
	require.Equal(t, []string{"play"}, start.Tools)
	require.Equal(t, "large", start.Model)
}

func TestAHookMayAnswerInTheModelsPlace(t *testing.T) {
	var done effects
	var after []string
	a, model := hooked(t, &done, []agent.Hooks{
		{Name: "cache", BeforeStep: func(_ context.Context, s *agent.Step) error {
			switch s.N {
			case 1:
				s.Answer(call("work", 1).Response())
			case 3:
				s.Answer(say("From the cache.").Response())
			}
			return nil
		}},
		{Name: "second", BeforeStep: func(_ context.Context, s *agent.Step) error {
			s.Answer(say("no").Response())
			return nil
		}},
		{Name: "after", AfterStep: func(_ context.Context, s *agent.Step, r *provider.Response) error {
			after = append(after, s.AnsweredBy)
			return nil
		}},
	}, say("unused"))
	res := run(t, a)
	require.Equal(t, "no", res.Text(), "the cache had nothing for the second step")
	require.Equal(t, 1, done.of(1))
	require.Equal(t, []string{"cache", "second"}, after)
	require.Zero(t, res.Usage.Total())
	model.AssertCalls(t, 0)
	requireSound(t, "s", facts(t, a, "s"))
}

func TestWhatHooksSayIsDone(t *testing.T) {
	boom := errors.New("boom")
	before := func(err error) agent.Hooks {
		return agent.Hooks{Name: "h", BeforeTool: func(context.Context, *agent.ToolCall) error { return err }}
	}
	for name, c := range map[string]struct {
		hook   agent.Hooks
		status agent.Status
		call   tools.Status
		says   string
		err    error
	}{
		"allow": {before(nil), agent.Completed, tools.OK, "done 1", nil},
		"warn":  {before(agent.Warn("mind the gap")), agent.Completed, tools.OK, "mind the gap", nil},
		"deny": {before(agent.Deny("not on Sundays")), agent.Completed, tools.Denied, "not on Sundays",
			nil},
		"abort":         {before(agent.Abort(boom)), agent.Stopped, tools.NotRun, "", boom},
		"a guard fails": {before(boom), agent.Completed, tools.Denied, "a guard failed", nil},
		"a guard panics": {agent.Hooks{BeforeTool: func(context.Context, *agent.ToolCall) error { panic(boom) }},
			agent.Completed, tools.Denied, "a guard failed", nil},
		"an observer fails": {agent.Hooks{Observer: true, BeforeTool: func(context.Context, *agent.ToolCall) error {
			return boom
		}}, agent.Completed, tools.OK, "done 1", nil},
		"an observer denies": {agent.Hooks{Observer: true, BeforeTool: func(context.Context, *agent.ToolCall) error {
			return agent.Deny("no")
		}},
			agent.Completed, tools.OK, "done 1", nil},
		"an observer panics": {agent.Hooks{Observer: true,
			AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error { panic(boom) }},
			agent.Completed, tools.OK, "done 1", nil},
		"after: a guard fails": {
			agent.Hooks{AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error { return boom }},
			agent.Completed, tools.OK, "withheld", nil},
		"after: warn": {agent.Hooks{AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error {
			return agent.Warn("stale")
		}},
			agent.Completed, tools.OK, "stale", nil},
		"after: abort": {agent.Hooks{AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error {
			return agent.Abort(boom)
		}},
			agent.Stopped, tools.OK, "", boom},
		"step: abort": {agent.Hooks{BeforeStep: func(context.Context, *agent.Step) error {
			return agent.Abort(boom)
		}}, agent.Stopped, "", "", boom},
		"step: a guard fails": {agent.Hooks{BeforeStep: func(context.Context, *agent.Step) error { return boom }},
			agent.Failed, "", "", boom},
		"step: observer": {agent.Hooks{Observer: true, BeforeStep: func(context.Context, *agent.Step) error {
			return boom
		}}, agent.Completed, tools.OK, "done 1", nil},
		"after a step: abort": {agent.Hooks{AfterStep: func(context.Context, *agent.Step, *provider.Response) error {
			return agent.Abort(boom)
		}}, agent.Stopped, "", "", boom},
		"finish: abort": {agent.Hooks{BeforeFinish: func(context.Context, *agent.Result) error {
			return agent.Abort(boom)
		}}, agent.Stopped, tools.OK, "", boom},
		"finish: fails": {agent.Hooks{BeforeFinish: func(context.Context, *agent.Result) error { return boom }},
			agent.Failed, tools.OK, "", boom},
		"run: fails": {agent.Hooks{AfterRun: func(context.Context, *agent.Result) error { panic(boom) }},
			agent.Completed, tools.OK, "done 1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var done effects
			after := 0
			count := agent.Hooks{Observer: true,
				AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error { after++; return nil }}
			a, model := hooked(t, &done, []agent.Hooks{c.hook, count}, call("work", 1), say("Done."))
			res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
			require.Equal(t, c.status, res.Status)
			require.Equal(t, c.status != agent.Completed, err != nil)
			if c.err != nil {
				require.ErrorIs(t, err, c.err)
				require.Equal(t, machine.CodeAborted, res.Code)
			}
			var all []*agent.ToolResult
			if all = finished(t, a, "s"); c.call != "" {
				require.Equal(t, c.call, all[0].Status)
			}
			require.Len(t, all, after, "after-hooks see every result")
			if c.says != "" {
				model.AssertSaw(t, 1, providertest.ToolResultText("work", c.says))
			}
			require.Equal(t, c.call.Ran(), done.all() == 1)
			if c.says == "withheld" {
				require.NotContains(t, all[0].Text(), "done 1")
			}
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestHooksAreCalledInOrderAndSeeEachOthersChanges(t *testing.T) {
	var order []string
	hook := func(name string, n string) agent.Hooks {
		return agent.Hooks{
			Name: name,
			BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
				order = append(order, name+" "+string(c.Input))
				c.Input = []byte(`{"n":` + n + `}`)
				return nil
			},
			AfterTool: func(_ context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
				order = append(order, name+" "+r.Text())
				r.Parts = []provider.Part{provider.TextPart(r.Text() + "!")}
				return nil
			},
		}
	}
	var done effects
	a, model := hooked(t, &done, []agent.Hooks{hook("a", "2"), hook("b", "3")}, call("work", 1), say("Done."))
	run(t, a)
	require.Equal(t, []string{`a {"n":1}`, `b {"n":2}`, "a done 3", "b done 3!"}, order)
	require.Equal(t, 1, done.of(3))
	require.Equal(t, 1, done.all())
	model.AssertSaw(t, 1, providertest.ToolResultText("work", "done 3!!"))
}

func TestAnInputThatAHookChangedIsValidated(t *testing.T) {
	for name, input := range map[string]string{"another type": `{"n":"x"}`, "another case": `{"N":1}`,
		"no JSON": `{"n":`, "twice": `{"n":1,"n":2}`, "empty": ``} {
		t.Run(name, func(t *testing.T) {
			var done effects
			a, _ := hooked(t, &done, []agent.Hooks{{BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
				c.Input = []byte(input)
				return nil
			}}}, call("work", 1), say("Done."))
			require.Equal(t, "Done.", run(t, a).Text())
			require.Equal(t, tools.Invalid, finished(t, a, "s")[0].Status)
			require.Zero(t, done.all())
		})
	}
}

func TestAfterToolSeesCallsThatNeverRan(t *testing.T) {
	seen := map[tools.Status]int{}
	watch := agent.Hooks{AfterTool: func(_ context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
		seen[r.Status]++
		return nil
	}}
	a, _, _ := risky(t, agent.Config{Hooks: []agent.Hooks{watch}}, providertest.Reply(call("risky", 1),
		providertest.Unfit(call("missing", 2)), providertest.Unfit(providertest.Call("work", "{}")),
		call("risky", 3)), say("Done."))
	res := run(t, a)
	runInput(t, a, agent.Resume("s", agent.Reject(res.Pending[0].ID, "no")))
	runInput(t, a, agent.Input{Session: "s", Prompt: "else", Supersede: true})
	require.Equal(t, map[tools.Status]int{tools.Unknown: 1, tools.Invalid: 1, tools.Rejected: 2}, seen)
}

func TestNoHookCanSpoilALog(t *testing.T) {
	for name, h := range map[string]agent.Hooks{
		"a denied call made good": {
			BeforeTool: func(context.Context, *agent.ToolCall) error { return agent.Deny("no") },
			AfterTool: func(_ context.Context, _ *agent.ToolCall, r *agent.ToolResult) error {
				r.Status = tools.OK
				return nil
			},
		},
		"a result of another call": {AfterTool: func(_ context.Context, _ *agent.ToolCall, r *agent.ToolResult) error {
			r.CallID, r.Name, r.Notes, r.Parts = "x", "y", -7, nil
			return nil
		}},
		"a call that is none": {BeforeStep: func(_ context.Context, s *agent.Step) error {
			if s.N == 1 {
				s.Answer(
					&provider.Response{Parts: []provider.Part{{Kind: provider.PartToolCall}, provider.TextPart("x")}})
			}
			return nil
		}},
		"calls behind the model's back": {
			AfterStep: func(_ context.Context, s *agent.Step, r *provider.Response) error {
				if s.N == 1 {
					r.Parts = append(r.Parts, call("work", 5).Response().Parts...)
				}
				return nil
			}},
	} {
		t.Run(name, func(t *testing.T) {
			var done effects
			store := &journal.MapStore{}
			cfg := agent.Config{Journal: store, Hooks: []agent.Hooks{h},
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}}
			a, _ := scripted(t, cfg, call("work", 1), say("Done."), say("Done."))
			require.Equal(t, agent.Completed, run(t, a).Status)
			requireSound(t, "s", facts(t, a, "s"))
			cfg.Hooks = nil
			require.Equal(t, "Still here.", run(t, reopen(t, cfg, say("Still here."))).Text())
		})
	}
}

func TestARunIsSentBackTwice(t *testing.T) {
	var done effects
	asked := 0
	a, model := hooked(t, &done, []agent.Hooks{{BeforeFinish: func(context.Context, *agent.Result) error {
		asked++
		return agent.SendBack("give the preview address")
	}}}, say("1"), say("2"), say("3"))
	res := run(t, a)
	require.Equal(t, agent.Completed, res.Status)
	require.Equal(t, "3", res.Text())
	require.Equal(t, 3, asked)
	model.AssertDone(t)
	model.AssertSaw(t, 1, providertest.UserText("give the preview address"))
}

// What a hook asks for where it may isn't logged as the failure of a guard.
func TestSendingBackIsNoFailure(t *testing.T) {
	var lines bytes.Buffer
	sends := agent.Hooks{BeforeFinish: func(context.Context, *agent.Result) error { return agent.SendBack("more") }}
	a, _ := scripted(t, agent.Config{Logger: slog.New(slog.NewTextHandler(&lines, nil)), Hooks: []agent.Hooks{sends}},
		say("1"), say("2"), say("3"))
	require.Equal(t, agent.Completed, run(t, a).Status)
	require.NotContains(t, lines.String(), "level=ERROR")
}

func TestAnAbortAfterAnAnswerOfAHookBooksNothingTwice(t *testing.T) {
	var done effects
	boom := errors.New("boom")
	a, _ := hooked(t, &done, []agent.Hooks{{
		BeforeStep: func(_ context.Context, s *agent.Step) error {
			if s.N == 2 {
				s.Answer(say("Cached.").Response())
			}
			return nil
		},
		AfterStep: func(_ context.Context, s *agent.Step, _ *provider.Response) error {
			if s.N == 2 {
				return agent.Abort(boom)
			}
			return nil
		},
	}}, providertest.WithUsage(provider.Usage{Input: 7, Output: 3}, providertest.Reply(say("Once."), call("work", 1))))
	res := run(t, a)
	require.ErrorIs(t, res.Err(), boom)
	require.EqualValues(t, 10, res.Usage.Total())
	said := 0
	for _, m := range res.Messages {
		if m.Role == provider.RoleAssistant {
			said++
		}
	}
	require.Equal(t, 1, said)
}

// What a host may see and change on the way: an answer from a cache, a guard, and a log.
func Example_hooks() {
	var lines bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&lines, nil))
	cache := map[string]*provider.Response{"What is the address?": say("Preview: https://example.com/p1").Response()}
	hooks := []agent.Hooks{
		{
			Name: "answers we already have",
			BeforeStep: func(ctx context.Context, s *agent.Step) error {
				if r, ok := cache[s.LastUserText()]; ok {
					s.Answer(r) // the model isn't called
				}
				return nil
			},
		},
		{
			Name: "nothing outside the site", // a guard: its failure closes
			BeforeTool: func(ctx context.Context, c *agent.ToolCall) error {
				if c.Name == "http.fetch" && !strings.Contains(string(c.Input), "example.com") {
					return agent.Deny("only example.com may be fetched")
				}
				return nil
			},
			BeforeFinish: func(ctx context.Context, r *agent.Result) error {
				if !strings.Contains(r.Text(), "Preview:") {
					return agent.SendBack("give the preview address")
				}
				return nil
			},
		},
		{
			Name:     "log",
			Observer: true, // its failure is logged and changes nothing
			AfterTool: func(ctx context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
				logger.InfoContext(ctx, "tool", "name", c.Name, "status", r.Status)
				return nil
			},
		},
	}
	type url struct {
		URL string `json:"url"`
	}
	fetch := tools.New(tools.Spec{Name: "http.fetch"}, func(ctx context.Context, in url) (string, error) {
		return "<html>", nil
	})
	model := providertest.Script(
		providertest.Call("http.fetch", url{"https://elsewhere.org"}),
		say("All is done."),
		say("Preview: https://example.com/p2"),
	)
	a, err := agent.New(agent.Config{Provider: model, Tools: []tools.Tool{fetch}, Hooks: hooks})
	if err != nil {
		log.Fatal(err)
	}
	for _, prompt := range []string{"What is the address?", "Publish the page."} {
		res, err := a.Run(context.Background(), agent.Input{Prompt: prompt})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res.Text(), "after", res.Steps, "steps")
	}
	fmt.Println(strings.Contains(lines.String(), "name=http.fetch status=denied"))
	// Output:
	// Preview: https://example.com/p1 after 1 steps
	// Preview: https://example.com/p2 after 3 steps
	// true
}

func TestANoteInAResultIsALineOfItsOwn(t *testing.T) {
	var done effects
	a, m := scripted(t, agent.Config{
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})},
		Hooks: []agent.Hooks{{Name: "h", AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error {
			return agent.Warn("mind the gap")
		}}},
	}, call("work", 1), say("on"))
	run(t, a)
	last := m.Requests()[1].Messages
	res := last[len(last)-1].Parts[0].Result
	require.Equal(t, "done 1\nNote: mind the gap", res.Text(), "a provider that takes one text is sent this")
}

func TestAGuardMayFailOnACallOfAToolThatDoesNotExist(t *testing.T) {
	a, model := scripted(t, agent.Config{Hooks: []agent.Hooks{{
		AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error { return errors.New("away") }}}},
		providertest.Unfit(call("nope", 1)), say("Done."))
	require.Equal(t, agent.Completed, run(t, a).Status)
	model.AssertSaw(t, 1, providertest.ToolResultText("nope", "withheld: a guard failed"))
}

func TestDataThatAHookGivesACallThatDidNotRunIsCheckedToo(t *testing.T) {
	var done effects
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work", Risk: tools.High})},
		Hooks: []agent.Hooks{{AfterTool: func(_ context.Context, _ *agent.ToolCall, r *agent.ToolResult) error {
			r.Data = []byte("{")
			return nil
		}}}}, call("work", 1), say("Done."))
	id := run(t, a).Pending[0].ID
	require.Equal(t, agent.Completed, runInput(t, a, agent.Resume("s", agent.Reject(id, "no"))).Status)
	require.Contains(t, finished(t, a, "s")[0].Cause, "Data is no JSON")
}

func TestAHookThatHangsAfterTheRunHas30Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := scripted(t, agent.Config{Hooks: []agent.Hooks{{AfterRun: func(ctx context.Context,
			_ *agent.Result) error {
			<-ctx.Done()
			return ctx.Err()
		}}}}, say("Done."))
		began := time.Now()
		require.Equal(t, agent.Completed, run(t, a).Status)
		require.Equal(t, 30*time.Second, time.Since(began))
	})
}
