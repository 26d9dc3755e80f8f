package plan

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A node that was done twice for a review is undone twice, the newest first.
func TestAllRoundsOfANodeAreUndone(t *testing.T) {
	var log []string
	draw := tools.Func[item, string]{
		Spec: tools.Spec{Name: "draw"},
		Run: func(context.Context, item) (string, error) {
			log = append(log, fmt.Sprint("draft", len(log)+1))
			return log[len(log)-1], nil
		},
		Undo: func(_ context.Context, _ item, out string) error { log = append(log, "-"+out); return nil },
	}
	a, err := agent.New(agent.Config{Provider: providertest.Script(), Tools: []tools.Tool{draw,
		tools.New(tools.Spec{Name: "fail"}, func(context.Context, item) (string, error) {
			return "", errors.New("no")
		})}})
	require.NoError(t, err)
	r, err := New(Config{Agent: a,
		Checks: map[string]Check{"taste": func(_ context.Context, c Candidate) (Verdict, error) {
			return Verdict{Passed: c.Round == 2}, nil
		}}})
	require.NoError(t, err)
	in := map[string]any{"name": "x"}
	_, err = run(r, plan("A", Node{ID: "a", Tool: "draw", Input: in, Review: &Review{Checks: []string{"taste"}}},
		Node{ID: "b", Tool: "fail", Input: in, After: []string{"a"}}))
	require.ErrorAs(t, err, new(*FailedError))
	require.Equal(t, []string{"draft1", "draft2", "-draft2", "-draft1"}, log)
}

// A call of an idempotent tool that failed is made again with the same idempotency key.
func TestARetryHasTheSameIdempotencyKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keys []string
		a, err := agent.New(agent.Config{Provider: providertest.Script(), Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "pay", Idempotent: true, NoRetries: true},
				func(ctx context.Context, _ item) (string, error) {
					if keys = append(keys, tools.IdempotencyKey(ctx)); len(keys) < 3 {
						return "", fault.New(fault.Transient, "timeout")
					}
					return "paid", nil
				})}})
		require.NoError(t, err)
		r, err := New(Config{Agent: a})
		require.NoError(t, err)
		_, err = run(r, plan("A", Node{ID: "a", Tool: "pay", Input: map[string]any{"name": "x"}}))
		require.NoError(t, err)
		require.Len(t, keys, 3)
		require.Equal(t, []string{keys[0], keys[0]}, keys[1:])
	})
}

// Attempts at a call that failed, before the one that succeeded, have had its effect at most. So
// nothing is left of them when that was undone.
func TestANodeThatFailedBeforeItSucceededIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		again := fault.New(fault.Transient, "timeout")
		failures, log := []error{again, again, nil}, []string(nil)
		pay := tools.Func[item, string]{Spec: tools.Spec{Name: "pay", Idempotent: true, NoRetries: true},
			Run: func(context.Context, item) (string, error) {
				err := failures[0]
				failures = failures[1:]
				return "paid", err
			},
			Undo: func(_ context.Context, _ item, out string) error { log = append(log, "-"+out); return nil },
		}
		a, err := agent.New(agent.Config{Provider: providertest.Script(), Tools: []tools.Tool{pay,
			tools.New(tools.Spec{Name: "fail"}, func(context.Context, item) (string, error) {
				return "", errors.New("no")
			})}})
		require.NoError(t, err)
		r, err := New(Config{Agent: a})
		require.NoError(t, err)
		in := map[string]any{"name": "x"}
		_, err = r.Start(t.Context(), "p-1", plan("A", Node{ID: "a", Tool: "pay", Input: in},
			Node{ID: "b", Tool: "fail", Input: in, After: []string{"a"}}))
		require.NoError(t, err)
		_, err = r.Finish(t.Context(), "p-1")
		var why *FailedError
		require.ErrorAs(t, err, &why)
		require.Equal(t, []string{"a"}, why.Failures[0].Undone)
		require.Len(t, why.Failures[0].Left, 1)
		require.Equal(t, "b", why.Failures[0].Left[0].Node)
		require.Equal(t, []string{"-paid"}, log)
	})
}

