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
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// callPath is a call path for production: people before background work, one budget, breakers, a
// second provider.
func callPath(primary, backup provider.Provider) (provider.Provider, *budget.Ledger, error) {
	limits := budget.New(budget.Config{
		Global:  budget.Limit{Tokens: 5_000_000, USD: 40, Period: budget.Day},
		Session: budget.Limit{Tokens: 300_000},
	})
	ledger := budget.NewLedger(budget.LedgerConfig{})
	guarded := func(name string, p provider.Provider) (provider.Provider, error) {
		return guard.New(p, guard.Config{
			Name: name,
			// One gate for each provider and key: a rate limit pauses that one alone.
			Gate: ratelimit.NewGate(ratelimit.GateConfig{Slots: 8, RequestsPerMinute: 500,
				TokensPerMinute: 200_000}),
			Budget:  limits,
			Ledger:  ledger,
			Breaker: circuit.New("llm:"+name, circuit.LLM()),
		})
	}
	first, err1 := guarded("primary", primary)
	second, err2 := guarded("backup", backup)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, err
	}
	p, err := guard.Failover(first, second)
	return p, ledger, err
}

// serve is a host with a person who waits, and with work for which nobody does.
func serve(ctx context.Context, a *agent.Agent) error {
	// A person is waiting, so this run never queues behind background work.
	_, err1 := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Summarise my drafts.", Interactive: true})
	// Nobody is waiting, so a model call of this run yields its slot when a person needs it, and is
	// then repeated automatically.
	_, err2 := a.Run(ctx, agent.Input{Task: "reindex", Prompt: "Re-index everything.", Priority: ratelimit.Background})
	return errors.Join(err1, err2)
}

func TestAPersonDoesntWaitBehindTheWorkOfAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := provider.Func(func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
			return func(yield func(provider.Chunk, error) bool) {
				if !yield(provider.Start("m"), nil) {
					return
				}
				if !req.Interactive {
					select {
					case <-time.After(time.Minute):
					case <-ctx.Done():
						yield(provider.Chunk{}, ctx.Err())
						return
					}
				}
				if yield(provider.Text("Done."), nil) {
					yield(provider.End(provider.StopDone, provider.Usage{Input: 3, Output: 2}), nil)
				}
			}
		})
		path, ledger, err := callPath(known{model}, providertest.Script())
		require.NoError(t, err)
		a, err := agent.New(agent.Config{Provider: path})
		require.NoError(t, err)
		var work sync.WaitGroup
		for range 20 { // the path has eight slots
			work.Go(func() {
				_, err := a.Run(t.Context(), agent.Input{Prompt: "Re-index.", Priority: ratelimit.Background})
				require.NoError(t, err)
			})
		}
		synctest.Wait()
		began := time.Now()
		_, err = a.Run(t.Context(), agent.Input{Prompt: "Summarise my drafts.", Interactive: true})
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
		require.NoError(t, serve(t.Context(), a))
		work.Wait()
		require.EqualValues(t, 23, ledger.Total(budget.Filter{}).Calls)
		require.EqualValues(t, 1, ledger.Total(budget.Filter{Task: "reindex"}).Calls)
	})
}

// behind returns a guard with all that a path has around a provider that does this with each call.
func behind(t *testing.T, name string, calls *atomic.Int64,
	do func(context.Context, func(provider.Chunk, error) bool)) (*guard.Guard, *circuit.Breaker) {
	breaker := circuit.New(name, circuit.LLM())
	g, err := guard.New(provider.Func(func(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
		calls.Add(1)
		return func(yield func(provider.Chunk, error) bool) { do(ctx, yield) }
	}), guard.Config{Name: name, Gate: ratelimit.NewGate(ratelimit.GateConfig{Slots: 1}), Breaker: breaker})
	require.NoError(t, err)
	return g, breaker
}

// TestAnAgentsOwnGuardDoublesNothing: neither the clocks of the guard that its provider is, nor its
// attempts.
func TestAnAgentsOwnGuardDoublesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hung, answered, failed atomic.Int64
		hangs, breaker := behind(t, "hangs", &hung, func(ctx context.Context, yield func(provider.Chunk, error) bool) {
			<-ctx.Done()
			yield(provider.Chunk{}, ctx.Err())
		})
		answers, _ := behind(t, "answers", &answered, func(_ context.Context, yield func(provider.Chunk, error) bool) {
			_ = yield(provider.Start("m"), nil) && yield(provider.Text("here"), nil) &&
				yield(provider.End(provider.StopDone, provider.Usage{}), nil)
		})
		both, err := guard.Failover(hangs, answers)
		require.NoError(t, err)
		a, err := agent.New(agent.Config{Provider: both})
		require.NoError(t, err)
		var waits []provider.WaitReason
		for ev, err := range a.Stream(t.Context(), agent.Input{Prompt: "go"}) {
			require.NoError(t, err)
			if w, ok := ev.(*agent.Waiting); ok {
				waits = append(waits, w.Wait.Reason)
			}
		}
		require.EqualValues(t, 1, answered.Load(), "the second provider was asked")
		require.EqualValues(t, 1, hung.Load(), "and the first one wasn't tried again before")
		require.EqualValues(t, 1, breaker.Snapshot().InARow, "its breaker knows why")
		require.Empty(t, waits)

		fails, _ := behind(t, "fails", &failed, func(_ context.Context, yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{}, fault.New(fault.Degraded, "down"))
		})
		a, err = agent.New(agent.Config{Provider: fails})
		require.NoError(t, err)
		_, err = a.Run(t.Context(), agent.Input{Prompt: "go"})
		var gaveUp *guard.GaveUpError
		require.ErrorAs(t, err, &gaveUp)
		require.Equal(t, "fails", gaveUp.Name)
		require.EqualValues(t, 3, failed.Load())
	})
}
