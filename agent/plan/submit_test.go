package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// submit has a model submit a plan, which is approved, and returns how its session stands then.
func submit(t *testing.T, a *agent.Agent) *agent.Result {
	t.Helper()
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	res, _ = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID).By("ann")))
	return res
}

// listed returns the ids of what the logs of a journal wait for, but for those that have a parent.
func listed(t *testing.T, store journal.Store) (ids []string) {
	t.Helper()
	for head, err := range store.Heads(t.Context(), journal.Filter{Open: true, NoParent: true}) {
		require.NoError(t, err)
		for _, o := range head.Open {
			ids = append(ids, head.Session+" "+o.ID)
		}
	}
	return ids
}

// What a submitted plan asks is asked once, in the conversation, and that goes on whichever way it
// is decided.
func TestASubmittedPlanAsksInOnePlace(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(id string) agent.Decision
		done   []string
	}{
		"approved": {agent.Approve, []string{"a", "b"}},
		"edited":   {func(id string) agent.Decision { return agent.Edit(id, item{Name: "c"}) }, []string{"a", "c"}},
		"rejected": {rejecting("no"), []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			var s shop
			a, r, model := s.planner(t, providertest.Call(ToolSubmit,
				submits("", step("a", "make"), stepOn("b", "publish", "a"))), providertest.Say("Done."))
			res := submit(t, a)
			require.Len(t, res.Pending, 1)
			require.Equal(t, []string{"s " + res.Pending[0].ID}, listed(t, r.store))
			_, err := a.Run(t.Context(), agent.Resume("s", agent.Edit(res.Pending[0].ID, "no object")))
			require.ErrorAs(t, err, new(*agent.DecisionError))
			res, _ = a.Run(t.Context(), agent.Resume("s", c.decide(res.Pending[0].ID).By("ann")))
			if name == "rejected" { // the node has failed, which is another question
				require.Len(t, res.Pending, 1)
				res, _ = a.Run(t.Context(), agent.Resume("s", choosing(skip)(res.Pending[0].ID)))
			}
			require.Equal(t, agent.Completed, res.Status)
			require.Equal(t, "Done.", res.Text())
			require.Equal(t, c.done, s.all())
			require.Empty(t, listed(t, r.store))
			model.AssertSaw(t, 1, providertest.ToolResultText(ToolSubmit, "status: completed"))
		})
	}
}

// The questions of a submitted plan are open at the same time, and another process goes on.
func TestAnotherProcessGoesOnWithASubmittedPlan(t *testing.T) {
	var s shop
	a, r, _ := s.planner(t, providertest.Call(ToolSubmit, submits("", step("a", "make"), stepOn("b", "publish", "a"),
		stepOn("c", "publish", "a"))))
	res := submit(t, a)
	require.Len(t, res.Pending, 2)
	own := &shop{}
	r2 := own.runner(t, Config{Agent: own.agent(t, r.store), AskOnFailure: true})
	b, err := agent.New(agent.Config{Name: "planner", Provider: providertest.Script(providertest.Say("Done.")),
		Journal: r.store, Tools: append(Tools(r2), tools.New(tools.Spec{Name: "look", ReadOnly: true}, own.make)),
		Modes: []agent.Mode{Mode("plan")}})
	require.NoError(t, err)
	var ds []agent.Decision
	for _, p := range res.Pending {
		ds = append(ds, agent.Approve(p.ID))
	}
	res, err = b.Run(t.Context(), agent.Resume("s", ds...))
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	require.ElementsMatch(t, []string{"b", "c"}, own.all())
}

// Whoever reads the events of the session sees how far the plan is; a reader who comes later sees
// where it paused.
func TestASubmittedPlanReportsHowFarItIs(t *testing.T) {
	s := shop{fail: map[string][]error{"b": {context.DeadlineExceeded}}}
	a, _, _ := s.planner(t, providertest.Call(ToolSubmit, submits("", step("a", "make"), step("b", "make", "a"))),
		providertest.Say("Done."))
	res := submit(t, a)
	_, err := a.Run(t.Context(), agent.Resume("s", choosing(retry)(res.Pending[0].ID)))
	require.NoError(t, err)
	facts, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	var seen []string
	for _, f := range facts {
		if e, ok := f.(*machine.Emitted); ok {
			var o Overview
			require.NoError(t, json.Unmarshal(e.Value, &o))
			seen = append(seen, fmt.Sprint(o.Status, " ", o.Done))
		}
	}
	require.Contains(t, seen, "running 1")
	require.Equal(t, "completed 2", seen[len(seen)-1])
}

