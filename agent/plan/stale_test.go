package plan

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
)

// reviewed returns a node whose result is judged by the check "lint".
func reviewed(id string) Node {
	n := made(id)
	n.Review = &Review{Checks: []string{"lint"}}
	return n
}

func TestACheckThatIsWaivedWhileItJudgesDoesNotEndTheRun(t *testing.T) {
	var s shop
	waived := make(chan struct{})
	var r *Runner
	r = s.runner(t, Config{Checks: map[string]Check{"lint": func(ctx context.Context, c Candidate) (Verdict, error) {
		err := r.Decide(ctx, c.Run, WaiveCheck("a", "lint"))
		close(waived)
		return Verdict{}, err
	}}})
	p := plan("A", reviewed("a"), made("b", "a"))
	var status Status
	for ev, err := range r.Run(t.Context(), "p-1", p) {
		require.NoError(t, err)
		switch f := ev.(type) {
		case *NodeEnded:
			if f.Node == "a" {
				continue
			}
		case *Ended:
			status = f.Status
		}
	}
	<-waived
	require.Equal(t, Completed, status)
	require.Equal(t, []string{"a", "b"}, s.all())
}

func TestAVerdictOnAPlanThatWasGivenUpDoesNotCountForTheNext(t *testing.T) {
	var s shop
	var r *Runner
	judged, begun := 0, make(chan struct{}, 1)
	r = s.runner(t, Config{Checks: map[string]Check{"lint": func(ctx context.Context, c Candidate) (Verdict, error) {
		if judged++; judged == 1 {
			if err := r.Decide(ctx, c.Run, GiveUp("no")); err != nil {
				return Verdict{}, err
			}
			<-begun // the node of the next plan is in progress
		}
		return Verdict{Passed: true}, nil
	}}})
	for ev, err := range r.Run(t.Context(), "p-1", plan("A", reviewed("a")), plan("B", reviewed("a"))) {
		require.NoError(t, err)
		if f, ok := ev.(*NodeStarted); ok && f.Seq > 3 {
			begun <- struct{}{}
		}
	}
	require.Equal(t, 2, judged, "the result of each plan is judged")
	require.Equal(t, []string{"a", "-a", "a"}, s.all())
}

func TestADecisionOnANodeOfTheNextPlanIsTaken(t *testing.T) {
	no := errors.New("no")
	s := shop{fail: map[string][]error{"a": {no, no, no}}}
	r := s.runner(t, Config{AskOnFailure: true})
	_, err := run(r, plan("A", made("a")), plan("B", made("a")))
	require.NoError(t, err)
	for _, d := range []Decision{RetryNode("a"), GiveUp("no"), RetryNode("a")} {
		// the first and the last are about a first attempt
		require.NoError(t, r.Decide(t.Context(), "p-1", d))
		_, err = run(r)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"a"}, s.all())
}

func TestTheSamePlanIsApprovedAgainAfterItHasFailed(t *testing.T) {
	s := shop{fail: map[string][]error{"a": {errors.New("no")}}}
	r := s.runner(t, Config{})
	publish := Node{ID: "p", Tool: "publish", Input: map[string]any{"name": "p"}, After: []string{"a"}}
	p := plan("A", made("a"), publish)
	_, err := run(r, p, p)
	require.NoError(t, err)
	for range 2 {
		pending, err := r.Pending(t.Context(), "p-1")
		require.NoError(t, err)
		require.NoError(t, r.Decide(t.Context(), "p-1", Approve(pending[0].Hash)))
		_, err = run(r)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"a"}, s.all())
}

func TestACancelIsTakenWhileAPlanIsUndone(t *testing.T) {
	c := begin(t, Options{}, nodes(Node{ID: "a"}), nodes(Node{ID: "b"}))
	c.start("a")
	c.end("a", "no", fault.Permanent)
	require.Equal(t, StageUndoing, c.State().Stage)
	require.Error(t, c.try(&GaveUp{}), "the plan has ended already")
	c.record(&GaveUp{All: true, Reason: "stop"})
	require.Error(t, c.try(&GaveUp{All: true}), "once is enough")
	c.record(&Undone{Node: "a"})
	c.record(c.Fail())
	require.Equal(t, "end", c.next(), "no other plan runs")
	c.record(c.End())
	require.Equal(t, Canceled, c.State().Status)
	require.Contains(t, c.State().Reason, "no", "why the plan has failed")
}

