package plan

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// ways is the input of plan.choose.
func ways(plans ...object) object { return object{"goal": "a contact page", "plans": plans} }

func way(title string, nodes ...object) object { return object{"title": title, "nodes": nodes} }

// offer has a model offer a choice, and returns how its session stands then.
func offer(t *testing.T, a *agent.Agent) *agent.Result {
	t.Helper()
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x", Mode: "plan"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Len(t, res.Pending, 1)
	return res
}

func TestTheChosenPlanIsCarriedOutAsItWasShown(t *testing.T) {
	var s shop
	a, r, model := s.planner(t, providertest.Call(ToolChoose, ways(way("Reuse", step("old", "make")),
		way("Create", step("new", "make"), step("more", "make", "new")))), providertest.Say("Done."))
	res := offer(t, a)
	p := res.Pending[0]
	require.Equal(t, "Choose a plan: a contact page", p.Title)
	require.Equal(t, "1. The plan “Reuse” has 1 step: Make “old”. Recommended.\n2. The plan “Create” has 2 steps: Make “new”, "+
		"Make “more”.\nWhich one shall be carried out?", p.Reason)
	require.JSONEq(t, `{"type":"string","enum":["Reuse","Create"]}`, string(p.Schema))
	offered, ok := Alternatives(&p)
	require.True(t, ok)
	require.Len(t, offered, 2)
	require.True(t, offered[0].Recommended)
	require.False(t, offered[1].Recommended)
	require.Len(t, offered[1].Plan.Nodes, 2)
	require.Equal(t, []string{"s " + p.ID}, listed(t, r.store))

	for _, d := range []agent.Decision{agent.Answer(p.ID, "Steal"), agent.Answer(p.ID, 3), agent.Approve(p.ID)} {
		_, err := a.Run(t.Context(), agent.Resume("s", d))
		require.ErrorAs(t, err, new(*agent.DecisionError))
	}
	require.Empty(t, s.all())
	_, err := a.Run(t.Context(), agent.Resume("s", agent.Answer(p.ID, "Create").By("ann")))
	require.NoError(t, err)
	require.Equal(t, []string{"new", "more"}, s.all())
	model.AssertSaw(t, 1, providertest.ToolResultText(ToolChoose, "status: completed"))
	require.Empty(t, listed(t, r.store))

	receipt, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	require.Empty(t, receipt.Impossible)
}

// chooser returns an agent that offers plans for a runner, and has a tool that reads.
func (s *shop) chooser(t *testing.T, r *Runner, model provider.Provider) *agent.Agent {
	t.Helper()
	a, err := agent.New(agent.Config{Name: "planner", Provider: model, Journal: r.store,
		Tools: append(Tools(r), tools.New(tools.Spec{Name: "look", ReadOnly: true}, s.make)),
		Modes: []agent.Mode{Mode("plan")}})
	require.NoError(t, err)
	return a
}

func TestAPlanThatCannotWorkIsNeitherRecommendedNorTriedNext(t *testing.T) {
	s := shop{fail: map[string][]error{"new": {context.DeadlineExceeded}}}
	store := &journal.MapStore{}
	r := s.runner(t, Config{Agent: s.agent(t, store), Weights: Weights{
		MissingOf: func(_ context.Context, p *Plan) ([]string, error) {
			if p.Title == "Reuse" {
				return []string{"there is no section form"}, nil
			}
			return nil, nil
		}}})
	model := providertest.Script(providertest.Call(ToolChoose, ways(way("Reuse", step("old", "make")),
		way("Create", step("first", "make"), step("new", "make", "first")), way("Clone", step("copy", "publish")))),
		providertest.Say("Done."))
	a := s.chooser(t, r, model)
	p := offer(t, a).Pending[0]
	require.Contains(t, p.Reason, "3. The plan “Reuse” has 1 step: Make “old”. It can't work now: there is no section form.")
	offered, _ := Alternatives(&p)
	require.Equal(t, "Create", offered[0].Plan.Title)
	require.True(t, offered[0].Recommended)
	require.Equal(t, []string{"there is no section form"}, offered[2].Missing)

	res, err := a.Run(t.Context(), agent.Resume("s", agent.Answer(p.ID, "Create")))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Equal(t, "Carry out the plan “Clone”", res.Pending[0].Title, "the chosen one has failed")
	require.Equal(t, []string{"first", "-first"}, s.all())
	state, err := r.State(t.Context(), theRun(t, r))
	require.NoError(t, err)
	require.Equal(t, "Create", state.Overview().Failed[0].Title)
	_, err = a.Run(t.Context(), agent.Resume("s", agent.Reject(res.Pending[0].ID, "no")))
	require.NoError(t, err)
	require.Equal(t, []string{"first", "-first"}, s.all(), "Reuse isn't tried")
	model.AssertSaw(t, 1, providertest.ToolResultText(ToolChoose, `Plan "Create" (plan-2) failed`))
}

func TestAPlanThatMissesItsGoalIsOfferedOnlyIfEachDoes(t *testing.T) {
	for misses, offers := range map[string][]string{"Clone": {"Reuse", "Create"}, "Reuse Clone": {"Create"},
		"Reuse Create Clone": {"Reuse", "Create", "Clone"}} {
		var s shop
		store := &journal.MapStore{}
		r := s.runner(t, Config{Agent: s.agent(t, store), Weights: Weights{
			MissesOf: func(_ context.Context, goal string, p *Plan) ([]string, error) {
				require.Equal(t, "a contact page", goal)
				if strings.Contains(misses, p.Title) {
					return []string{"there is no form"}, nil
				}
				return nil, nil
			}}})
		model := providertest.Script(providertest.Call(ToolChoose, ways(way("Clone", step("copy", "publish")),
			way("Reuse", step("old", "make")), way("Create", step("first", "make"), step("new", "make", "first")))),
			providertest.Say("Done."))
		a := s.chooser(t, r, model)
		p := offer(t, a).Pending[0]
		offered, _ := Alternatives(&p)
		titles := make([]string, len(offered))
		for i, o := range offered {
			titles[i] = o.Plan.Title
		}
		require.ElementsMatch(t, offers, titles)
		all := len(offered) == 3
		require.Equal(t, !all, offered[0].Recommended)
		require.Equal(t, all, strings.Contains(p.Reason, "Not all of it: there is no form"))
	}
}

