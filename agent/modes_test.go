package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// moded returns the configuration of an agent with two modes and a tool that switches.
func moded(done *effects) agent.Config {
	return agent.Config{
		Instructions: "Be brief.",
		Modes: []agent.Mode{
			{Name: "ask", Instructions: "Only look.", Tools: tools.Named("look", "switch")},
			{Name: "edit", Instructions: "You may edit.", Limits: &agent.Limits{Steps: 2}, Model: "large"},
		},
		Tools: []tools.Tool{
			done.tool(tools.Spec{Name: "look", ReadOnly: true}),
			done.tool(tools.Spec{Name: "write", Modes: []string{"edit"}}),
			tools.New(tools.Spec{Name: "switch"}, func(ctx context.Context, in struct {
				To string `json:"to"`
			}) (string, error) {
				return "switched", agent.SwitchMode(ctx, in.To, "the plan is made")
			}),
		},
	}
}

func TestAModeDecidesWhatIsOffered(t *testing.T) {
	var done effects
	a, model := scripted(t, moded(&done), providertest.Unfit(call("write", 1)), say("I can't."), say("I can."))
	res := run(t, a)
	require.Equal(t, "ask", res.Mode, "the first is the default")
	model.AssertTools(t, 0, "look", "switch")
	model.AssertSaw(t, 0, providertest.SystemText("Be brief."), providertest.SystemText("Only look."))
	model.AssertSaw(t, 1, providertest.ToolResultText("write", "isn't available"))
	require.Zero(t, done.all())
	res = runInput(t, a, agent.Input{Session: "s", Prompt: "go", Mode: "edit"})
	require.Equal(t, "edit", res.Mode)
	model.AssertTools(t, 2, "look", "write", "switch")
	model.AssertSaw(t, 2, providertest.SystemText("You may edit."))
	model.AssertDidNotSee(t, 2, providertest.SystemText("Only look."))
	require.Equal(t, "large", model.Requests()[2].Model)
}

func TestAModeHasItsLimits(t *testing.T) {
	var done effects
	a, model := scripted(t, moded(&done), call("look", 1), call("look", 2), say("So far."))
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "go", Mode: "edit"})
	var limit *agent.LimitError
	require.ErrorAs(t, res.Err(), &limit)
	require.EqualValues(t, 2, limit.Max)
	model.AssertDone(t)
}

func TestAToolSwitchesTheModeFromTheNextStepOn(t *testing.T) {
	var done effects
	a, model := scripted(t, moded(&done), providertest.Call("switch", map[string]string{"to": "edit"}),
		call("write", 1), say("Done."), say("Still."))
	require.Equal(t, "edit", run(t, a).Mode)
	require.Equal(t, 1, done.of(1))
	model.AssertTools(t, 1, "look", "write", "switch")
	require.Equal(t, "edit", run(t, a).Mode, "a session stays in its mode")
	model.AssertTools(t, 3, "look", "write", "switch")
}

func TestAnUnknownModeIsAnErrorForTheTool(t *testing.T) {
	var done effects
	a, model := scripted(t, moded(&done), providertest.Call("switch", map[string]string{"to": "fly"}), say("Done."))
	require.Equal(t, "ask", run(t, a).Mode)
	model.AssertSaw(t, 1, providertest.ToolResultText("switch", "there is no mode \"fly\""))
	require.Error(t, agent.SwitchMode(t.Context(), "edit", ""), "outside of a run")
	require.Error(t, agent.SetPhase(t.Context(), "x"))
}

func TestTheHostSwitchesTheMode(t *testing.T) {
	var done effects
	a, model := scripted(t, moded(&done), call("look", 1), call("write", 2), say("Done."))
	require.Error(t, a.Session("s").SetMode(t.Context(), "fly"))
	require.ErrorIs(t, a.Session("s").SetMode(t.Context(), "edit"), agent.ErrNothingOpen)
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		if ev, ok := ev.(*agent.ToolStarted); ok && ev.Call.Name == "look" {
			require.NoError(t, a.Session("s").SetMode(t.Context(), "edit"))
		}
	}
	model.AssertTools(t, 1, "look", "write", "switch")
	require.Equal(t, 1, done.of(2))
}