// What a node did isn't undone if its session was removed: it is left, and that is said.
func TestANodeWhoseSessionIsGoneIsLeft(t *testing.T) {
	s := shop{fail: map[string][]error{"b": {errors.New("no")}}}
	r := s.runner(t, Config{AskOnFailure: true})
	_, err := run(r, plan("A", made("a"), made("b", "a")))
	require.NoError(t, err)
	require.NoError(t, r.cfg.Agent.Session(SessionOf("p-1", 0, "a")).Delete(t.Context()))
	decide(t, r, rejecting("no"))
	_, err = run(r)
	var why *FailedError
	require.ErrorAs(t, err, &why)
	require.Empty(t, why.Failures[0].Undone)
	require.Equal(t, "a", why.Failures[0].Left[0].Node)
	require.Contains(t, why.Failures[0].Left[0].Why, "is gone, and what it did isn't known any more")
	require.Equal(t, []string{"a"}, s.all())
}

// A node that was recorded as started, and never began, leaves nothing.
func TestANodeThatNeverBeganLeavesNothing(t *testing.T) {
	s := shop{fail: map[string][]error{"a": {errors.New("no")}}}
	r := s.runner(t, Config{})
	n := made("b", "a")
	n.Input["on"] = From("a.missing")
	_, err := run(r, plan("A", Node{ID: "a", Tool: "see", Input: map[string]any{"name": "x"}}, n))
	var why *FailedError
	require.ErrorAs(t, err, &why)
	require.Equal(t, []string{"a"}, why.Failures[0].Undone)
	require.Empty(t, why.Failures[0].Left)
}

// A shaky store fails the appends to a session while failures are left.
type shaky struct {
	journal.Store
	session  string
	failures atomic.Int64
}

func (s *shaky) Head(ctx context.Context, session string) (journal.Head, error) {
	if session == s.session && s.failures.Add(-1) >= 0 {
		return journal.Head{}, errors.New("the connection was reset")
	}
	return s.Store.Head(ctx, session)
}

func TestAnErrorOfTheStoreDuringAnUndoLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{fail: map[string][]error{"b": {errors.New("no")}}}
		store := &shaky{Store: &journal.MapStore{}, session: SessionOf("p-1", 0, "a")}
		s.begin("b", func() { store.failures.Store(3) })
		r := s.runner(t, Config{Agent: s.agent(t, store)})
		_, err := run(r, plan("A", made("a"), made("b", "a")))
		var why *FailedError
		require.ErrorAs(t, err, &why)
		require.Contains(t, why.Failures[0].Undone, "a")
		require.Equal(t, []string{"a", "-a"}, s.all())
		require.Negative(t, store.failures.Load())
	})
}

func TestAnUndoWaitsForTheLeaseOfAProcessThatDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{fail: map[string][]error{"b": {fault.New(fault.NotFound, "no")}}}
		store := &journal.MapStore{}
		r := s.runner(t, Config{Agent: s.agent(t, store)})
		s.begin("b", func() {
			_, err := store.Lease(context.Background(), SessionOf("p-1", 0, "a"), "dead", 30*time.Second)
			require.NoError(t, err)
		})
		_, err := run(r, plan("A", made("a"), made("b", "a")))
		require.ErrorAs(t, err, new(*FailedError))
		require.Equal(t, []string{"a", "-a"}, s.all())
	})
}

func TestACompletedRunIsUndone(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	_, err := r.Start(t.Context(), "p-1", plan("A", made("a"), made("b", "a"), made("c", "b")))
	require.NoError(t, err)
	require.ErrorIs(t, r.Undo(t.Context(), "p-1"), agent.ErrCannotUndo, "it hasn't ended")
	_, err = run(r)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, r.Undo(t.Context(), "p-1"))
		require.Equal(t, []string{"a", "b", "c", "-c", "-b", "-a"}, s.all())
	}
	require.ErrorIs(t, r.Undo(t.Context(), "p-2"), agent.ErrNothingOpen)
}

func TestWhatCannotBeUndoneIsInTheError(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	_, err := run(r, plan("A", made("a"), published("out")))
	require.NoError(t, err)
	decide(t, r, agent.Approve)
	_, err = run(r)
	require.NoError(t, err)
	err = r.Undo(t.Context(), "p-1")
	require.ErrorIs(t, err, agent.ErrCannotUndo)
	require.ErrorContains(t, err, "out: publish: the tool can't undo")
	require.Contains(t, s.all(), "-a")
}
