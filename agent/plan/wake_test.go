package plan

import (
	"context"
	"errors"
	"strings"
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

// conversing returns an agent whose model submits a plan, and the runner, on a store. With inner, a
// subagent submits the plan.
func (s *shop) conversing(t *testing.T, store journal.Store, inner bool, nodes ...object) (*agent.Agent, *Runner) {
	t.Helper()
	r := s.runner(t, Config{Agent: s.agent(t, store), AskOnFailure: true})
	steps := []providertest.Step{providertest.Call(ToolSubmit, submits("", nodes...)), providertest.Say("Done.")}
	cfg := agent.Config{Name: "planner", Provider: providertest.Script(steps...), Journal: store, Tools: Tools(r)}
	a, err := agent.New(cfg)
	require.NoError(t, err)
	if inner {
		outer := agent.Config{Name: "outer", Journal: store, Tools: []tools.Tool{agent.AsTool(a, tools.Spec{})},
			Provider: providertest.Script(providertest.Call("planner", object{"task": "x"}),
				providertest.Say("All done."))}
		a, err = agent.New(outer)
		require.NoError(t, err)
	}
	return a, r
}

// publishing returns the steps of a plan that asks once.
func publishing() []object { return []object{step("a", "make"), stepOn("b", "publish", "a")} }

// A decision on a plan resumes the conversation that waits for the plan, by whatever method it is
// made.
func TestADecisionOnASubmittedPlanWakesItsConversation(t *testing.T) {
	session := func(t *testing.T, r *Runner) *agent.Session {
		return r.cfg.Agent.Session(SessionOf(theRun(t, r), 0, "b"))
	}
	for door, decide := range map[string]func(t *testing.T, r *Runner, id string) error{
		"Session.Decide": func(t *testing.T, r *Runner, id string) error {
			return session(t, r).Decide(t.Context(), agent.Approve(id))
		},
		"Runner.Decide": func(t *testing.T, r *Runner, id string) error {
			return r.Decide(t.Context(), theRun(t, r), agent.Approve(id))
		},
		"agent.Resume": func(t *testing.T, r *Runner, id string) error {
			_, err := r.cfg.Agent.Run(t.Context(), agent.Resume(session(t, r).ID(), agent.Approve(id)))
			return err
		},
	} {
		for _, inner := range []bool{false, true} {
			for _, served := range []bool{false, true} {
				name := door
				if inner {
					name += " of a subagent's plan"
				}
				if served {
					name += ", with Serve"
				}
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						var s shop
						a, r := s.conversing(t, &journal.MapStore{}, inner, publishing()...)
						res := submit(t, a)
						require.Len(t, res.Pending, 1)
						if served {
							defer serve(t, r)()
						}
						require.NoError(t, decide(t, r, res.Pending[0].ID))
						time.Sleep(time.Minute)
						n, err := a.Recover(t.Context(), agent.Recovery{})
						require.NoError(t, err)
						require.Equal(t, 1, n)
						res, err = a.Session("s").Result(t.Context())
						require.NoError(t, err)
						require.Equal(t, agent.Completed, res.Status)
						require.Equal(t, []string{"a", "b"}, s.all())
						require.Empty(t, listed(t, r.store))
					})
				})
			}
		}
	}
}

// The same holds for a decision that comes when the plan has begun to wait, and the conversation
// hasn't.
func TestADecisionOnASubmittedPlanIsTakenBeforeItsConversationWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		store := &pausing{Store: &journal.MapStore{}}
		var r *Runner
		decided := false
		store.paused = func(session, id string) {
			h, err := store.Head(t.Context(), session)
			if err == nil && h.Kind == headKind && h.Status == statusPaused && !strings.HasPrefix(id, "plan ") &&
				!decided {
				decided = true
				node := r.cfg.Agent.Session(SessionOf(session, 0, "b"))
				require.NoError(t, node.Decide(t.Context(), agent.Approve(id)))
			}
		}
		var a *agent.Agent
		a, r = s.conversing(t, store, false, publishing()...)
		res := submit(t, a)
		require.Equal(t, agent.Completed, res.Status)
		require.True(t, decided)
		require.Equal(t, []string{"a", "b"}, s.all())
	})
}

// A flickering store can't be reached for the first posts to a conversation.
type flickering struct {
	journal.Store
	refuses int
}

func (s *flickering) Post(ctx context.Context, session string, it journal.Item) error {
	if session == "s" && s.refuses > 0 {
		s.refuses--
		return fault.New(fault.Transient, "the store can't be reached")
	}
	return s.Store.Post(ctx, session, it)
}

// It wakes the conversation also if that can't be told at once.
func TestADecisionOnASubmittedPlanWakesItsConversationLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		store := &flickering{Store: &journal.MapStore{}}
		a, r := s.conversing(t, store, false, publishing()...)
		res := submit(t, a)
		store.refuses = 5
		node := r.cfg.Agent.Session(SessionOf(theRun(t, r), 0, "b"))
		require.NoError(t, node.Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
		require.Zero(t, store.refuses)
		n, err := a.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

// What a person decides about a step that has failed, and the end of a plan, come the same way.
func TestTheEndOfASubmittedPlanWakesItsConversation(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(t *testing.T, r *Runner, id string) error
		done   []string
	}{
		"an answer": {func(t *testing.T, r *Runner, id string) error {
			return r.Decide(t.Context(), theRun(t, r), choosing(retry)(id))
		}, []string{"a", "b"}},
		"GiveUp": {func(t *testing.T, r *Runner, _ string) error {
			return r.GiveUp(t.Context(), theRun(t, r), "it isn't needed")
		}, []string{"a", "-a"}},
		"Cancel": {func(t *testing.T, r *Runner, _ string) error {
			return r.Cancel(t.Context(), theRun(t, r), "it isn't needed")
		}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := shop{fail: map[string][]error{"b": {errors.New("it is closed")}}}
				a, r := s.conversing(t, &journal.MapStore{}, false, step("a", "make"), step("b", "make", "a"))
				res := submit(t, a)
				require.Len(t, res.Pending, 1)
				require.NoError(t, c.decide(t, r, res.Pending[0].ID))
				n, err := a.Recover(t.Context(), agent.Recovery{})
				require.NoError(t, err)
				require.Equal(t, 1, n)
				res, err = a.Session("s").Result(t.Context())
				require.NoError(t, err)
				require.Equal(t, agent.Completed, res.Status)
				require.Equal(t, c.done, s.all())
				require.Empty(t, listed(t, r.store))
			})
		})
	}
}