func TestACancelOfAnotherProcessIsTakenBeforeTheRunPauses(t *testing.T) {
	s := shop{fail: map[string][]error{"a": {errors.New("no")}}}
	a := s.agent(t, journal.NewMemory())
	r, other := s.runner(t, Config{Agent: a, AskOnFailure: true}), s.runner(t, Config{Agent: a})
	var status Status
	for ev, err := range r.Run(t.Context(), "p-1", plan("A", made("a"))) {
		switch f := ev.(type) {
		case *NodeStarted:
			require.NoError(t, other.Decide(t.Context(), "p-1", Cancel("stop")))
		case *Ended:
			status = f.Status
		}
		if _, failed := errors.AsType[*FailedError](err); !failed {
			require.NoError(t, err)
		}
	}
	require.Equal(t, Canceled, status)
}

func TestADecisionOnAPlanIsNotTakenForTheNext(t *testing.T) {
	s := shop{fail: map[string][]error{"a": {errors.New("no")}}}
	a := s.agent(t, journal.NewMemory())
	r, other := s.runner(t, Config{Agent: a}), s.runner(t, Config{Agent: a})
	var status Status
	for ev, err := range r.Run(t.Context(), "p-1", plan("A", made("a"), made("b", "a")),
		plan("B", made("c"), made("b", "c"), made("d", "b"))) {
		require.NoError(t, err)
		switch f := ev.(type) {
		case *NodeStarted:
			switch f.Node {
			case "a":
				require.NoError(t, other.Decide(t.Context(), "p-1", GiveUp("stop")))
				require.NoError(t, other.Decide(t.Context(), "p-1", SkipNode("b")))
			case "c": // reads the inbox, too
				require.NoError(t, r.Decide(t.Context(), "p-1", SkipNode("d")))
			}
		case *Ended:
			status = f.Status
		}
	}
	require.Equal(t, Completed, status)
	require.Equal(t, []string{"c", "b"}, s.all())
}

func TestARevisionKeepsWhatAPersonHasDecided(t *testing.T) {
	first := nodes(Node{ID: "a"}, Node{ID: "b"}, Node{ID: "c", After: []string{"b"}},
		Node{ID: "d", Review: &Review{Checks: []string{"lint"}}})
	c := begin(t, Options{}, first)
	c.record(&Skipped{Node: "b"}, &Waived{Node: "d", Check: "lint"})
	next := nodes(append(first.Nodes, Node{ID: "e"})...)
	next.Version = 2
	c.record(&Revised{Proposal: Proposal{Plan: next}})
	require.Equal(t, "a pending, b skipped, c skipped, d pending, e pending, ", c.statuses())
	d, _ := c.State().Node("d")
	require.Equal(t, []string{"lint"}, d.Waived)
}

func TestACallThatIsDecidedWhileOthersRunContinuesBeforeTheRunPauses(t *testing.T) {
	var s shop
	a := s.agent(t, journal.NewMemory())
	var r *Runner
	check := func(ctx context.Context, c Candidate) (Verdict, error) { // as long as it judges, the run doesn't pause
		for {
			pending, err := r.Pending(ctx, c.Run)
			if err != nil {
				return Verdict{}, err
			}
			if len(pending) > 0 {
				return Verdict{Passed: true}, a.Session(pending[0].Session).Decide(ctx, agent.Approve(pending[0].ID))
			}
		}
	}
	r = s.runner(t, Config{Agent: a, Checks: map[string]Check{"lint": check}})
	p := plan("A", Node{ID: "out", Tool: "publish", Input: map[string]any{"name": "out"}}, reviewed("a"))
	_, err := run(r, p)
	require.NoError(t, err)
	require.NoError(t, r.Decide(t.Context(), "p-1", Approve(p.Hash())))
	events, err := run(r)
	require.NoError(t, err)
	require.IsType(t, &Ended{}, last(events))
	require.ElementsMatch(t, []string{"a", "out"}, s.all())
}
