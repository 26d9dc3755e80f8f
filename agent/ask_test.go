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

// askTool runs a call of AskTool until it pauses.
func askTool(t *testing.T, input map[string]any) (*agent.Agent, *agent.Result, *providertest.Model) {
	t.Helper()
	model := providertest.Script(providertest.Call("ask", input), providertest.Say("good"))
	a, err := agent.New(agent.Config{Provider: model, Journal: journal.NewMemory(),
		Tools: []tools.Tool{agent.AskTool()}})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "paint it"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Len(t, res.Pending, 1)
	require.Equal(t, agent.PauseKind("question"), res.Pending[0].Kind)
	return a, res, model
}

func TestTheAnswerToAskedQuestionsIsTheirResult(t *testing.T) {
	colors := []string{"red", "blue <i>"}
	for name, c := range map[string]struct {
		options []string
		schema  string
		decide  func(id string) agent.Decision
		result  string
	}{
		"an option": {colors, `{"type":"string","minLength":1,"enum":["red","blue <i>"]}`,
			func(id string) agent.Decision { return agent.Answer(id, "blue <i>") }, "blue <i>"},
		"own words": {nil, `{"type":"string","minLength":1}`,
			func(id string) agent.Decision { return agent.Answer(id, "like the sky") }, "like the sky"},
		"none of them": {colors, `{"type":"string","minLength":1,"enum":["red","blue <i>"]}`,
			func(id string) agent.Decision { return agent.Reject(id, "rather green") }, "rather green"},
	} {
		t.Run(name, func(t *testing.T) {
			input := map[string]any{"question": "Which color?"}
			if c.options != nil {
				input["options"] = c.options
			}
			a, res, model := askTool(t, input)
			p := res.Pending[0]
			require.Equal(t, "Which color?", p.Reason)
			require.JSONEq(t, c.schema, string(p.Schema))
			res, err := a.Run(t.Context(), agent.Resume("s-1", c.decide(p.ID).By("ann")))
			require.NoError(t, err)
			require.Equal(t, "good", res.Text())
			require.Contains(t, res.Messages[2].Parts[0].Result.Text(), c.result)
			require.Len(t, model.Requests(), 2)
		})
	}
}

func TestAnAskedQuestionTakesOneOfItsOptionsOnly(t *testing.T) {
	a, res, _ := askTool(t, map[string]any{"question": "Which color?", "options": []string{"red", "blue"}})
	for _, value := range []any{"green", "", 1, nil, map[string]string{"answer": "red"}} {
		_, err := a.Run(t.Context(), agent.Resume("s-1", agent.Answer(res.Pending[0].ID, value)))
		var refused *agent.DecisionError
		require.ErrorAs(t, err, &refused, "%v", value)
		require.Equal(t, machine.DecisionBad, refused.Code)
	}
	d, err := agent.AskTool().Define()
	require.NoError(t, err)
	for _, input := range []string{`{}`, `{"question":" "}`, `{"question":"?","options":["a"," "]}`,
		`{"question":"?","x":1}`} {
		_, err := d.Accept([]byte(input))
		require.Error(t, err, input)
	}
}
