package guard_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// embed is what the embedders of the adapters pass to Do.
var embed = &provider.Request{Model: "vectors", MaxOutput: 1, Messages: []provider.Message{provider.User("some text")}}

// used is a call that succeeds.
func used(n *int, u provider.Usage) func(context.Context) (provider.Usage, error) {
	return func(context.Context) (provider.Usage, error) {
		*n++
		return u, nil
	}
}

func TestDoBooksItsUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{})
		calls := 0
		require.NoError(t, r.Do(t.Context(), embed, used(&calls, provider.Usage{Input: 1234})))
		require.Equal(t, 1, calls)
		require.EqualValues(t, 1234, r.budget.Status(budget.ScopeGlobal, "").Spent.Tokens)
		require.Equal(t, []string{budget.CallDone}, r.outcomes())
		require.Zero(t, r.fake.calls.Load(), "the guarded provider isn't called")
		r.settled()

		require.NoError(t, r.Do(t.Context(), embed, used(&calls, provider.Usage{})))
		require.Greater(t, r.budget.Status(budget.ScopeGlobal, "").Spent.Tokens, int64(1234), "an estimate is booked")
		r.settled()
	})
}

// vectorPrices is a provider that knows the price of one model.
type vectorPrices struct{ provider.Provider }

func (vectorPrices) InfoOf(model string) (provider.ModelInfo, bool) {
	return provider.ModelInfo{ID: model, Prices: &provider.Prices{Input: provider.USD}}, model == "vectors"
}

func (vectorPrices) Info() provider.ModelInfo { return provider.ModelInfo{ID: "chat"} }

func TestDoHasThePriceOfItsModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{provider: func(f *fake) provider.Provider { return vectorPrices{f} }})
		calls := 0
		require.NoError(t, r.Do(t.Context(), embed, used(&calls, provider.Usage{Input: 1_000_000})))
		require.EqualValues(t, 1_000_000, r.budget.Status(budget.ScopeGlobal, "").Spent.Micros)
	})
}

func TestDoIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{})
		calls := 0
		err := r.Do(t.Context(), embed, func(context.Context) (provider.Usage, error) {
			if calls++; calls < 3 {
				return provider.Usage{}, fault.New(fault.Transient, "reset")
			}
			return provider.Usage{Input: 5}, nil
		})
		require.NoError(t, err)
		require.Equal(t, 3, calls)
		require.Len(t, r.told.all, 2)
		r.settled()
	})
}

func TestDoFailsAsItsCallDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{})
		refused := &provider.Error{Class: fault.Permanent, Status: 400, Message: "no"}
		err := r.Do(t.Context(), embed, func(context.Context) (provider.Usage, error) {
			return provider.Usage{}, refused
		})
		require.Equal(t, error(refused), err)
		require.Zero(t, r.budget.Status(budget.ScopeGlobal, "").Spent.Tokens)
		r.settled()

		err = r.Do(t.Context(), embed, func(context.Context) (provider.Usage, error) { panic("oh") })
		require.ErrorContains(t, err, "oh")
		r.settled()
	})
}

func TestDoIsAdmittedAsAnswersAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		r := newRig(t, option{budget: budget.Config{Global: budget.Limit{Tokens: 2}}})
		var over *budget.Error
		require.ErrorAs(t, r.Do(t.Context(), embed, used(&calls, provider.Usage{})), &over)
		require.Zero(t, calls, "the budget refuses")

		r = newRig(t, option{circuit: circuit.Config{Consecutive: 1}, guard: guard.Config{Retry: single()}})
		down := func(context.Context) (provider.Usage, error) {
			return provider.Usage{}, fault.New(fault.Degraded, "down")
		}
		require.Error(t, r.Do(t.Context(), embed, down))
		var open *circuit.OpenError
		require.ErrorAs(t, r.Do(t.Context(), embed, used(&calls, provider.Usage{})), &open)
		require.Zero(t, calls, "the breaker is open")

		r = newRig(t, option{gate: ratelimit.GateConfig{Slots: 1}})
		release := r.person(0, 10*s) // has the slot for 10 s
		synctest.Wait()
		began := time.Now()
		require.NoError(t, r.Do(t.Context(), embed, used(&calls, provider.Usage{Input: 1})))
		require.Equal(t, 10*s, time.Since(began), "the gate has no slot")
		require.Equal(t, 1, calls)
		release()
		r.settled()
	})
}

func TestDoEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{})
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		err := r.Do(ctx, embed, func(ctx context.Context) (provider.Usage, error) {
			cancel(enough)
			<-ctx.Done()
			return provider.Usage{}, context.Cause(ctx)
		})
		require.ErrorIs(t, err, enough)
		require.True(t, provider.Canceled(err))
		r.settled()

		err = newRig(t, option{guard: guard.Config{FirstChunk: s, Retry: single()}}).Do(t.Context(), embed,
			func(ctx context.Context) (provider.Usage, error) {
				<-ctx.Done()
				return provider.Usage{}, context.Cause(ctx)
			})
		require.Equal(t, fault.Transient, fault.Of(err), "%v", err)
	})
}

func TestDoOfNothingIsAnError(t *testing.T) {
	calls := 0
	require.ErrorIs(t, (*guard.Guard)(nil).Do(t.Context(), embed, used(&calls, provider.Usage{})),
		provider.ErrNilProvider)
	g := newGuard(t, &fake{}, guard.Config{})
	require.ErrorIs(t, g.Do(t.Context(), nil, used(&calls, provider.Usage{})), provider.ErrNilRequest)
	require.Error(t, g.Do(t.Context(), embed, nil))
	var none context.Context
	require.NoError(t, g.Do(none, embed, used(&calls, provider.Usage{})), "a nil context is Background")
	require.Equal(t, 1, calls)
}
