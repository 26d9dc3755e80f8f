package assistant

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/critic"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
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
	f := serveSite(t, m, nil)
	events := f.read(f.ask("s-1", "Create an About page"), "")
	var phases []any
	for _, e := range of(events, "phase-transition") {
		phases = append(phases, e.data["to"])
	}
	require.Equal(t, []any{"planning", "executing", "verifying", "completed"}, phases)
	require.Len(t, of(events, "step-complete"), 4)
	require.Empty(t, of(events, "complexity-detected"), "a simple request costs nothing")
}

func TestAFailureIsShownAndTheThirdOneTellsAPerson(t *testing.T) {
	create := providertest.Call("cms.createPage", map[string]any{"name": "Home", "slug": "home"})
	f := serveSite(t, providertest.Script(create, create, create, providertest.Say("I couldn't.")), nil)
	events := f.read(f.ask("s-1", "Create a home page"), "")
	wrong := of(events, "validation_failed")
	require.Len(t, wrong, 3)
	require.EqualValues(t, 2, wrong[1].data["retryAttempt"])
	require.Equal(t, "cms.createPage", wrong[0].data["toolName"])
	require.NotEmpty(t, wrong[0].data["actual"])
	told := of(events, "error-escalation")
	require.Len(t, told, 1)
	require.Equal(t, true, told[0].data["showModal"])
}

func TestAFallbackIsNamed(t *testing.T) {
	fixed := func(name string, err error) tools.Tool {
		return tools.New(tools.Spec{Name: name, Description: name}, func(context.Context, struct{}) (string, error) {
			return "ok", err
		})
	}
	f := serveSite(t, providertest.Script(providertest.Call(cmstools.UpdatePage, nil),
		providertest.Call(cmstools.CreatePage, nil), providertest.Say("Done.")),
		func(c *agent.Config) {
			c.Tools = []tools.Tool{fixed(cmstools.UpdatePage, fault.New(fault.NotFound, "no such page")),
				fixed(cmstools.CreatePage, nil)}
		})
	fell := of(f.read(f.ask("s-1", "Change it"), ""), "tool-fallback")
	require.Len(t, fell, 1)
	require.Equal(t, cmstools.UpdatePage, fell[0].data["originalTool"])
}

func TestAComplexAnswerIsReflectedOn(t *testing.T) {
	judge := providertest.Script(
		providertest.Say(`{"score":0.4,"missing":["the posts"],"wording":[]}`),
		providertest.Say(`{"score":0.9,"missing":[],"wording":[]}`))
	f := serveSite(t, providertest.Script(providertest.Say("Done."), providertest.Say("Done, with three posts.")),
		func(c *agent.Config) {
			hooks, err := critic.New(critic.Config{Provider: judge, Rewrite: true})
			require.NoError(t, err)
			c.Hooks = []agent.Hooks{hooks}
		})
	events := f.read(f.ask("s-1", long), "")
	require.Len(t, of(events, "complexity-detected"), 1)
	require.Len(t, of(events, "reflection-start"), 2)
	judged := of(events, "reflection-complete")
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
	f := serveSite(t, m, nil)
	events := f.read(f.ask("s-1", "Plan it", "architect"), "")
	require.Len(t, of(events, "preflight_result"), 1, "%v", of(events, "tool-result"))
	require.Equal(t, false, of(events, "preflight_result")[0].data["valid"])
}

func TestSeveralCallsOfAReplyShowTheirProgress(t *testing.T) {
	m := providertest.Script(
		providertest.Calls(providertest.CallSpec{Tool: "cms.listPages"},
			providertest.CallSpec{Tool: "cms.listCollections"}),
		providertest.Say("Done."))
	f := serveSite(t, m, nil)
	progress := of(f.read(f.ask("s-1", "Look"), ""), "progress-update")
	require.Len(t, progress, 2)
	// the calls run in parallel, and so do the hooks that report them
	require.ElementsMatch(t, []any{.5, 1.}, []any{progress[0].data["progress"], progress[1].data["progress"]})
}