func TestASubmittedPlanIsUndoneWithItsCall(t *testing.T) {
	var s shop
	a, _, _ := s.planner(t, providertest.Call(ToolSubmit, submits("", step("a", "make"), step("b", "make", "a"))),
		providertest.Say("Done."))
	require.Equal(t, agent.Completed, submit(t, a).Status)
	rec, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	require.Empty(t, rec.Impossible)
	require.Nil(t, rec.Failed)
	require.Equal(t, []string{"a", "b", "-b", "-a"}, s.all())
}

// A conversation that is canceled while its plan runs takes the plan along.
func TestAPlanOfACanceledConversationIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{slow: time.Minute}
		a, r, _ := s.planner(t, providertest.Call(ToolSubmit, submits("", step("a", "see"), step("b", "make", "a"))))
		res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
		require.ErrorAs(t, err, new(*agent.PausedError))
		time.AfterFunc(30*time.Second, func() { _ = a.Session("s").Cancel(context.Background()) })
		res, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
		require.Error(t, err)
		require.Equal(t, agent.Stopped, res.Status)
		time.Sleep(time.Minute)
		state, err := r.State(t.Context(), theRun(t, r))
		require.NoError(t, err)
		require.Equal(t, Canceled, state.Status)
		require.Empty(t, s.all())
	})
}

// The call of a submitted plan waits for the lease that a process that died has on its run.
func TestASubmittedPlanWaitsForTheLeaseOfAProcessThatDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		a, r, _ := s.planner(t, providertest.Call(ToolSubmit, submits("", step("a", "make"))),
			providertest.Say("Done."))
		res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
		require.ErrorAs(t, err, new(*agent.PausedError))
		run, p := submittedRun("s", res.Pending[0].Call.ID), plan("", made("a"))
		p.Title, p.Why = "Two things", "They are wanted."
		_, err = r.start(t.Context(), run, "s", []*Plan{p})
		require.NoError(t, err)
		_, err = r.store.Lease(t.Context(), run, "dead", 30*time.Second)
		require.NoError(t, err)
		res, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
		require.NoError(t, err)
		require.Equal(t, agent.Completed, res.Status)
		require.Equal(t, []string{"a"}, s.all())
	})
}

// A change that came too late isn't taken for one that was made.
func TestAChangeOfAnEndedPlanFails(t *testing.T) {
	var s shop
	a, r, _ := s.planner(t, providertest.Call(ToolSubmit, submits("", step("a", "make"))), providertest.Say("Done."))
	require.Equal(t, agent.Completed, submit(t, a).Status)
	res, err := a.Session("s").Call(t.Context(), toolChange,
		submits(theRun(t, r), step("a", "make"), step("b", "make")))
	require.ErrorAs(t, err, new(*agent.PausedError))
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.NoError(t, err)
	require.Equal(t, tools.Failed, res.Called.Status)
	require.Contains(t, res.Text(), "has ended")
	require.Equal(t, []string{"a"}, s.all())
}

// What was canceled by a process that died is ended by another one that serves.
func TestServeEndsACanceledSubmittedPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{fail: map[string][]error{"b": {context.DeadlineExceeded}}}
		a, r, _ := s.planner(t, providertest.Call(ToolSubmit, submits("", step("a", "make"), step("b", "make", "a"))))
		require.Equal(t, agent.Paused, submit(t, a).Status)
		defer serve(t, r)()
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a"}, s.all())
		require.NoError(t, r.Cancel(t.Context(), theRun(t, r), "the conversation is over"))
		time.Sleep(2 * time.Second)
		state, err := r.State(t.Context(), theRun(t, r))
		require.NoError(t, err)
		require.Equal(t, Canceled, state.Status)
		require.Equal(t, []string{"a"}, s.all())
	})
}

// The events of nodes are shown in the conversation that has submitted their plan, if its input
// asks for those of children.
func TestTheEventsOfASubmittedPlanAreShownInTheConversation(t *testing.T) {
	for _, children := range []bool{true, false} {
		t.Run(fmt.Sprint(children), func(t *testing.T) {
			var s shop
			a, _, _ := s.planner(t, providertest.Call(ToolSubmit, submits("", step("a", "make"), step("b", "make"))),
				providertest.Say("Done."))
			res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x", Children: children})
			require.ErrorAs(t, err, new(*agent.PausedError))
			made := map[string]int{}
			for ev, err := range a.Stream(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID))) {
				require.NoError(t, err)
				if f, ok := ev.(*agent.ToolFinished); ok && f.Call.Name == "make" {
					made[f.Session()]++
					require.NotEqual(t, "s", f.Session())
				}
			}
			if !children {
				require.Empty(t, made)
				return
			}
			require.Len(t, made, 2, "each event once, with the session of its node")
		})
	}
}

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
