package agent_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
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

// A watched store calls a function before it reads a session, and fails to read it if that returns
// an error.
type watched struct {
	journal.Store
	mu     sync.Mutex
	onRead func(session string) error
}

func (w *watched) watch(f func(session string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onRead = f
}

func (w *watched) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	w.mu.Lock()
	f := w.onRead
	w.mu.Unlock()
	if f != nil {
		if err := f(session); err != nil {
			return func(yield func(journal.Record, error) bool) { yield(journal.Record{}, err) }
		}
	}
	return w.Store.Read(ctx, session, after)
}

func TestWhatIsSentWhileARunIsTakenUpIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &watched{Store: &journal.MapStore{}}
		a, model, _ := risky(t, agent.Config{Journal: store}, call("risky", 1), say("Done."))
		res := run(t, a)
		var receipt *agent.Receipt
		store.watch(func(string) error {
			store.watch(nil)
			var err error
			receipt, err = a.Session("s").Steer(t.Context(), "be quick")
			return err
		})
		require.Equal(t, "Done.", runInput(t, a, approveAll(res)).Text())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		step, err := receipt.Wait(ctx)
		require.NoError(t, err)
		require.Equal(t, 2, step)
		require.Equal(t, "be quick", model.Requests()[1].LastUserText())
	})
}

func TestDrainReachesARunThatIsJustTakenUp(t *testing.T) {
	store := &watched{Store: &journal.MapStore{}}
	a, model, _ := risky(t, agent.Config{Journal: store}, call("risky", 1), say("Done."))
	res := run(t, a)
	store.watch(func(string) error {
		store.watch(nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorContains(t, a.Drain(ctx), "still under way")
		return nil
	})
	res = runInput(t, a, approveAll(res))
	require.Equal(t, machine.CodeDrained, res.Code)
	require.Len(t, model.Requests(), 1)
}

func TestARevocationOutlivesTheRunThatDidntReadIt(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		eachStore(t, func(t *testing.T, store journal.Store) {
			synctest.Test(t, func(t *testing.T) {
				if store != nil {
					store = &journal.MapStore{}
				} else if elsewhere {
					return
				}
				var done effects
				cfg := agent.Config{Journal: store, Tools: []tools.Tool{
					done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways}), done.slow(tools.Spec{Name: "slow"})}}
				a, _ := scripted(t, cfg, call("ask", 1), call("slow", 20), call("ask", 2))
				res := run(t, a)
				b := a
				if elsewhere {
					b = reopen(t, cfg)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
				defer cancel()
				var wg sync.WaitGroup
				wg.Go(func() {
					<-time.After(5 * time.Second) // while the slow call runs
					if err := b.Session("s").Revoke(context.Background(), "ask", "ann"); err != nil {
						t.Error(err)
					}
				})
				res, err := a.Run(ctx, agent.Resume("s", agent.AllowAlways(res.Pending[0].ID)))
				wg.Wait()
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, agent.Stopped, res.Status)
				require.Equal(t, agent.Paused, run(t, a).Status, "the call asks again")
				rules, err := a.Session("s").Rules(t.Context())
				require.NoError(t, err)
				require.Empty(t, rules)
				require.Zero(t, done.of(2))
			})
		})
	}
}

func TestARevocationThatWasPostedOutlivesACrashAtAnyAppend(t *testing.T) {
	for at := 1; ; at++ {
		for _, kept := range []bool{false, true} {
			var dead bool
			synctest.Test(t, func(t *testing.T) {
				store := &journal.MapStore{}
				var done effects
				cfg := agent.Config{Journal: store,
					Tools: []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways}),
						done.slow(tools.Spec{Name: "slow", Idempotent: true})}}
				res := run(t, reopen(t, cfg, call("ask", 1)))
				b := reopen(t, cfg)
				dying := &weak{Store: store, at: at, kept: kept, err: death, lasts: true}
				cfg.Journal = dying
				a := reopen(t, cfg, call("slow", 20), say("Done."))
				var wg sync.WaitGroup
				var revoked error
				wg.Go(func() {
					<-time.After(5 * time.Second)
					revoked = b.Session("s").Revoke(context.Background(), "ask", "ann")
					if revoked != nil && !errors.Is(revoked, agent.ErrNoRule) {
						t.Error(revoked)
					}
				})
				_, _ = a.Run(t.Context(), agent.Resume("s", agent.AllowAlways(res.Pending[0].ID)))
				wg.Wait()
				dead = dying.dead()
				<-time.After(time.Minute)
				cfg.Journal = store
				c, again := reopen(t, cfg, call("ask", 2)), agent.Input{Session: "s", Prompt: "again", Supersede: true}
				end, err := c.Run(t.Context(), again)
				if errors.Is(err, agent.ErrBusy) { // it died before it took the decision, which comes first
					_, err = reopen(t, cfg, say("Allowed.")).Run(t.Context(), agent.Continue("s"))
					require.NoError(t, err)
					if revoked != nil { // there was no rule yet
						return
					}
					end, err = c.Run(t.Context(), again)
				}
				require.ErrorAs(t, err, new(*agent.PausedError))
				require.Equal(t, agent.Paused, end.Status, "append %d, kept %t", at, kept)
			})
			if !dead {
				require.Greater(t, at, 5, "there were crashes")
				return
			}
		}
	}
}

