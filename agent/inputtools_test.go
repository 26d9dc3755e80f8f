package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestAFrontEndExecutesAToolOfTheInput(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	cfg := agent.Config{Journal: store, Tools: named(&done, "own")}
	a, m := scripted(t, cfg, call("own", 1), providertest.Call("ui.pick", map[string]any{"color": "red"}))
	pick := tools.External(tools.Spec{Name: "ui.pick", Description: "Lets the user pick.",
		Output: json.RawMessage(`{"type":"integer"}`),
		Schema: json.RawMessage(`{"type":"object","properties":{"color":{"type":"string"}}}`)})
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "go", Tools: []tools.Tool{pick}})
	require.Equal(t, agent.Paused, res.Status)
	require.Len(t, res.Pending, 1)
	require.Equal(t, agent.PauseKind(tools.SuspendExternal), res.Pending[0].Kind)
	require.JSONEq(t, `{"color":"red"}`, string(res.Pending[0].Call.Input))
	requireOffered(t, m, []string{"own", "ui.pick"}, []string{"own", "ui.pick"})

	b, m := scripted(t, cfg, say("It was 7."), say("Done.")) // another process, which isn't told about the tool again
	_, err := b.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, "seven")))
	require.Error(t, err, "the answer doesn't fit Spec.Output")
	again := runInput(t, b, agent.Resume("s", agent.Answer(res.Pending[0].ID, 7)))
	require.Equal(t, "It was 7.", again.Text())
	_, err = b.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, 8)))
	require.Error(t, err, "an answer counts once")
	run(t, b)
	requireOffered(t, m, []string{"own", "ui.pick"}, []string{"own"})
	requireSound(t, "s", facts(t, b, "s"))
}

func TestToolsOfTheInputAreGivenAgainToResume(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	cfg := agent.Config{Journal: store}
	a, _ := scripted(t, cfg, call("risky", 1))
	in := agent.Input{Session: "s", Prompt: "go",
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}
	res := runInput(t, a, in)
	b, m := scripted(t, cfg, say("Done."))
	resume := agent.Resume("s", agent.Approve(res.Pending[0].ID))
	_, err := b.Run(t.Context(), resume)
	var changed *agent.ChangedError
	require.ErrorAs(t, err, &changed)
	resume.Tools = in.Tools
	require.Equal(t, agent.Completed, runInput(t, b, resume).Status)
	require.Equal(t, 1, done.of(1))
	requireOffered(t, m, []string{"risky"})
}

func TestMistakesInTheToolsOfAnInputAreRefused(t *testing.T) {
	var done effects
	a, m := scripted(t, agent.Config{Tools: named(&done, "own"),
		Sources: []tools.Source{newCatalog("src", named(&done, "x")...)}}, say("Done."))
	for name, in := range map[string]agent.Input{
		"Tools: there is another tool with the name \"own\"; give this one another": {
			Tools: named(&done, "own")},
		"Tools: there is another tool with the name \"x\"; give this one another": {
			Tools: named(&done, "x")},
		"Tools: there is another tool with the name \"y\"; give this one another": {
			Tools: named(&done, "y", "y")},
		"Tools: tool 0: tools: the tool is nil": {
			Tools: []tools.Tool{nil}},
		"Tools: tool 0: tools: panic in a function of the host: runtime error: invalid memory address or nil pointer " +
			"dereference": {
			Tools: []tools.Tool{(*nobody)(nil)}},
		"Only: there is no tool \"z\"; the tools are own, x": {Only: []string{"own", "z"}},
		"ToolChoice: there is no tool \"z\"; the tools are own, x": {
			ToolChoice: provider.ToolChoice{Mode: provider.ChooseTool, Tool: "z"}},
		"ToolChoice: the tool \"x\" isn't offered in mode \"\"": {Only: []string{"own"},
			ToolChoice: provider.ToolChoice{Mode: provider.ChooseTool, Tool: "x"}},
	} {
		in.Session, in.Prompt = "s", "go"
		_, err := a.Run(t.Context(), in)
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad)
		require.Contains(t, bad.Field, "Input.")
		require.EqualError(t, err, "agent: Input."+name)
	}
	require.Empty(t, m.Requests())
	require.Empty(t, facts(t, a, "s"), "nothing was stored")
}

