package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// TestAnApprovedCallRunsElsewhereIfTheLeaseIsLostBeforeItStarts: whoever has the session next runs
// the call; the process that lost the lease records nothing about it.
func TestAnApprovedCallRunsElsewhereIfTheLeaseIsLostBeforeItStarts(t *testing.T) {
	for name, beside := range map[string]bool{"alone": false, "in parallel": true} {
		for _, where := range []string{"in Check", "in a policy"} {
			t.Run(name+" "+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					inner := &journal.MapStore{}
					var done effects
					build := func(store journal.Store, stuck string) *agent.Agent {
						waits := func(ctx context.Context, at string) error {
							if stuck != at {
								return nil
							}
							<-ctx.Done()
							return ctx.Err()
						}
						tool := tools.Func[Number, string]{
							Spec:  tools.Spec{Name: "risky", Risk: tools.High, ParallelSafe: beside},
							Check: func(ctx context.Context, _ Number) error { return waits(ctx, "in Check") },
							Run: func(ctx context.Context, in Number) (string, error) {
								done.add(in.N)
								return "ok", nil
							},
						}
						policy := func(ctx context.Context, _ *tools.Definition, _ *tools.Call) tools.Verdict {
							if waits(ctx, "in a policy") != nil {
								return tools.Verdict{Effect: tools.Deny}
							}
							return tools.Verdict{}
						}
						return newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{tool},
							Policies: []tools.Policy{policy}, Provider: inTurn(calls("risky", 1, 2), say("Done."))})
					}
					res := run(t, build(inner, ""))
					mute := &mute{Store: inner, fails: fault.New(fault.Transient, "no connection")}
					end, err := build(mute, where).Run(t.Context(), approveAll(res))
					require.ErrorIs(t, err, agent.ErrBusy)
					require.Equal(t, agent.Failed, end.Status)
					require.Zero(t, done.all())
					a := build(inner, "")
					require.Empty(t, finished(t, a, "s"), "the run continues elsewhere")
					<-time.After(time.Minute) // the lease ends
					n, err := a.Recover(t.Context(), agent.Recovery{})
					require.NoError(t, err)
					require.Equal(t, 1, n)
					last, err := a.Session("s").Result(t.Context())
					require.NoError(t, err)
					require.Equal(t, "Done.", last.Text())
					require.Equal(t, 1, done.of(1))
					require.Equal(t, 1, done.of(2))
					requireSound(t, "s", facts(t, a, "s"))
				})
			})
		}
	}
}

// TestAConsumerThatLeavesAfterTheLeaseIsLostEndsNothing: the run continues elsewhere, as if the
// consumer had stayed.
func TestAConsumerThatLeavesAfterTheLeaseIsLostEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &journal.MapStore{}
		var done effects
		a, _, _ := risky(t, agent.Config{Journal: inner}, call("risky", 1))
		res := run(t, a)
		store := &mute{Store: inner, fails: fault.New(fault.Transient, "no connection")}
		b := newAgent(t, agent.Config{Journal: store, Provider: inTurn(call("risky", 1), say("Done.")),
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}})
		for ev, err := range b.Stream(t.Context(), approveAll(res)) {
			require.NoError(t, err)
			if _, ok := ev.(*machine.Decided); ok {
				<-time.After(29 * time.Second) // the lease is as good as lost
				break
			}
		}
		require.Empty(t, finished(t, a, "s"))
		r, err := a.Session("s").Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, agent.Running, r.Status)
	})
}

// TestACallThatIsAbandonedWhenTheLeaseIsLostStaysOpen: the process that has the session next runs
// it again, or asks a person.
func TestACallThatIsAbandonedWhenTheLeaseIsLostStaysOpen(t *testing.T) {
	for _, repeatable := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			inner := &journal.MapStore{}
			work := func(store journal.Store, takes time.Duration) *agent.Agent {
				deaf := tools.New(tools.Spec{Name: "deaf", Idempotent: repeatable},
					func(context.Context, Number) (string, error) {
						<-time.After(takes)
						return "ok", nil
					})
				return newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{deaf},
					Provider: inTurn(call("deaf", 1), say("Done."))})
			}
			mute := &mute{Store: inner, fails: fault.New(fault.Transient, "no connection")}
			_, err := work(mute, time.Minute).Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
			require.ErrorIs(t, err, agent.ErrBusy)
			<-time.After(time.Minute) // the lease and the call end
			a := work(inner, 0)
			require.Empty(t, finished(t, a, "s"))
			res, err := a.Run(t.Context(), agent.Continue("s"))
			if repeatable {
				require.NoError(t, err)
				require.Equal(t, "Done.", res.Text())
				return
			}
			require.ErrorAs(t, err, new(*agent.PausedError))
			require.Equal(t, agent.PauseInDoubt, res.Pending[0].Kind)
		})
	}
}