func TestADecisionIsntLostBecauseTheChildsSessionCantBeReadJustNow(t *testing.T) {
	store := &watched{Store: &journal.MapStore{}}
	f := newFamily(t, agent.Config{Journal: store}, []providertest.Step{task("child", "it"), say("Done.")},
		[]providertest.Step{call("risky", 1), say("I did.")})
	id := run(t, f.a).Pending[0].ID
	require.NoError(t, f.a.Session("s").Decide(t.Context(), agent.Approve(id)))
	store.watch(func(session string) error {
		if strings.HasPrefix(session, "call/") {
			return errors.New("the network is down")
		}
		return nil
	})
	_, err := f.a.Run(t.Context(), agent.Continue("s"))
	var paused *agent.PausedError
	require.ErrorAs(t, err, &paused)
	store.watch(nil)
	require.Equal(t, "Done.", runInput(t, f.a, agent.Continue("s")).Text())
	require.Equal(t, 1, f.done.of(1))
}

func TestADecisionForARunUnderWayIsCheckedAtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		synctest.Test(t, func(t *testing.T) {
			a, done := riskyBesideSlow(t, store)
			var wg sync.WaitGroup
			for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
				require.NoError(t, err)
				if ev, ok := ev.(*agent.Suspended); ok {
					wg.Go(func() {
						<-time.After(5 * time.Second) // the slow call runs
						for _, d := range []agent.Decision{agent.Approve("p-0"), agent.Edit(ev.Pause.ID, "no object"),
							agent.AllowAlways(ev.Pause.ID)} {
							var bad *agent.DecisionError
							if err := a.Session("s").Decide(context.Background(), d); !errors.As(err, &bad) {
								t.Errorf("%+v: %v", d, err)
							}
						}
						if err := a.Session("s").Decide(context.Background(), agent.Approve(ev.Pause.ID)); err != nil {
							t.Error(err)
						}
					})
				}
			}
			wg.Wait()
			require.Equal(t, 1, done.of(1))
		})
	})
}

func TestAPromptThatIsRefusedLosesNoDecision(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a, _, done := risky(t, agent.Config{Journal: store}, call("risky", 1), say("Done."))
		require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(run(t, a).Pending[0].ID)))
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "and now?"})
		var paused *agent.PausedError
		require.ErrorAs(t, err, &paused)
		require.Equal(t, "Done.", runInput(t, a, agent.Continue("s")).Text())
		require.Equal(t, 1, done.all())
	})
}

func TestPendingCanBeAskedForWhileTheSessionIsPruned(t *testing.T) {
	store := &pruning{Store: &journal.MapStore{}}
	a, _, _ := risky(t, agent.Config{Journal: store}, say("Done."), call("risky", 1))
	run(t, a)
	res := run(t, a)
	store.on = func() { _, store.err = a.Session("s").Prune(t.Context()) }
	pending, err := a.Session("s").Pending(t.Context())
	require.NoError(t, err)
	require.NoError(t, store.err)
	require.Equal(t, res.Pending, pending)
}

// A pruning store calls a function after the first record of a read, which continues from what is
// there then.
type pruning struct {
	journal.Store
	on  func()
	err error
}

func (p *pruning) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	on := p.on
	if p.on = nil; on == nil {
		return p.Store.Read(ctx, session, after)
	}
	return func(yield func(journal.Record, error) bool) {
		for rec, err := range p.Store.Read(ctx, session, after) {
			if !yield(rec, err) {
				return
			}
			after = rec.Seq
			break
		}
		on()
		for rec, err := range p.Store.Read(ctx, session, after) {
			if !yield(rec, err) {
				return
			}
		}
	}
}
