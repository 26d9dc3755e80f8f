package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/tools"
)

// program returns a tool whose program ends with the codes, one call after the other, and then with
// the last one.
func program(name string, spec tools.Spec, codes ...int) tools.Tool {
	spec.Name = name
	calls := 0
	return tools.New(spec, func(context.Context, Number) (tools.Result, error) {
		code := codes[min(calls, len(codes)-1)]
		calls++
		out := tools.Text("what it has written")
		out.Exit = &tools.Exit{Code: code}
		return out, nil
	})
}

// TestAProgramThatFailsIsNoFailureOfItsTool: neither limits nor breakers count it.
func TestAProgramThatFailsIsNoFailureOfItsTool(t *testing.T) {
	cfg := agent.Config{Tools: []tools.Tool{program("tests", tools.Spec{}, 1)}}
	a, _ := scripted(t, cfg, call("tests", 1), call("tests", 2), call("tests", 3), call("tests", 4), call("tests", 5),
		call("tests", 6), call("tests", 7), call("tests", 8), call("tests", 9), say("They fail."))
	run := run(t, a)
	require.Equal(t, "They fail.", run.Text())
	for _, c := range run.Calls("tests") {
		require.Equal(t, tools.OK, c.Status)
		require.True(t, c.Result.Error)
	}
	all := finished(t, a, "s")
	require.Len(t, all, 9)
	for _, res := range all {
		require.Equal(t, tools.OK, res.Status)
		require.Equal(t, &tools.Exit{Code: 1}, res.Exit)
		require.Equal(t, "what it has written", res.Text(), "without a note")
		require.True(t, res.Error, "the model reads a failure")
		require.False(t, res.Succeeded())
	}
	requireSound(t, "s", facts(t, a, "s"))
}

func TestAToolWhoseProgramFailedMeetsNoPrerequisite(t *testing.T) {
	var done effects
	cfg := agent.Config{Tools: []tools.Tool{program("tests", tools.Spec{}, 1, 0),
		done.tool(tools.Spec{Name: "release", Requires: []string{"tests"}})}}
	a, _ := scripted(t, cfg, call("tests", 1), call("release", 1), call("tests", 1), call("release", 2), say("Out."))
	require.Equal(t, "Out.", run(t, a).Text())
	all := finished(t, a, "s")
	require.Equal(t, tools.Denied, all[1].Status)
	require.Equal(t, tools.OK, all[3].Status)
}

// TestAHookCannotMakeAProgramHaveSucceeded: it may say that one has failed.
func TestAHookCannotMakeAProgramHaveSucceeded(t *testing.T) {
	hook := agent.Hooks{AfterTool: func(_ context.Context, _ *agent.ToolCall, res *agent.ToolResult) error {
		exit := &tools.Exit{Code: 1 - res.Exit.Code}
		res.Exit = exit
		return nil
	}}
	cfg := agent.Config{Hooks: []agent.Hooks{hook}, Tools: []tools.Tool{program("tests", tools.Spec{}, 1, 0)}}
	a, _ := scripted(t, cfg, call("tests", 1), call("tests", 2), say("Done."))
	require.Equal(t, "Done.", run(t, a).Text())
	for _, res := range finished(t, a, "s") {
		require.False(t, res.Succeeded())
	}
}
