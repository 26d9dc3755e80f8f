package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func choose(id string, decision DecisionKind) agent.Decision {
	return agent.Answer(id, map[string]any{"decision": decision, "reason": "because"}).By("ann")
}

func TestAPlanIsAskedAboutAsAnAgentAsks(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	p := plan("A", Node{ID: "p", Tool: "publish", Input: map[string]any{"name": "p"}})
	_, err := run(r, p)
	require.NoError(t, err)
	asked, err := r.Questions(t.Context(), "p-1")
	require.NoError(t, err)
	require.Len(t, asked, 1)
	require.Equal(t, agent.PauseApproval, asked[0].Kind)
	require.Equal(t, "plan", asked[0].Call.Name)
	require.Equal(t, "The plan \"Plan A\" has 1 step: `publish`", asked[0].Reason)
	var shown Plan
	require.NoError(t, json.Unmarshal(asked[0].Call.Input, &shown))
	require.Equal(t, p.Hash(), shown.Hash())

	head, err := r.store.Head(t.Context(), "p-1")
	require.NoError(t, err)
	require.Equal(t, []journal.Open{{ID: asked[0].ID, Kind: "approval", Title: "plan: " + asked[0].Reason,
		What: "Carry out the plan “Plan A”"}}, head.Open)
	require.Equal(t, "Carry out the plan “Plan A”", asked[0].Title)

	var wrong *DecisionError
	require.ErrorAs(t, r.Answer(t.Context(), "p-1", agent.Answer(asked[0].ID, 1)), &wrong)
	require.Contains(t, wrong.Error(), "a plan can be approved, rejected, or sent back with a suggestion")
	require.ErrorAs(t, r.Answer(t.Context(), "p-1", agent.Approve("plan other")), &wrong)
	require.True(t, wrong.Unknown)
	require.NoError(t, r.Answer(t.Context(), "p-1", agent.Approve(asked[0].ID).By("ann")))
	require.ErrorAs(t, r.Answer(t.Context(), "p-1", agent.Reject(asked[0].ID, "no")), &wrong)
	require.True(t, wrong.Before)

	events, err := run(r)
	require.NoError(t, err)
	require.Equal(t, "ann", events[0].(*Approved).By)
	paused := last(events).(*Paused)
	require.Equal(t, PauseCall, paused.Pending[0].Kind)
	asked, err = r.Questions(t.Context(), "p-1")
	require.NoError(t, err)
	require.Empty(t, asked, "the node's session asks about its call")
	head, err = r.store.Head(t.Context(), "p-1")
	require.NoError(t, err)
	require.Equal(t, statusPaused, head.Status)
	require.Empty(t, head.Open)
}

func TestAPlanIsSentBackOrRejectedAsACallIs(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(id string) agent.Decision
		want   *Rejected
	}{
		"rejected": {func(id string) agent.Decision { return agent.Reject(id, "no") }, &Rejected{Reason: "no"}},
		"sent back": {func(id string) agent.Decision {
			return agent.Suggest(id, "less")
		}, &Rejected{Suggestion: "less"}},
	} {
		t.Run(name, func(t *testing.T) {
			var s shop
			r := s.runner(t, Config{})
			_, err := run(r, plan("A", Node{ID: "p", Tool: "publish", Input: map[string]any{"name": "p"}}))
			require.NoError(t, err)
			asked, err := r.Questions(t.Context(), "p-1")
			require.NoError(t, err)
			require.NoError(t, r.Answer(t.Context(), "p-1", c.decide(asked[0].ID)))
			events, _ := run(r)
			f := events[0].(*Rejected)
			require.Equal(t, c.want.Reason, f.Reason)
			require.Equal(t, c.want.Suggestion, f.Suggestion)
		})
	}
}

func TestAFailedNodeIsAskedAboutWithItsChoices(t *testing.T) {
	for decision, want := range map[DecisionKind][]string{
		DecideRetry: {"a", "b", "c"}, DecideSkip: {"a"}, DecideWaive: {"a", "c"}, DecideGiveUp: {"a", "-a"},
	} {
		t.Run(string(decision), func(t *testing.T) {
			s := shop{fail: map[string][]error{"b": {context.DeadlineExceeded}}}
			r := s.runner(t, Config{AskOnFailure: true})
			_, err := run(r, plan("A", made("a"), made("b", "a"), made("c", "b")))
			require.NoError(t, err)
			asked, err := r.Questions(t.Context(), "p-1")
			require.NoError(t, err)
			require.Len(t, asked, 1)
			require.EqualValues(t, "question", asked[0].Kind)
			require.Contains(t, string(asked[0].Schema), `"enum":["retry","skip","waive","give up"]`)
			var wrong *DecisionError
			require.ErrorAs(t, r.Answer(t.Context(), "p-1", choose(asked[0].ID, DecideGrant)), &wrong)
			require.Contains(t, wrong.Error(), `"grant" isn't one of the choices`)
			require.NoError(t, r.Answer(t.Context(), "p-1", choose(asked[0].ID, decision)))
			_, _ = run(r)
			require.Equal(t, want, s.all())
		})
	}
}

