package plan

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
)

// stopsAtB starts a run in which, after a minute, a is done, b is in progress, out waits for a
// decision, and d hasn't begun.
func (s *shop) stopsAtB(t *testing.T, r *Runner) {
	t.Helper()
	s.begin("b", func() { s.slow = time.Hour })
	out := published("out")
	out.Input["on"] = From("a.id") // it asks for itself
	first := plan("A", made("a"), long("b", "a"), out, made("d", "b"))
	_, err := r.Start(t.Context(), "p-1", first, plan("B", made("z")))
	require.NoError(t, err)
	decide(t, r, agent.Approve)
	time.Sleep(time.Minute)
}

func TestACanceledRunKeepsWhatItDidAndSaysWhatThatIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		r := s.runner(t, Config{})
		defer serve(t, r)()
		s.stopsAtB(t, r)
		require.NoError(t, r.Cancel(t.Context(), "p-1", "not now"))
		end := last(watched(t, r, "p-1")).(*Ended)
		require.Equal(t, Canceled, end.Status)
		require.Equal(t, []string{"a"}, end.Done)
		require.Equal(t, []string{"b"}, end.Partly)
		require.Empty(t, end.Undone)
		require.Equal(t, []string{"out", "d"}, end.Untouched)
		require.Equal(t, `plan "A": it was canceled: not now; 1 step is done and stays (a), 1 step `+
			`may have done a part (b), 2 steps never began (out, d)`, end.Reason)
		require.Equal(t, []string{"a"}, s.all())
		for range 2 { // a person wants it back later; what b did isn't known
			require.ErrorContains(t, r.Undo(t.Context(), "p-1"), "b: make: it ended as canceled")
			require.Equal(t, []string{"a", "-a"}, s.all())
		}
		state, err := r.State(t.Context(), "p-1")
		require.NoError(t, err)
		require.True(t, state.Nodes[0].Undone)
		require.Equal(t, Canceled, state.Status)
	})
}

func TestACanceledRunUndoesWhatItDidIfItsHostSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		r := s.runner(t, Config{OnCancel: Undo})
		defer serve(t, r)()
		s.stopsAtB(t, r)
		require.NoError(t, r.Cancel(t.Context(), "p-1", "not now"))
		end := last(watched(t, r, "p-1")).(*Ended)
		require.Equal(t, Canceled, end.Status)
		require.Empty(t, end.Done)
		require.Equal(t, []string{"a", "-a"}, s.all())
	})
	_, err := New(Config{Agent: new(shop).agent(t, nil), OnCancel: "forget"})
	require.ErrorContains(t, err, "Config.OnCancel")
}

// A run that v0.1.0 has stored was promised an undo: of what is canceled, and of what has failed.
func TestARunOfAnEarlierReleaseUndoesAsItPromised(t *testing.T) {
	old := func(t *testing.T, r *Runner, p *Plan) {
		t.Helper()
		one, err := r.proposal(p)
		require.NoError(t, err)
		l := &planLog{journal: r.store, name: "p-1", state: &State{Run: "p-1"}}
		require.NoError(t, l.add(&proposed{Plans: []proposal{one}}))
		_, err = l.store(t.Context(), headOf(l.state, nil, false))
		require.NoError(t, err)
	}
	t.Run("canceled", func(t *testing.T) {
		s := shop{fail: map[string][]error{"b": {errors.New("no")}}}
		r := s.runner(t, Config{AskOnFailure: true})
		one, err := r.proposal(plan("A", made("a"), made("b", "a")))
		require.NoError(t, err)
		l := &planLog{journal: r.store, name: "p-1", state: &State{Run: "p-1"}}
		require.NoError(t, l.add(&proposed{Plans: []proposal{one}, Options: options{AskOnFailure: true}}))
		_, err = l.store(t.Context(), headOf(l.state, nil, false))
		require.NoError(t, err)
		_, err = run(r)
		require.NoError(t, err)
		require.NoError(t, r.Cancel(t.Context(), "p-1", "not now"))
		_, err = run(r)
		require.ErrorAs(t, err, new(*FailedError))
		require.Equal(t, []string{"a", "-a"}, s.all())
	})
	t.Run("failed", func(t *testing.T) {
		s := shop{fail: map[string][]error{"b": {fault.New(fault.UserFixable, "the budget is used up")}}}
		r := s.runner(t, Config{})
		old(t, r, plan("A", made("a"), made("b", "a")))
		_, err := run(r)
		require.ErrorAs(t, err, new(*FailedError))
		require.Equal(t, []string{"a", "-a"}, s.all())
	})
}

func budgetFails() *shop {
	return &shop{fail: map[string][]error{"b": {fault.New(fault.UserFixable, "the budget is used up")}}}
}

// What a person can mend is asked about, also by a runner that otherwise doesn't ask. What is done
// stays meanwhile.
func TestAFailureThatAPersonCanMendIsAskedAbout(t *testing.T) {
	for name, c := range map[string]struct {
		choice choice
		want   []string
		fails  bool
	}{
		"retry":   {retry, []string{"a", "b", "c"}, false},
		"skip":    {skip, []string{"a"}, false},
		"give up": {giveUp, []string{"a", "-a", "z"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := budgetFails()
			r := s.runner(t, Config{})
			_, err := r.Start(t.Context(), "p-1", plan("A", made("a"), made("b", "a"), made("c", "b")), plan("B",
				made("z")))
			require.NoError(t, err)
			_, err = r.Finish(t.Context(), "p-1")
			var paused *agent.PausedError
			require.ErrorAs(t, err, &paused, "nobody may see it, so Finish doesn't wait")
			require.Len(t, paused.Pending, 1)
			require.Contains(t, paused.Pending[0].Reason, "the budget is used up. What is done stays. Try it again when")
			require.WithinDuration(t, time.Now().Add(24*time.Hour), paused.Pending[0].Expires, time.Hour)
			require.Equal(t, []string{"a"}, s.all())
			decide(t, r, choosing(c.choice))
			_, err = r.Finish(t.Context(), "p-1")
			require.NoError(t, err)
			require.Equal(t, c.want, s.all())
		})
	}
}

