package plan

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func planner(t *testing.T, answers ...string) (*agent.Agent, *providertest.Model) {
	t.Helper()
	var steps []providertest.Step
	for _, text := range answers {
		steps = append(steps, providertest.Say(text))
	}
	model := providertest.Script(steps...)
	a, err := agent.New(agent.Config{Provider: model, Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "create", Description: "Creates a page."},
			func(context.Context, createInput) (string, error) {
				t.Error("nothing is carried out")
				return "", nil
			}),
	}})
	require.NoError(t, err)
	return a, model
}

const (
	about = `{"title":"New","why":"It is quick.","nodes":[{"id":"a","tool":"create","input":"{\"name\":\"About\"}"},{"id":"r","worker":"ann","prompt":"Look.","after":["a"]}]}`
	other = `{"title":"Copy","why":"It is safe.","nodes":[{"id":"a","tool":"create","input":"{\"name\":\"Copy\"}"}]}`
	wrong = `{"title":"Copy","why":"It is safe.","nodes":[{"id":"a","tool":"copy","input":"[]"}]}`
)

func TestProposedPlansAreCheckedAndRepaired(t *testing.T) {
	a, model := planner(t, `{"plans":[`+about+`,`+wrong+`]}`, `{"plans":[`+about+`,`+about+`]}`,
		`{"plans":[`+about+`,`+other+`]}`)
	plans, err := Propose(t.Context(), a, "Make an About page.", 2, "ann")
	require.NoError(t, err)
	require.Len(t, plans, 2)
	require.Equal(t, &Plan{ID: "plan-2", Title: "Copy", Why: "It is safe.", Version: 1,
		Nodes: []Node{{ID: "a", Tool: "create", Input: map[string]any{"name": "Copy"}}}}, plans[1])
	for _, p := range plans {
		require.NoError(t, p.Check(a.Tools(), "ann"))
	}
	model.AssertSaw(t, 0, providertest.UserText("Make an About page."),
		providertest.UserText("create: Creates a page."), providertest.UserText("Workers: ann"))
	model.AssertSaw(t, 1, providertest.UserText(`node "a": its input isn't the text of a JSON object`))
	model.AssertSaw(t, 2, providertest.UserText("plan-1 and plan-2 are the same"))
}

func TestPlansThatStayWrongAreAnError(t *testing.T) {
	one := `{"plans":[` + wrong + `]}`
	a, model := planner(t, one, one, one)
	_, err := Propose(t.Context(), a, "x", 1)
	require.ErrorContains(t, err, "the model proposed no plans that can run")
	require.Equal(t, fault.Permanent, fault.Of(err))
	model.AssertCalls(t, 3)

	a, _ = planner(t)
	for _, n := range []int{0, 11} {
		_, err = Propose(t.Context(), a, "x", n)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
	_, err = Propose(t.Context(), nil, "x", 1)
	require.ErrorAs(t, err, new(*agent.ArgError))
}