// What the host sets while a run waits counts for its next call, and between runs for the next run,
// also in the next process.
func TestTheHostSwitchesTheModeWhileNothingRuns(t *testing.T) {
	var done effects
	cfg := moded(&done)
	cfg.Journal = &journal.MapStore{}
	cfg.Tools[0] = tools.New(tools.Spec{Name: "look"}, func(context.Context, struct{}) (string, error) {
		return "", tools.Suspend{Kind: "question", Prompt: "Where?"}
	})
	a, model := scripted(t, cfg, providertest.Call("look", struct{}{}), say("Done."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.Error(t, err)
	s := a.Session("s")
	require.NoError(t, s.SetMode(t.Context(), "edit"))
	require.NoError(t, s.SetMode(t.Context(), "edit"), "again")
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, "here")))
	require.NoError(t, err)
	require.Equal(t, "edit", res.Mode)
	model.AssertTools(t, 1, "look", "write", "switch")

	require.NoError(t, s.SetMode(t.Context(), "ask"))
	info, err := s.Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ask", info.Mode)
	require.Equal(t, "ask", runInput(t, reopen(t, cfg, say("Hi.")), agent.Input{Session: "s", Prompt: "again"}).Mode)
	require.ErrorIs(t, a.Session("other").SetMode(t.Context(), "edit"), agent.ErrNothingOpen)
}

// What another process has posted too late for a run waits for the next one.
func TestAnOlderModeThatWasPostedDoesntReplaceTheOneThatTheHostSets(t *testing.T) {
	for _, mode := range []string{"edit", "ask"} { // another than the session has, and the same
		t.Run(mode, func(t *testing.T) {
			var done effects
			cfg := moded(&done)
			cfg.Journal = &journal.MapStore{}
			a, _ := scripted(t, cfg, say("One."), say("Two."))
			require.Equal(t, "ask", run(t, a).Mode)
			older := map[string]string{"edit": "ask", "ask": "edit"}[mode]
			require.NoError(t, cfg.Journal.Post(t.Context(), "s", journal.Item{ID: "m-1", Kind: "mode",
				Time: time.Now(), Data: []byte(`{"text":"` + older + `"}`)}))
			require.NoError(t, a.Session("s").SetMode(t.Context(), mode))
			require.Equal(t, mode, run(t, a).Mode)
		})
	}
}

func TestASessionOutlivesItsMode(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	cfg := moded(&done)
	cfg.Journal = store
	runInput(t, reopen(t, cfg, say("Hi.")), agent.Input{Session: "s", Prompt: "go", Mode: "edit"})
	for name, modes := range map[string][]agent.Mode{"other modes": {{Name: "new"}}, "no modes": nil} {
		t.Run(name, func(t *testing.T) {
			b := reopen(t, agent.Config{Journal: store, Modes: modes}, say("Hi again."))
			require.Equal(t, "Hi again.", run(t, b).Text())
		})
	}
}

func TestAPhaseHasItsOwnSteps(t *testing.T) {
	phase := tools.New(tools.Spec{Name: "phase"}, func(ctx context.Context, in struct {
		To string `json:"to"`
	}) (string, error) {
		return "ok", agent.SetPhase(ctx, in.To)
	})
	var done effects
	to := func(name string) providertest.Step { return providertest.Call("phase", map[string]string{"to": name}) }
	a, model := scripted(t, agent.Config{Limits: agent.Limits{StepsPerPhase: 3},
		Tools: []tools.Tool{phase, done.tool(tools.Spec{Name: "work"})}},
		call("work", 1), to("build"), call("work", 2), call("work", 3), call("work", 4), say("So far."))
	res := run(t, a)
	require.Equal(t, "build", res.Phase)
	var limit *agent.LimitError
	require.ErrorAs(t, res.Err(), &limit)
	require.Equal(t, machine.LimitStepsPerPhase, limit.Limit)
	require.Equal(t, 4, done.all())
	model.AssertDone(t)
	model.AssertTools(t, 5)
}
