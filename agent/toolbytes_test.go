package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// large returns tools with descriptions of 1 MB.
func large(prefix string, n int) (list []tools.Tool) {
	for i := range n {
		list = append(list, tools.New(tools.Spec{Name: fmt.Sprintf("%s%d", prefix, i),
			Description: strings.Repeat("x", 1_000_000)},
			func(context.Context, Number) (string, error) { return "", nil }))
	}
	return list
}

// tiny returns a lazy tool.
func tiny(name string) tools.Tool {
	return tools.Lazy(tools.New(tools.Spec{Name: name},
		func(context.Context, Number) (string, error) { return "", nil }), "load it")
}

func TestToolsThatAreTooLargeTogetherAreRefused(t *testing.T) {
	_, err := agent.New(agent.Config{Provider: providertest.Script(), Tools: large("own", 9)})
	var bad *agent.ArgError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "Config.Tools", bad.Field)
	require.ErrorContains(t, err, "all of them may have 8388608")

	a, _ := scripted(t, agent.Config{Tools: large("own", 4)}, say("Done."))
	_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go", Tools: large("given", 5)})
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "Input.Tools", bad.Field)
	require.ErrorContains(t, err, "with tool 4 the descriptions and schemas of all tools have 9000")
	_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go", Tools: large("given", 4)})
	require.NoError(t, err)
}

func TestToolsOfSourcesThatAreTooLargeTogetherAreLeftOut(t *testing.T) {
	first, second := newCatalog("a", large("a", 4)...), newCatalog("b", append(large("b", 12), tiny("small"))...)
	a, model := scripted(t, agent.Config{Sources: []tools.Source{first, second}, Tools: large("own", 2)}, say("Done."))
	var out []string
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		if f, ok := ev.(*agent.SourceFailed); ok {
			require.Contains(t, f.Reason, "more than 8388608 bytes with it")
			out = append(out, f.Source+" "+f.Tool)
		}
	}
	require.Equal(t, []string{"b number 9 and all after it,", "b b2", "b b3", "b b4", "b b5", "b b6", "b b7", "b b8"},
		out)
	model.AssertTools(t, 0, "own0", "own1", "a0", "a1", "a2", "a3", "b0", "b1")
}

func TestToolsThatAreLoadedAreBoundedTogether(t *testing.T) {
	source := newCatalog("a", tiny("first"))
	load := tools.New(tools.Spec{Name: "load"}, func(ctx context.Context, _ Number) (string, error) {
		source.set(nil, append(large("a", 8), tiny("second"))...)
		return "loaded", agent.LoadTools(ctx, "second")
	})
	a, model := scripted(t, agent.Config{Sources: []tools.Source{source}, Tools: append(large("own", 1), load)},
		call("load", 1), say("Done."))
	var out []string
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		if f, ok := ev.(*agent.SourceFailed); ok {
			out = append(out, f.Tool)
		}
	}
	require.Equal(t, []string{"a7"}, out)
	model.AssertTools(t, 1, "own0", "load", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "second")
}
