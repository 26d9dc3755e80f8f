package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/stop"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

const runTests = "Run the tests before you say that it works."

// evidence requires a result of the tool "work".
func evidence() agent.Hooks {
	return agent.Require("evidence", func(_ context.Context, r *agent.Result) (string, error) {
		if r.ToolResult("work") == nil {
			return runTests, nil
		}
		return "", nil
	})
}

func advising(name, what string) agent.Hooks {
	return agent.Hooks{Name: name, BeforeFinish: func(context.Context,
		*agent.Result) error {
		return agent.SendBack(what)
	}}
}

func requireUnproven(t *testing.T, res *agent.Result, err error) {
	t.Helper()
	require.Equal(t, []any{agent.Stopped, machine.CodeUnproven}, []any{res.Status, res.Code})
	var stopped *agent.StopError
	require.ErrorAs(t, err, &stopped)
	require.Equal(t, machine.CodeUnproven, stopped.Code)
	require.Contains(t, err.Error(), `the condition "evidence": `+runTests)
	require.Equal(t, []string{runTests}, res.Missing)
}

func TestARunDoesNotCompleteWithoutWhatIsRequired(t *testing.T) {
	a, model := scripted(t, agent.Config{Journal: &journal.MapStore{}, Hooks: []agent.Hooks{evidence()}},
		repeat(say("It works, all 14 tests pass."), 3)...)
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "Build it"})
	requireUnproven(t, res, err)
	require.Equal(t, "It works, all 14 tests pass.", res.Text(), "the answer is in the Result")
	model.AssertCalls(t, 3)
	read, err := a.Session("s").Result(t.Context())
	require.NoError(t, err)
	requireUnproven(t, read, read.Err())
}

func TestARunCompletesOnceWhatIsRequiredIsThere(t *testing.T) {
	var done effects
	a, _ := hooked(t, &done, []agent.Hooks{evidence()}, say("It works."), call("work", 1), say("It works."))
	res := run(t, a)
	require.Equal(t, agent.Completed, res.Status)
	require.Empty(t, res.Missing)
}

func TestAdviceThatIsNotFollowedIsInTheResult(t *testing.T) {
	a, model := scripted(t, agent.Config{Journal: &journal.MapStore{}, Limits: agent.Limits{SendBacks: 1},
		Redact: func(s string) string { return strings.ReplaceAll(s, "secret", "[removed]") },
		Hooks:  []agent.Hooks{advising("style", "no secret")}}, say("one"), say("two"))
	res := run(t, a)
	require.Equal(t, agent.Completed, res.Status)
	require.NoError(t, res.Err())
	require.Equal(t, []string{"no [removed]"}, res.Missing)
	model.AssertCalls(t, 2)
	read, err := a.Session("s").Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, res.Missing, read.Missing)
}

func TestEachHookHasItsOwnSendBacks(t *testing.T) {
	asked := 0
	once := agent.Hooks{BeforeFinish: func(context.Context, *agent.Result) error {
		if asked++; asked == 3 {
			return agent.SendBack("late")
		}
		return nil
	}}
	hooks := []agent.Hooks{advising("", "short"), once, advising("x", "kind"), advising("x", "polite")}
	a, model := scripted(t, agent.Config{Journal: &journal.MapStore{}, Hooks: hooks}, repeat(say("no"), 4)...)
	res := run(t, a)
	require.Equal(t, agent.Completed, res.Status)
	model.AssertCalls(t, 4)
	require.Equal(t, []string{"short", "kind", "polite"}, res.Missing)
	require.Equal(t, map[string]int{"#1": 2, "#2": 1, "x": 2, "x#2": 2}, machineOf(t, a, "s").State().Run.SentBackBy)
}

func TestACrashBetweenSendBacksAndTheEndChangesNothing(t *testing.T) {
	store, left := &journal.MapStore{}, &journal.MapStore{}
	cfg := agent.Config{Journal: store, Hooks: []agent.Hooks{evidence()}}
	_, err := reopen(t, cfg, repeat(say("It works."), 3)...).Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.Error(t, err)
	cut(t, store, left, "run_ended")
	cfg.Journal = left
	b, model := scripted(t, cfg)
	res, err := b.Run(t.Context(), agent.Continue("s"))
	requireUnproven(t, res, err)
	model.AssertCalls(t, 0)
}

func TestAStopConditionDoesNotCompleteARunWithoutWhatIsRequired(t *testing.T) {
	var done effects
	tool := done.tool(tools.Spec{Name: "play"})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{tool}, StopWhen: []stop.Condition{stop.AfterTool("play")},
		Hooks: []agent.Hooks{evidence(), advising("style", "kind")}}, call("play", 1))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	requireUnproven(t, res, err)
}

func TestAConditionThatFailsFailsTheRun(t *testing.T) {
	away := errors.New("the scanner is away")
	a, _ := scripted(t, agent.Config{Hooks: []agent.Hooks{agent.Require("scan",
		func(context.Context, *agent.Result) (string, error) { return "", away })}}, say("Done."))
	_, err := a.Run(t.Context(), agent.Input{Prompt: "go"})
	require.ErrorAs(t, err, new(*agent.HookError))
	require.ErrorIs(t, err, away)
	_, err = agent.New(agent.Config{Provider: providertest.Script(), Hooks: []agent.Hooks{agent.Require("scan", nil)}})
	require.ErrorContains(t, err, "Config.Hooks[0]: Require has no function")
}

func TestSendBacksThatALogDoesNotNameCountForEachHook(t *testing.T) {
	store, left := &journal.MapStore{}, &journal.MapStore{}
	cfg := agent.Config{Journal: store, Hooks: []agent.Hooks{evidence()}}
	_, err := reopen(t, cfg, repeat(say("It works."), 3)...).Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.Error(t, err)
	var recs []journal.Record
	for r, err := range store.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		if r.Kind != "run_ended" {
			r.Data = []byte(strings.ReplaceAll(string(r.Data), `,"hooks":["evidence"]`, ""))
			recs = append(recs, r)
		}
	}
	require.NoError(t, left.Append(t.Context(),
		journal.Append{Session: "s", Records: recs, Head: &journal.HeadUpdate{Status: "running"}}))
	cfg.Journal = left
	b, model := scripted(t, cfg)
	require.Equal(t, 2, machineOf(t, b, "s").State().Run.SentBack)
	res, err := b.Run(t.Context(), agent.Continue("s"))
	requireUnproven(t, res, err)
	model.AssertCalls(t, 0)
}
