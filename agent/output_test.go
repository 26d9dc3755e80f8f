package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/tools"
)

func TestAnAnswerThatIsNoObjectMayComeWithoutOne(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   []string
	}{
		"as it was asked for":       {`{"value":["a","b"]}`, []string{"a", "b"}},
		"the bare list":             {`["a","b"]`, []string{"a", "b"}},
		"in a fence":                {"```json\n[\"a\"]\n```", []string{"a"}},
		"the element of one":        {`"a"`, []string{"a"}},
		"the element in the object": {`{"value":["a"]}`, []string{"a"}},
		"an empty list":             {`[]`, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			a, model := scripted(t, agent.Config{}, say(c.answer))
			got, res, err := agent.RunFor[[]string](t.Context(), a, agent.Input{Prompt: "names"})
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			require.Equal(t, agent.Completed, res.Status)
			model.AssertDone(t)
		})
	}
	a, model := scripted(t, agent.Config{}, say("7"), say("no JSON"), say(`{"value":"seven"}`))
	_, _, err := agent.RunFor[[]string](t.Context(), a, agent.Input{Prompt: "names"})
	var bad *agent.OutputError
	require.ErrorAs(t, err, &bad)
	model.AssertDone(t)

	b, _ := scripted(t, agent.Config{}, say("7"))
	n, _, err := agent.RunFor[int](t.Context(), b, agent.Input{Prompt: "a number"})
	require.NoError(t, err)
	require.Equal(t, 7, n)
}

func TestASubagentWithoutADescriptionHasOne(t *testing.T) {
	child, _ := scripted(t, agent.Config{Name: "editor"}, say("Edited."))
	a, model := scripted(t, agent.Config{Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})}}, task("editor", "x"),
		say("Done."))
	require.Equal(t, "Done.", run(t, a).Text())
	require.Contains(t, model.Requests()[0].Tools[0].Description, "the agent editor")
}
