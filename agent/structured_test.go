package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A Forecast is a structured answer.
type Forecast struct {
	City    string  `json:"city"`
	Celsius float64 `json:"celsius"`
}

func TestAStructuredAnswerIsCorrectedTwice(t *testing.T) {
	good := Forecast{"Oslo", 3}
	const ok = `{"city":"Oslo","celsius":3}`
	for name, c := range map[string]struct {
		replies []string
		fails   bool
	}{
		"at once":        {[]string{ok}, false},
		"in a fence":     {[]string{"```json\n" + ok + "\n```"}, false},
		"the second":     {[]string{"It is cold.", ok}, false},
		"the third":      {[]string{`{"city":"Oslo"}`, `{"city":"Oslo","celsius":"3"}`, ok}, false},
		"never":          {[]string{"a", "b", "c"}, true},
		"with more":      {[]string{`{"city":"Oslo","celsius":3,"more":1}`, ok}, false},
		"two, one after": {[]string{ok + ok, ok}, false},
		"empty":          {[]string{"", ok}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []providertest.Step
			for _, text := range c.replies {
				steps = append(steps, say(text))
			}
			a, model := scripted(t, agent.Config{}, steps...)
			got, res, err := agent.RunFor[Forecast](t.Context(), a, agent.Input{Prompt: "Oslo?"})
			model.AssertDone(t)
			if c.fails {
				var out *agent.OutputError
				require.ErrorAs(t, err, &out)
				require.Equal(t, "c", out.Text)
				require.Equal(t, agent.Failed, res.Status)
				require.Equal(t, machine.CodeOutput, res.Code)
				return
			}
			require.NoError(t, err)
			require.Equal(t, good, got)
			require.Equal(t, agent.Completed, res.Status)
			require.NotEmpty(t, model.Requests()[0].Output.Schema)
		})
	}
}

func TestAnAnswerMayBeOfAnyType(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say(`{"value":[1,2]}`), say(`{"value":"x"}`), say(`{"value":7}`),
		say(`{"a":1}`))
	list, _, err := agent.RunFor[[]int](t.Context(), a, agent.Input{Prompt: "x"})
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, list)
	text, _, err := agent.RunFor[string](t.Context(), a, agent.Input{Prompt: "x"})
	require.NoError(t, err)
	require.Equal(t, "x", text)
	n, _, err := agent.RunFor[int](t.Context(), a, agent.Input{Prompt: "x"})
	require.NoError(t, err)
	require.Equal(t, 7, n)
	m, _, err := agent.RunFor[map[string]int](t.Context(), a, agent.Input{Prompt: "x"})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a": 1}, m)
	_, res, err := agent.RunFor[chan int](t.Context(), a, agent.Input{Prompt: "x"})
	var bad *agent.ArgError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "RunFor", bad.Func)
	require.ErrorContains(t, err, "chan int")
	require.Nil(t, res)
	_, _, err = agent.RunFor[struct{ List []func() }](t.Context(), a, agent.Input{Prompt: "x"})
	require.ErrorAs(t, err, &bad)
	require.ErrorContains(t, err, ".List[]")
}

func TestAStructuredAnswerSurvivesToolsAndAPause(t *testing.T) {
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			a, model, done := risky(t, agent.Config{Journal: store()}, call("work", 1), call("risky", 2),
				say("no JSON"), say(`{"city":"Oslo","celsius":3}`))
			_, res, err := agent.RunFor[Forecast](t.Context(), a, agent.Input{Session: "s", Prompt: "Oslo?"})
			var paused *agent.PausedError
			require.ErrorAs(t, err, &paused)
			got, res, err := agent.RunFor[Forecast](t.Context(), a, approveAll(res))
			require.NoError(t, err)
			require.Equal(t, Forecast{"Oslo", 3}, got)
			require.Equal(t, 4, res.Steps)
			require.Equal(t, 2, done.all())
			model.AssertDone(t)
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestARunThatDidntCompleteHasNoAnswer(t *testing.T) {
	var done effects
	a, _ := scripted(t, agent.Config{Limits: agent.Limits{Steps: 1}, Journal: &journal.MapStore{},
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
		call("work", 1), say(`{"city":"Oslo","celsius":3}`))
	got, res, err := agent.RunFor[Forecast](t.Context(), a, agent.Input{Prompt: "Oslo?"})
	var limit *agent.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, agent.Stopped, res.Status)
	require.Zero(t, got)
}

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