func TestAQuestionThatNobodyAnswersEndsTheRunAndKeepsWhatItDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := budgetFails()
		r := s.runner(t, Config{})
		defer serve(t, r)()
		_, err := r.Start(t.Context(), "p-1", plan("A", made("a"), made("b", "a"), made("c", "b")), plan("B",
			made("z")))
		require.NoError(t, err)
		time.Sleep(23 * time.Hour)
		require.Contains(t, open(t, r).Reason, "the budget is used up")
		time.Sleep(2 * time.Hour)
		_, err = r.Finish(t.Context(), "p-1")
		var failed *FailedError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, AllFailed, failed.Status)
		require.Contains(t, failed.Reason, `nobody has decided in time about node "b"; node "b" failed: `)
		require.Contains(t, failed.Reason, "1 step is done and stays (a)")
		require.Equal(t, []string{"a"}, s.all(), "the next plan doesn't run upon it")
		require.ErrorContains(t, r.Undo(t.Context(), "p-1"), "b: make: it ended as failed")
		require.Equal(t, []string{"a", "-a"}, s.all())
	})
}

// Where somebody watches, Finish waits, and the question stays open.
func TestAQuestionThatSomebodySeesStaysOpen(t *testing.T) {
	for name, cfg := range map[string]Config{
		"asked about each failure": {AskOnFailure: true},
		"an interactive run":       {Input: func(_ *Node, in *agent.Input) { in.Interactive = true }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := budgetFails()
				r := s.runner(t, cfg)
				_, err := r.Start(t.Context(), "p-1", plan("A", made("a"), made("b", "a")))
				require.NoError(t, err)
				go func() {
					time.Sleep(48 * time.Hour)
					decide(t, r, choosing(retry))
				}()
				_, err = r.Finish(t.Context(), "p-1")
				require.NoError(t, err)
				require.Equal(t, []string{"a", "b"}, s.all())
			})
		})
	}
}

// A cancel ends an undo that has begun: what was undone is, and the rest stays.
func TestACancelEndsAnUndo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{fail: map[string][]error{"c": {errors.New("no")}}}
		r := s.runner(t, Config{})
		s.undoing = func(name string) {
			if name == "b" {
				require.NoError(t, r.Cancel(t.Context(), "p-1", "leave it"))
				time.Sleep(5 * time.Second)
			}
		}
		defer serve(t, r)()
		_, err := r.Start(t.Context(), "p-1", plan("A", made("a"), made("b", "a"), made("c", "b"), made("d", "c")))
		require.NoError(t, err)
		end := last(watched(t, r, "p-1")).(*Ended)
		require.Equal(t, Canceled, end.Status)
		require.Equal(t, []string{"a"}, end.Done)
		require.Equal(t, []string{"b"}, end.Undone)
		require.Equal(t, []string{"d"}, end.Untouched)
		require.Equal(t, []string{"a", "b", "-b"}, s.all())
		require.Equal(t, []string{"c"}, end.Partly)
		require.EqualError(t, r.Undo(t.Context(), "p-1"), `agent: session "p-1": this is left of what it did: `+
			`c: make: it ended as failed, and it isn't known what it had done by then`)
		require.Equal(t, []string{"a", "b", "-b", "-a"}, s.all())
	})
}

// The conversation that is canceled says what became of its plan, and an undo of it offers that.
func TestACanceledConversationSaysWhatItsPlanHasDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		s.begin("b", func() { s.slow = time.Hour })
		a, r, _ := s.planner(t, providertest.Call(ToolSubmit,
			submits("", step("a", "make"), step("b", "make", "a"), step("c", "make", "b"))))
		res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
		require.ErrorAs(t, err, new(*agent.PausedError))
		time.AfterFunc(20*time.Second, func() { _ = a.Session("s").Cancel(t.Context()) })
		began := time.Now()
		res, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
		require.ErrorAs(t, err, new(*agent.StopError))
		require.Less(t, time.Since(began), 25*time.Second)
		require.Equal(t, []string{"a"}, s.all())
		text := res.ToolResult(ToolSubmit).Text()
		require.Contains(t, text, "The call was stopped because the run was")
		require.Contains(t, text, "1 step is done and stays (a), 1 step may have done a part (b), 1 step never began (c)")
		state, err := r.State(t.Context(), theRun(t, r))
		require.NoError(t, err)
		require.Equal(t, Canceled, state.Status)

		rec, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
		require.NoError(t, err)
		require.Equal(t, []string{"a", "-a"}, s.all())
		require.Len(t, rec.Impossible, 1)
		require.Equal(t, "in part. Came back: Make “a”. Stays: its call of make: it ended as canceled, and it isn't known "+
			"what it had done by then", rec.Impossible[0].Why)
	})
}
