package agent_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// eachStore runs a test without a journal, and with one that another agent shares.
func eachStore(t *testing.T, f func(t *testing.T, store journal.Store)) {
	t.Run("in memory", func(t *testing.T) { f(t, nil) })
	t.Run("in a journal", func(t *testing.T) { f(t, &journal.MapStore{}) })
}

func TestADecisionIsTakenWithoutGoingOnAndCountsWhenSomebodyDoes(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a, _, done := risky(t, agent.Config{Journal: store}, call("risky", 1), say("Done."))
		res := run(t, a)
		b := a
		if store != nil {
			b, _, _ = risky(t, agent.Config{Journal: store})
		}
		require.NoError(t, b.Session("s").Decide(t.Context(), agent.Approve(res.Pending[0].ID).By("ann")))
		require.Zero(t, done.all(), "nothing runs yet")
		require.Equal(t, "Done.", runInput(t, a, agent.Continue("s")).Text())
		require.Equal(t, 1, done.all())
		for _, f := range facts(t, a, "s") {
			if d, ok := f.(*machine.Decided); ok {
				require.Equal(t, "ann", d.Decision.User)
				require.Equal(t, "ann", d.By)
			}
		}
	})
}

func TestTheFirstDecisionCountsAndTheNextIsTold(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a, _, done := risky(t, agent.Config{Journal: store}, call("risky", 1), say("Done."))
		id := run(t, a).Pending[0].ID
		var wg sync.WaitGroup
		var first, told atomic.Int32
		for i := range 20 {
			wg.Go(func() {
				d := agent.Approve(id)
				if i%2 == 0 {
					d = agent.Reject(id, "no")
				}
				err := a.Session("s").Decide(t.Context(), d)
				var de *agent.DecisionError
				switch {
				case err == nil:
					first.Add(1)
				case errorsAs(err, &de) && de.Code == machine.DecisionUsed:
					told.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, first.Load())
		require.EqualValues(t, 19, told.Load())
		_, err := a.Run(t.Context(), agent.Resume("s", agent.Approve(id)))
		var de *agent.DecisionError
		require.ErrorAs(t, err, &de)
		require.Equal(t, machine.DecisionUsed, de.Code)
		require.Equal(t, "Done.", runInput(t, a, agent.Continue("s")).Text())
		require.LessOrEqual(t, done.all(), 1)
	})
}

func TestDecisionsThatCantBeTakenAreRefusedAtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		synctest.Test(t, func(t *testing.T) {
			if store != nil {
				store = &journal.MapStore{} // made in the bubble
			}
			a, _, done := risky(t, agent.Config{Journal: store, PauseExpires: time.Minute}, call("risky", 1),
				say("Done."))
			id := run(t, a).Pending[0].ID
			code := func(session string, d agent.Decision) string {
				var de *agent.DecisionError
				require.ErrorAs(t, a.Session(session).Decide(t.Context(), d), &de)
				return de.Code
			}
			require.Equal(t, machine.DecisionUnknown, code("s", agent.Approve("p-0")))
			require.Equal(t, machine.DecisionUnknown, code("other", agent.Approve(id)))
			require.Equal(t, machine.DecisionBad, code("s", agent.Edit(id, "no object")))
			require.Equal(t, machine.DecisionBad, code("s", agent.AllowAlways(id)))
			require.Equal(t, machine.DecisionBad, code("s", agent.Answer(id, 1)))
			require.Equal(t, machine.DecisionBad, code("s", agent.Decision{ID: id, Kind: machine.Expired}))
			<-time.After(time.Hour)
			require.Equal(t, machine.DecisionExpired, code("s", agent.Approve(id)))
			require.Equal(t, "Done.", runInput(t, a, agent.Continue("s")).Text())
			require.Zero(t, done.all())
		})
	})
}

func TestADecisionMadeInTimeCountsHoweverLateTheRunGoesOn(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		synctest.Test(t, func(t *testing.T) {
			if store != nil {
				store = &journal.MapStore{}
			}
			a, _, done := risky(t, agent.Config{Journal: store, PauseExpires: time.Minute}, call("risky", 1),
				say("Done."))
			id := run(t, a).Pending[0].ID
			<-time.After(30 * time.Second)
			require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(id)))
			<-time.After(time.Hour)
			require.Equal(t, "Done.", runInput(t, a, agent.Continue("s")).Text())
			require.Equal(t, 1, done.all())
		})
	})
}

// riskyBesideSlow is an agent in a bubble, with a journal of its own if there is one, whose model
// calls two tools at once: one that a person has to approve, and one that takes its time.
func riskyBesideSlow(t *testing.T, store journal.Store) (*agent.Agent, *effects) {
	t.Helper()
	if store != nil {
		store = &journal.MapStore{}
	}
	done := new(effects)
	a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{
		done.tool(tools.Spec{Name: "risky", Risk: tools.High}), done.slow(tools.Spec{Name: "slow"})}},
		providertest.Calls(providertest.CallSpec{Tool: "risky", Input: Number{1}},
			providertest.CallSpec{Tool: "slow", Input: Number{20}}), say("Done."))
	return a, done
}

