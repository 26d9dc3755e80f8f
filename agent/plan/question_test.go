package plan

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

func TestAPlanIsAskedAboutAsAnAgentAsks(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	p := plan("A", published("p"))
	started, err := r.Start(t.Context(), "p-1", p)
	require.NoError(t, err)
	require.Equal(t, AtApproval, started.Status)
	q := open(t, r)
	require.Equal(t, agent.PauseApproval, q.Kind)
	require.Equal(t, "plan", q.Call.Name)
	require.Equal(t, "Carry out the plan “Plan A”", q.Title)
	require.Equal(t, "The plan “Plan A” has 1 step: Publish “p”", q.Reason)
	var shown Plan
	require.NoError(t, json.Unmarshal(q.Call.Input, &shown))
	require.Equal(t, p.Hash(), shown.Hash())
	head, err := r.store.Head(t.Context(), "p-1")
	require.NoError(t, err)
	require.Equal(t, []journal.Open{{ID: q.ID, Kind: "approval", Title: "plan: " + q.Reason,
		What: "Carry out the plan “Plan A”"}}, head.Open, "before anybody drives it")

	var wrong *agent.DecisionError
	require.ErrorAs(t, r.Decide(t.Context(), "p-1", agent.Answer(q.ID, 1)), &wrong)
	require.Equal(t, machine.DecisionBad, wrong.Code)
	require.Contains(t, wrong.Error(), "a plan can be approved, rejected, or sent back with a suggestion")
	require.ErrorAs(t, r.Decide(t.Context(), "p-1", agent.Approve("plan other")), &wrong)
	require.Equal(t, machine.DecisionUnknown, wrong.Code)
	require.NoError(t, r.Decide(t.Context(), "p-1", agent.Approve(q.ID).By("ann")))
	require.ErrorAs(t, r.Decide(t.Context(), "p-1", agent.Reject(q.ID, "no")), &wrong)
	require.Equal(t, machine.DecisionUsed, wrong.Code)
	events, err := run(r)
	require.NoError(t, err)
	require.Equal(t, "ann", events[0].Envelope().By)
	head, err = r.store.Head(t.Context(), "p-1")
	require.NoError(t, err)
	require.Equal(t, string(Completed), head.Status)
	require.Empty(t, head.Open)
}

func TestAPlanIsSentBackOrRejectedAsACallIs(t *testing.T) {
	for c, d := range map[choice]func(id, text string) agent.Decision{reject: agent.Reject, suggest: agent.Suggest} {
		t.Run(string(c), func(t *testing.T) {
			var s shop
			r := s.runner(t, Config{})
			_, err := r.Start(t.Context(), "p-1", plan("A", published("p")), plan("B", made("b")))
			require.NoError(t, err)
			decide(t, r, func(id string) agent.Decision { return d(id, "less") })
			events, err := run(r)
			var why *FailedError
			require.ErrorAs(t, err, &why)
			require.Equal(t, Refused, why.Status)
			require.Equal(t, c, events[0].(*decided).Choice)
			require.Equal(t, "less", events[0].(*decided).Text)
			require.Empty(t, s.all())
		})
	}
}

func TestAFailedNodeIsAskedAboutWithItsChoices(t *testing.T) {
	for c, want := range map[choice][]string{
		retry: {"a", "b", "c"}, skip: {"a"}, waive: {"a", "c"}, giveUp: {"a", "-a"},
	} {
		t.Run(string(c), func(t *testing.T) {
			s := shop{fail: map[string][]error{"b": {context.DeadlineExceeded}}}
			r := s.runner(t, Config{AskOnFailure: true})
			_, err := run(r, plan("A", made("a"), made("b", "a"), made("c", "b")))
			require.NoError(t, err)
			q := open(t, r)
			require.EqualValues(t, "question", q.Kind)
			require.Equal(t, []string{"b"}, q.Path)
			require.Contains(t, string(q.Schema), `"enum":["retry","skip","waive","give up"]`)
			err = r.Decide(t.Context(), "p-1", choosing(grant)(q.ID))
			require.ErrorContains(t, err, `"grant" isn't one of the choices`)
			decide(t, r, choosing(c))
			_, _ = run(r)
			require.Equal(t, want, s.all())
		})
	}
}

func TestAQuestionAboutANodeThatIsRejectedGivesThePlanUp(t *testing.T) {
	s := shop{fail: map[string][]error{"b": {errors.New("no")}}}
	r := s.runner(t, Config{AskOnFailure: true})
	_, err := run(r, plan("A", made("a"), made("b", "a")), plan("B", made("c")))
	require.NoError(t, err)
	decide(t, r, rejecting("too late"))
	_, err = run(r)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "-a", "c"}, s.all())
}

func TestAReviewIsGrantedMoreRoundsOrACheckIsWaived(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		rounds int
		asked  bool
	}{
		"one":              {answer{Decision: grant}, 4, true},
		"two":              {answer{Decision: grant, Rounds: 2}, 5, false},
		"too many":         {answer{Decision: grant, Rounds: 21}, 3, true},
		"without a check":  {answer{Decision: waive, Check: "good"}, 3, false},
		"as it is":         {answer{Decision: waive}, 3, false},
		"an unknown check": {answer{Decision: waive, Check: "other"}, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			var s shop
			rounds := 0
			good := func(_ context.Context, c Candidate) (Verdict, error) {
				rounds++
				return Verdict{Passed: c.Round > 4, Feedback: "not yet"}, nil
			}
			r := s.runner(t, Config{Checks: map[string]Check{"good": good}})
			n := made("a")
			n.Review = &Review{Checks: []string{"good"}}
			_, err := run(r, plan("A", n))
			require.NoError(t, err)
			q := open(t, r)
			require.Equal(t,
				`The step "a" of the plan "Plan A" was done 3 times, and its result isn't good enough: good: not yet.`, q.Reason)
			err = r.Decide(t.Context(), "p-1", agent.Answer(q.ID, c.answer))
			if c.rounds == 3 && c.asked {
				require.ErrorAs(t, err, new(*agent.DecisionError))
			} else {
				require.NoError(t, err)
			}
			events, err := run(r)
			require.NoError(t, err)
			require.Equal(t, c.rounds, rounds)
			require.Equal(t, c.asked, len(s.all()) > 0 && isPaused(events))
		})
	}
}

func isPaused(events []Event) bool {
	_, paused := last(events).(*Paused)
	return paused
}