func TestOnlyTheNamedToolsAreOffered(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	cfg := agent.Config{Journal: store,
		Tools: append(named(&done, "a", "b"), done.tool(tools.Spec{Name: "risky", Risk: tools.High}))}
	a, m := scripted(t, cfg, providertest.Unfit(call("b", 1)), call("risky", 2))
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "go", Only: []string{"risky", "a"}})
	require.Equal(t, agent.Paused, res.Status)
	requireOffered(t, m, []string{"a", "risky"}, []string{"a", "risky"})
	require.Contains(t, lastText(m), `the tool "b" isn't available now; the tools are a, risky`)

	b, m := scripted(t, cfg, say("Done."), say("Done."))
	runInput(t, b, approveAll(res))
	run(t, b)
	requireOffered(t, m, []string{"a", "risky"}, []string{"a", "b", "risky"})
	require.Zero(t, done.of(1))
	require.Equal(t, 1, done.of(2))
}

func TestAToolThatAHookMadeUpIsAnError(t *testing.T) {
	var done effects
	stranger, err := done.tool(tools.Spec{Name: "own"}).Define()
	require.NoError(t, err)
	for name, d := range map[string]*tools.Definition{"another definition": stranger, "nil": nil} {
		t.Run(name, func(t *testing.T) {
			for _, observer := range []bool{false, true} {
				hook := agent.Hooks{Name: "adds", Observer: observer,
					BeforeStep: func(ctx context.Context, s *agent.Step) error {
						s.Tools = append(s.Tools, d)
						return nil
					}}
				a, m := scripted(t, agent.Config{Tools: named(&done, "own"), Hooks: []agent.Hooks{hook}}, say("Done."))
				res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
				if observer { // it changes nothing
					require.NoError(t, err)
					requireOffered(t, m, []string{"own"})
					continue
				}
				var failed *agent.HookError
				require.ErrorAs(t, errorOf(err, res), &failed)
				require.Equal(t, "adds", failed.Hook)
				require.Empty(t, m.Requests())
			}
		})
	}
}

// errorOf returns the error of a run, or that of its result.
func errorOf(err error, res *agent.Result) error {
	if err != nil {
		return err
	}
	return res.Err()
}

func TestALazyToolIsOfferedOnceItIsLoaded(t *testing.T) {
	for name, sourced := range map[string]bool{"own": false, "of a source": true} {
		t.Run(name, func(t *testing.T) {
			var done effects
			lazy := tools.Lazy(done.tool(tools.Spec{Name: "lazy"}), "call load first")
			load := doing("load", func(ctx context.Context) error { return agent.LoadTools(ctx, "lazy") })
			cfg := agent.Config{Journal: &journal.MapStore{},
				Tools: append([]tools.Tool{lazy, load}, named(&done, "last")...)}
			if sourced {
				cfg.Tools, cfg.Sources = cfg.Tools[1:], []tools.Source{newCatalog("src", lazy)}
			}
			a, m := scripted(t, cfg, providertest.Unfit(call("lazy", 1)), call("load", 0), call("load", 0),
				call("lazy", 2), say("Done."))
			require.Equal(t, agent.Completed, run(t, a).Status)
			require.Contains(t, partsOf(m.Requests()[1].Messages[2].Parts),
				`the tool "lazy" isn't loaded; call load first`)
			before, after := []string{"load", "last"}, []string{"load", "last", "lazy"}
			requireOffered(t, m, before, before, after, after, after)
			require.Zero(t, done.of(1))
			require.Equal(t, 1, done.of(2))
			changes := changesIn(facts(t, a, "s"))
			require.Len(t, changes, 1)
			require.Equal(t, "lazy", changes[0].Tools[0].Name)
			require.False(t, changes[0].Tools[0].Lazy)

			b, m := scripted(t, cfg, say("Done.")) // it stays loaded in the session
			run(t, b)
			requireOffered(t, m, after)
			require.Len(t, changesIn(facts(t, b, "s")), 1)
			runInput(t, reopen(t, cfg, say("Done.")), agent.Input{Session: "other", Prompt: "go"})
			requireSound(t, "s", facts(t, b, "s"))
		})
	}
}