func TestARunUnderWayTakesADecisionThatWasSent(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		synctest.Test(t, func(t *testing.T) {
			a, done := riskyBesideSlow(t, store)
			var res *agent.Result
			for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
				require.NoError(t, err)
				switch ev := ev.(type) {
				case *agent.Suspended:
					id := ev.Pause.ID
					go func() {
						<-time.After(5 * time.Second) // the slow call runs
						if err := a.Session("s").Decide(context.Background(), agent.Approve(id)); err != nil {
							t.Error(err)
						}
					}()
				case *agent.RunEnded:
					res = ev.Result
				}
			}
			require.Equal(t, agent.Completed, res.Status, "it never had to pause")
			require.Equal(t, 1, done.of(1))
		})
	})
}

func TestADecisionIsTheFirstAlsoWhileItIsBeingTaken(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var a *agent.Agent
		var id string
		var second error
		asked := 0
		hook := agent.Hooks{AfterTool: func(ctx context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
			asked++
			second = a.Session("s").Decide(ctx, agent.Approve(id).By("bob"))
			return nil
		}}
		a, _, done := risky(t, agent.Config{Journal: store, Hooks: []agent.Hooks{hook}}, call("risky", 1), say("done"))
		res := run(t, a)
		id = res.Pending[0].ID
		require.NoError(t, a.Session("s").Decide(t.Context(), agent.Reject(id, "no").By("ann")))
		end := runInput(t, a, agent.Continue("s"))
		require.Equal(t, agent.Completed, end.Status)
		require.Equal(t, 1, asked)
		require.Zero(t, done.all())
		var used *agent.DecisionError
		require.ErrorAs(t, second, &used)
		require.Equal(t, machine.DecisionUsed, used.Code)
	})
}

// An unread store's logs can't be read while it fails.
type unread struct {
	journal.Store
	fails bool
}

func (u *unread) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	if u.fails {
		return func(yield func(journal.Record, error) bool) { yield(journal.Record{}, errors.New("no disk")) }
	}
	return u.Store.Read(ctx, session, after)
}

func TestADecisionWaitsWhileAChildsLogCantBeRead(t *testing.T) {
	for name, own := range map[string]journal.Store{"none": nil, "memory": &journal.MapStore{}} {
		t.Run(name, func(t *testing.T) {
			store := &unread{Store: &journal.MapStore{}}
			child, _, done := risky(t, agent.Config{Name: "child", Journal: store}, call("risky", 1), say("I did."))
			a, _ := scripted(t,
				agent.Config{Journal: own, Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})}},
				task("child", "x"), say("Done."))
			res := run(t, a)
			require.Len(t, res.Pending, 1)
			require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
			store.fails = true
			_, err := a.Run(t.Context(), agent.Continue("s"))
			require.Error(t, err)
			store.fails = false
			end := runInput(t, a, agent.Continue("s"))
			require.Equal(t, "Done.", end.Text())
			require.Equal(t, 1, done.all())
		})
	}
}

func TestARunIsContinuedOnceThoughSeveralPausesHaveExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, _ := scripted(t,
			agent.Config{PauseExpires: time.Minute,
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}, calls("risky", 1, 2, 3),
			say("on"))
		run(t, a)
		<-time.After(time.Hour)
		runInput(t, a, agent.Continue("s"))
		continued := 0
		for _, f := range facts(t, a, "s") {
			if _, ok := f.(*machine.Continued); ok {
				continued++
			}
		}
		require.LessOrEqual(t, continued, 1)
	})
}

func TestAPauseWhoseDecisionCouldNotBeTakenCanBeDecidedOn(t *testing.T) {
	var done effects
	store := &journal.MapStore{}
	cfg := agent.Config{Journal: store, Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}
	a, _ := scripted(t, cfg, calls("risky", 1, 2), say("on"))
	res := run(t, a)
	first, second := res.Pending[0].ID, res.Pending[1].ID
	require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(first), agent.Edit(second, Number{3})))
	type text struct {
		Text string `json:"text"`
	}
	cfg.Tools = []tools.Tool{tools.New(tools.Spec{Name: "risky", Risk: tools.High},
		func(context.Context, text) (string, error) { return "x", nil })}
	b := reopen(t, cfg, say("on"))
	in := agent.Continue("s")
	in.AcceptChanges = true
	paused := runInput(t, b, in)
	require.Len(t, paused.Pending, 1, "the approval is taken; the input of the edit doesn't fit any more")
	require.Equal(t, []string{second}, paused.Pending[0].Replaces)
	in = agent.Resume("s", agent.Edit(paused.Pending[0].ID, text{"x"}))
	in.AcceptChanges = true
	require.Equal(t, agent.Completed, runInput(t, b, in).Status)
	requireSound(t, "s", facts(t, b, "s"))
}

func TestADecisionThatWasTakenCountsAsMadeWhenItWasChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		slow := false
		a, _ := scripted(t, agent.Config{PauseExpires: time.Minute,
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})},
			Redact: func(s string) string {
				if slow {
					<-time.After(time.Second)
				}
				return s
			}}, call("risky", 1), say("on"))
		res := run(t, a)
		<-time.After(time.Minute - time.Second/2)
		slow = true
		require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
		slow = false
		runInput(t, a, agent.Continue("s"))
		require.Equal(t, 1, done.all())
	})
}
