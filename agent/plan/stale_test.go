package plan

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

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

func TestAVerdictOnAPlanThatWasGivenUpDoesNotCountForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		var r *Runner
		count := 0
		lint := func(ctx context.Context, c Candidate) (Verdict, error) {
			count++
			if count == 1 {
				if err := r.GiveUp(ctx, c.Run, "no"); err != nil {
					return Verdict{}, err
				}
				sleep(context.WithoutCancel(ctx), time.Minute) // the next plan is in progress
				return Verdict{Passed: true}, nil
			}
			sleep(ctx, time.Hour)
			return Verdict{Passed: true}, nil
		}
		r = s.runner(t, Config{Checks: map[string]Check{"lint": lint}})
		_, err := r.Start(t.Context(), "p-1", plan("A", reviewed("a")), plan("B", reviewed("a")))
		require.NoError(t, err)
		s2, err := r.Finish(t.Context(), "p-1")
		require.NoError(t, err)
		require.Equal(t, 2, count, "the result of each plan is judged")
		require.Equal(t, []string{"a", "-a", "a"}, s.all())
		require.Equal(t, 1, s2.Current)
	})
}

func TestADecisionOnANodeOfTheNextPlanIsTaken(t *testing.T) {
	no := errors.New("no")
	s := shop{fail: map[string][]error{"a": {no, no, no}}}
	r := s.runner(t, Config{AskOnFailure: true})
	_, err := run(r, plan("A", made("a")), plan("B", made("a")))
	require.NoError(t, err)
	for _, c := range []choice{retry, giveUp, retry} { // the first and the last are about a first attempt
		decide(t, r, choosing(c))
		_, err = run(r)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"a"}, s.all())
}

func TestTheSamePlanIsApprovedAgainAfterItHasFailed(t *testing.T) {
	s := shop{fail: map[string][]error{"a": {errors.New("no")}}}
	r := s.runner(t, Config{})
	n := published("p")
	n.After = []string{"a"}
	p := plan("A", made("a"), n)
	_, err := run(r, p, p)
	require.NoError(t, err)
	for range 2 {
		decide(t, r, agent.Approve)
		_, err = run(r)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"a", "p"}, s.all())
}

func TestACancelIsTakenWhileAPlanIsUndone(t *testing.T) {
	c := begin(t, options{}, nodes(Node{ID: "a"}), nodes(Node{ID: "b"}))
	c.start("a")
	c.end("a", "no", fault.Permanent)
	require.Equal(t, Undoing, c.Status)
	require.Error(t, c.try(&decided{Choice: giveUp}), "the plan has ended already")
	c.record(&decided{Choice: cancel, Text: "stop"})
	require.Error(t, c.try(&decided{Choice: cancel}), "once is enough")
	c.record(&undone{Node: "a"})
	c.record(c.failure())
	require.Equal(t, "end", c.next(), "no other plan runs")
	c.record(c.conclusion())
	require.Equal(t, Canceled, c.Status)
	require.Contains(t, c.Reason, "no", "why the plan has failed")
}

func TestADecisionOnAPlanThatHasFailedIsDropped(t *testing.T) {
	s := shop{fail: map[string][]error{"a": {errors.New("no")}}}
	r := s.runner(t, Config{})
	state, err := r.Start(t.Context(), "p-1", plan("A", made("a")), plan("B", made("b")))
	require.NoError(t, err)
	next := plan("A", made("a"), made("c"))
	next.Version = 2
	late := &decided{Choice: revise, Revision: &proposal{Plan: *next}}
	require.NoError(t, r.post(t.Context(), "p-1", "x", itemDecided, late))
	require.NoError(t, r.post(t.Context(), "p-1", "y", itemDecided, &decided{Choice: giveUp}))
	require.NoError(t, r.post(t.Context(), "p-1", "z", itemDecided, &decided{Choice: skip, Node: "b"}))
	_, err = run(r)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, s.all())
	require.Equal(t, 0, state.Current)
}

func TestARevisionKeepsWhatAPersonHasDecided(t *testing.T) {
	first := nodes(Node{ID: "a"}, Node{ID: "b"}, Node{ID: "c", After: []string{"b"}},
		Node{ID: "d", Review: &Review{Checks: []string{"lint"}}})
	c := begin(t, options{}, first)
	c.record(&decided{Choice: skip, Node: "b"}, &decided{Choice: waive, Node: "d", Check: "lint"})
	next := nodes(append(first.Nodes, Node{ID: "e"})...)
	next.Version = 2
	c.record(&decided{Choice: revise, Revision: &proposal{Plan: next}})
	require.Equal(t, "a pending, b skipped, c skipped, d pending, e pending, ", c.statuses())
	d, _ := c.Node("d")
	require.Equal(t, []string{"lint"}, d.Waived)
}

// A revision that came too late for the state that it was made for doesn't keep a later one out.
func TestARevisionThatCameTooLateDoesNotKeepOthersOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{slow: 1900 * time.Millisecond}
		a := s.agent(t, &journal.MapStore{})
		r, other := s.runner(t, Config{Agent: a}), s.runner(t, Config{Agent: a})
		_, err := r.Start(t.Context(), "p-1", plan("A", made("a"), made("b", "a")))
		require.NoError(t, err)
		revised := func(name string) *Plan {
			p := plan("A", made("a"), Node{ID: "b", Tool: "make", Input: map[string]any{"name": name},
				After: []string{"a"}}, made("c", "b"))
			p.Version = 2
			return p
		}
		time.AfterFunc(1100*time.Millisecond, func() { // r looks after 1 s and after 2 s; b begins after 1.9 s
			require.NoError(t, other.Revise(t.Context(), "p-1", revised("other")))
		})
		time.AfterFunc(2100*time.Millisecond, func() {
			require.NoError(t, other.Revise(t.Context(), "p-1", revised("b")))
		})
		state, err := r.Finish(t.Context(), "p-1")
		require.NoError(t, err)
		require.Equal(t, 2, state.Plan().Version)
		require.Equal(t, []string{"a", "b", "c"}, s.all())
	})
}