func TestALazyToolThatAnInputNamesIsOffered(t *testing.T) {
	var done effects
	lazy := tools.Lazy(done.tool(tools.Spec{Name: "lazy"}), "call load first")
	a, m := scripted(t, agent.Config{Tools: append([]tools.Tool{lazy}, named(&done, "last")...)}, call("lazy", 1),
		say("Done."), say("Done."))
	runInput(t, a, agent.Input{Session: "s", Prompt: "go", Only: []string{"lazy"}})
	require.Equal(t, 1, done.of(1))
	runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
	requireOffered(t, m, []string{"lazy"}, []string{"lazy"}, []string{"last"})
}

func TestLoadToolsListsSourcesThatHaveChanged(t *testing.T) {
	var done effects
	src := newCatalog("server", named(&done, "server.x")...)
	var src2 *catalog
	connect := doing("server.connect", func(ctx context.Context) error {
		src2.set(nil, named(&done, "b", "a")...)
		return agent.LoadTools(ctx)
	})
	src2 = newCatalog("again", connect)
	a, m := scripted(t, agent.Config{Sources: []tools.Source{src, src2}}, call("server.connect", 0), call("a", 1),
		call("server.connect", 0), say("Done."))
	require.Equal(t, agent.Completed, run(t, a).Status)
	before, after := []string{"server.connect", "server.x"}, []string{"server.connect", "server.x", "b", "a"}
	requireOffered(t, m, before, after, after, after)
	require.Equal(t, 1, done.of(1))
	require.Len(t, src.asked, 1, "it hasn't changed")
	requireSound(t, "s", facts(t, a, "s"))
}

func TestAToolThatLoadToolsFoundGoneMayComeBack(t *testing.T) {
	var done effects
	src := newCatalog("src", named(&done, "x", "y")...)
	remove := doing("remove", func(ctx context.Context) error {
		src.set(nil, named(&done, "y")...)
		return agent.LoadTools(ctx)
	})
	restore := doing("restore", func(context.Context) error { src.set(nil, named(&done, "x", "y")...); return nil })
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{remove, restore}, Sources: []tools.Source{src}},
		call("remove", 0), call("x", 1), call("restore", 0), call("x", 2), say("Done."))
	require.Equal(t, agent.Completed, run(t, a).Status)
	require.Zero(t, done.of(1), "it was gone")
	require.Equal(t, 1, done.of(2), "it was back")
}

func TestLoadToolsRefusesAnUnknownName(t *testing.T) {
	var done effects
	var failure error
	load := doing("load", func(ctx context.Context) error {
		failure = agent.LoadTools(ctx, "own", "nothing")
		return nil
	})
	a, _ := scripted(t, agent.Config{Tools: append(named(&done, "own"), load)}, call("load", 0), say("Done."))
	run(t, a)
	require.EqualError(t, failure, `agent: Input.LoadTools: there is no tool "nothing"; the tools are own, load`)
	require.Error(t, agent.LoadTools(t.Context(), "own"))
	require.Empty(t, changesIn(facts(t, a, "s")))
}

func TestAWrappedSubagentRuns(t *testing.T) {
	child, _ := scripted(t, agent.Config{Name: "child"}, say("Child done."))
	wrapped := tools.Wrap(agent.AsTool(child, tools.Spec{}),
		func(ctx context.Context, input json.RawMessage, next tools.Runner) (tools.Result, error) {
			return next(ctx, input)
		})
	a, m := scripted(t, agent.Config{Tools: []tools.Tool{wrapped}}, task("child", "x"), say("Done."))
	require.Equal(t, agent.Completed, run(t, a).Status)
	require.Contains(t, lastText(m), "Child done.")
}

func TestReplayNeedsOnlyTheNamesOfTools(t *testing.T) {
	var done effects
	src := newCatalog("src", named(&done, "x")...)
	a, _ := scripted(t, agent.Config{Sources: []tools.Source{src}}, call("x", 1), say("Done."), say("Done."))
	run(t, a)
	src.set(nil)
	run(t, a)
	log := facts(t, a, "s")
	m, err := machine.Replay("s", log...)
	require.NoError(t, err)
	require.Equal(t, agent.Completed, m.State().Run.Status)
}