func TestWhoChoosesNoneOfThePlansSaysWhy(t *testing.T) {
	for name, d := range map[string]func(id string) agent.Decision{
		"rejected":  rejecting("all are too long"),
		"suggested": func(id string) agent.Decision { return agent.Suggest(id, "all are too long") },
	} {
		t.Run(name, func(t *testing.T) {
			var s shop
			a, r, model := s.planner(t, providertest.Call(ToolChoose, ways(way("Reuse", step("old", "make")),
				way("Create", step("new", "make")))), providertest.Say("I see."))
			_, err := a.Run(t.Context(), agent.Resume("s", d(offer(t, a).Pending[0].ID)))
			require.NoError(t, err)
			require.Empty(t, s.all())
			require.Empty(t, listed(t, r.store))
			model.AssertSaw(t, 1, providertest.ToolResultText(ToolChoose, "A person chose none of the plans. all are too long"))
		})
	}
}

func TestPlansThatCannotBeOfferedAreSentBackToTheModel(t *testing.T) {
	var s shop
	one := way("Reuse", step("old", "make"))
	a, _, model := s.planner(t,
		providertest.Unfit(providertest.Call(ToolChoose, ways(one))),
		providertest.Call(ToolChoose, ways(one, one)),
		providertest.Call(ToolChoose, ways(one, way("", step("a", "make")))),
		providertest.Call(ToolChoose, ways(one, way("Other", step("a", "mak")))),
		providertest.Say("I can't."))
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x", Mode: "plan"})
	require.NoError(t, err)
	for i, want := range []string{"must have at least 2 items", `two plans have the title "Reuse"`,
		`"plan-2" can't run: it has no title`, `there is no t`} {
		model.AssertSaw(t, i+1, providertest.ToolResultText(ToolChoose, want))
	}
}

// The choice was recorded, and the process died before the run began.
func TestAnotherProcessCarriesOutWhatWasChosen(t *testing.T) {
	var s shop
	a, r, _ := s.planner(t, providertest.Call(ToolChoose, ways(way("Reuse", step("old", "make")),
		way("Create", step("new", "make"), stepOn("late", "publish", "new")))))
	p := offer(t, a).Pending[0]
	res, err := a.Run(t.Context(), agent.Resume("s", agent.Answer(p.ID, "Create")))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Len(t, res.Pending, 1, "a part of its input isn't in the plan")
	require.Equal(t, []string{"new"}, s.all())
	own := &shop{}
	r2 := own.runner(t, Config{Agent: own.agent(t, r.store), AskOnFailure: true})
	b, err := agent.New(agent.Config{Name: "planner", Provider: providertest.Script(providertest.Say("Done.")),
		Journal: r.store, Tools: append(Tools(r2), tools.New(tools.Spec{Name: "look", ReadOnly: true}, own.make)),
		Modes: []agent.Mode{Mode("plan")}})
	require.NoError(t, err)
	_, err = b.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.NoError(t, err)
	require.Equal(t, []string{"late"}, own.all())
	require.ErrorAs(t, b.Session("s").Decide(t.Context(), agent.Answer(p.ID, "Reuse")), new(*agent.DecisionError))
}

func TestRank(t *testing.T) {
	var s shop
	w := Weights{Tools: s.agent(t, nil).Tools()}
	w.MissingOf = func(_ context.Context, p *Plan) ([]string, error) {
		if slices.ContainsFunc(p.Nodes, func(n Node) bool { return n.ID == "hero" }) {
			return []string{"section hero"}, nil
		}
		return nil, nil
	}
	safe := plan("safe", made("a"), made("b"))
	missing := plan("missing", made("a"), made("hero"))
	unknown := plan("unknown", Node{ID: "x", Tool: "paint"}, Node{ID: "y", Tool: "publish"})
	short := plan("short", made("a"))
	ranking, err := Rank(t.Context(), w, unknown, missing, safe, nil, short)
	require.NoError(t, err)
	require.Equal(t, []*Plan{short, safe, missing, unknown},
		[]*Plan{ranking[0].Plan, ranking[1].Plan, ranking[2].Plan, ranking[3].Plan})
	require.Equal(t, Ranked{Plan: missing, Score: .8, Missing: []string{"section hero"}, Cost: 2}, ranking[2])
	require.Equal(t, Ranked{Plan: unknown, Score: .6, Unknown: []string{"x"}, Risky: []string{"y"}, Cost: 2},
		ranking[3])
	w.Cost = 1
	ranking, err = Rank(t.Context(), w, missing, safe)
	require.NoError(t, err)
	require.Equal(t, safe, ranking[0].Plan, "the other one can't work, though its score is the same")
	require.Zero(t, ranking[0].Score)
	wrong := errors.New("the site doesn't answer")
	w.MissingOf = func(context.Context, *Plan) ([]string, error) { return nil, wrong }
	_, err = Rank(t.Context(), w, safe)
	require.ErrorIs(t, err, wrong)
}