func TestAReviewIsGrantedAnotherRound(t *testing.T) {
	var s shop
	rounds := 0
	r := s.runner(t, Config{Checks: map[string]Check{"good": func(_ context.Context, c Candidate) (Verdict, error) {
		rounds++
		return Verdict{Passed: c.Round > 3, Feedback: "not yet"}, nil
	}}})
	n := made("a")
	n.Review = &Review{Checks: []string{"good"}}
	_, err := run(r, plan("A", n))
	require.NoError(t, err)
	asked, err := r.Questions(t.Context(), "p-1")
	require.NoError(t, err)
	require.Equal(t,
		`The step "a" of the plan "Plan A" was done 3 times, and its result isn't good enough: good: not yet.`,
		asked[0].Reason)
	require.NoError(t, r.Answer(t.Context(), "p-1", choose(asked[0].ID, DecideGrant)))
	events, err := run(r)
	require.NoError(t, err)
	require.Equal(t, Completed, last(events).(*Ended).Status)
	require.Equal(t, 4, rounds)
}

// A submitted plan asks in the session in which it was submitted, once after the other, also after
// a restart.
func TestASubmittedPlanAsksInItsSession(t *testing.T) {
	s := shop{fail: map[string][]error{"b": {context.DeadlineExceeded, context.DeadlineExceeded}}}
	a, r, _ := s.planner(t, providertest.Call(ToolSubmit,
		submitted("", step("a", "publish"), step("b", "make"), step("c", "make", "a", "b"))))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Len(t, res.Pending, 1)
	require.Contains(t, res.Pending[0].Reason, `The step "a" calls publish`)
	require.Contains(t, res.Pending[0].Reason, "After this, 1 question more.")

	again := func() *agent.Agent { // another process
		model := providertest.Script(providertest.Say("Done."))
		own := &shop{fail: s.fail}
		r2 := own.runner(t, Config{Agent: own.agent(t, r.store), AskOnFailure: true})
		t.Cleanup(func() { s.done = append(s.done, own.all()...) })
		b, err := agent.New(agent.Config{Name: "planner", Provider: model, Journal: r.store, Tools: append(Tools(r2),
			tools.New(tools.Spec{Name: "look", ReadOnly: true}, own.make)), Modes: []agent.Mode{Mode("plan")}})
		require.NoError(t, err)
		return b
	}
	res, err = again().Run(t.Context(),
		agent.Resume("s", agent.Answer(res.Pending[0].ID, map[string]string{"decision": "approve"})))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Equal(t, `The step "b" of the plan "Two things" has failed: context deadline exceeded.`,
		res.Pending[0].Reason)
	id := res.Pending[0].ID
	res, err = again().Run(t.Context(), agent.Resume("s", choose(id, DecideRetry)))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.NotEqual(t, id, res.Pending[0].ID, "it has failed again, which is another question")
	require.NoError(t, r.Decide(t.Context(), submittedRun(t, r), RetryNode("b")),
		"decided elsewhere: the answer isn't needed any more")
	res, err = again().Run(t.Context(), agent.Resume("s", choose(res.Pending[0].ID, DecideSkip)))
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	state, err := r.State(t.Context(), submittedRun(t, r))
	require.NoError(t, err)
	require.Equal(t, Completed, state.Status)
	for i := range state.Nodes {
		require.Equal(t, NodeDone, state.Nodes[i].Status)
	}
}

// Whoever reads the events of the session sees how far the plan is; a reader who comes later sees
// where it paused.
func TestASubmittedPlanReportsHowFarItIs(t *testing.T) {
	s := shop{fail: map[string][]error{"b": {context.DeadlineExceeded}}}
	a, _, _ := s.planner(t, providertest.Call(ToolSubmit, submitted("", step("a", "make"), step("b", "make", "a"))),
		providertest.Say("Done."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	var seen []string
	for ev, err := range a.Stream(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID))) {
		require.NoError(t, err)
		var o Overview
		switch ev := ev.(type) {
		case *machine.Emitted:
			require.NoError(t, json.Unmarshal(ev.Value, &o))
		case *agent.Shown:
			require.NoError(t, json.Unmarshal(ev.Value, &o))
		case *agent.RunEnded:
			res = ev.Result
		}
		if o.Run != "" {
			seen = append(seen, fmt.Sprint(o.Status, " ", o.Done, " ", o.Steps[0].Status, " ", o.Steps[1].Status))
		}
	}
	require.Equal(t, "running 0 pending pending", seen[0])
	require.Contains(t, seen, "running 1 done running")
	require.Equal(t, "running 1 done failed", seen[len(seen)-1])
	_, err = a.Run(t.Context(), agent.Resume("s", choose(res.Pending[0].ID, DecideRetry)))
	require.NoError(t, err)
	facts, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	var last Overview
	for _, f := range facts {
		if e, ok := f.(*machine.Emitted); ok {
			require.NoError(t, json.Unmarshal(e.Value, &last))
		}
	}
	require.Equal(t, "completed", last.Status)
	require.Equal(t, 2, last.Done)
}
