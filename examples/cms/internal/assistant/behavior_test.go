package assistant

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

const long = "Create a blog page, then add three posts about AI, then link them, and after that delete the old news " +
	"and translate everything"

func TestARunEntersThePhasesOfItsWork(t *testing.T) {
	m := providertest.Script(
		providertest.Call("cms.listPages", map[string]any{}),
		providertest.Call("cms.createPage", map[string]any{"name": "About", "slug": "about"}),
		providertest.Call("cms.getPage", map[string]any{"page": "about"}),
		providertest.Say("Done."))
	f := serveSite(t, m, Behavior{}, nil)
	events := f.read(f.ask("s-1", "Create an About page"), "")
	var phases []any
	for _, e := range of(events, PhaseTransition) {
		phases = append(phases, e.data["to"])
	}
	require.Equal(t, []any{Planning, Executing, Verifying, Completed}, phases)
	require.Len(t, of(events, StepComplete), 4)
	require.Empty(t, of(events, ComplexityDetected), "a simple request costs nothing")
}

func TestAFailureIsShownAndTheThirdOneTellsAPerson(t *testing.T) {
	create := providertest.Call("cms.createPage", map[string]any{"name": "Home", "slug": "home"})
	f := serveSite(t, providertest.Script(create, create, create, providertest.Say("I couldn't.")), Behavior{}, nil)
	events := f.read(f.ask("s-1", "Create a home page"), "")
	wrong := of(events, ValidationFailed)
	require.Len(t, wrong, 3)
	require.EqualValues(t, 2, wrong[1].data["retryAttempt"])
	require.Equal(t, "cms.createPage", wrong[0].data["toolName"])
	require.NotEmpty(t, wrong[0].data["actual"])
	told := of(events, ErrorEscalation)
	require.Len(t, told, 1)
	require.Equal(t, true, told[0].data["showModal"])
}

func TestAFallbackIsNamed(t *testing.T) {
	fixed := func(name string, err error) tools.Tool {
		return tools.New(tools.Spec{Name: name, Description: name}, func(context.Context, struct{}) (string, error) {
			return "ok", err
		})
	}
	f := serveSite(t, providertest.Script(providertest.Call("update", nil), providertest.Call("create", nil),
		providertest.Say("Done.")),
		Behavior{Fallbacks: map[string]string{"update": "create"}},
		func(c *agent.Config) {
			c.Tools = []tools.Tool{fixed("update", fault.New(fault.NotFound, "no such page")), fixed("create", nil)}
		})
	fell := of(f.read(f.ask("s-1", "Change it"), ""), ToolFallback)
	require.Len(t, fell, 1)
	require.Equal(t, "update", fell[0].data["originalTool"])
}

func TestAComplexAnswerIsReflectedOn(t *testing.T) {
	judge := providertest.Script(
		providertest.Say(`{"score":0.4,"missing":["the posts"],"wording":[]}`),
		providertest.Say(`{"score":0.9,"missing":[],"wording":[]}`))
	f := serveSite(t, providertest.Script(providertest.Say("Done."), providertest.Say("Done, with three posts.")),
		Behavior{Critic: judge}, nil)
	events := f.read(f.ask("s-1", long), "")
	require.Len(t, of(events, ComplexityDetected), 1)
	require.Len(t, of(events, ReflectionStart), 2)
	judged := of(events, ReflectionComplete)
	require.Len(t, judged, 2)
	require.Equal(t, true, judged[0].data["improved"])
	require.Equal(t, .9, judged[1].data["qualityScore"])
}

func TestAPreflightIsShown(t *testing.T) {
	m := providertest.Script(
		providertest.Call("cms.validatePlan",
			map[string]any{
				"operations": []any{map[string]any{"tool": "cms.getPage", "input": map[string]any{"page": "none"}}}}),
		providertest.Say("It can't be done."))
	f := serveSite(t, m, Behavior{}, nil)
	events := f.read(f.ask("s-1", "Plan it", "architect"), "")
	require.Len(t, of(events, PreflightResult), 1, "%v", of(events, "tool-result"))
	require.Equal(t, false, of(events, PreflightResult)[0].data["valid"])
}

func TestSeveralCallsOfAReplyShowTheirProgress(t *testing.T) {
	m := providertest.Script(
		providertest.Calls(providertest.CallSpec{Tool: "cms.listPages"},
			providertest.CallSpec{Tool: "cms.listCollections"}),
		providertest.Say("Done."))
	f := serveSite(t, m, Behavior{}, nil)
	progress := of(f.read(f.ask("s-1", "Look"), ""), ProgressUpdate)
	require.Len(t, progress, 2)
	// the calls run in parallel, and so do the hooks that report them
	require.ElementsMatch(t, []any{.5, 1.}, []any{progress[0].data["progress"], progress[1].data["progress"]})
}
