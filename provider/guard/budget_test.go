package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

func limited(tokens int64) budget.Config {
	return budget.Config{Global: budget.Limit{Tokens: tokens}}
}

func (r *rig) reserved() int64 { return r.budget.Status(budget.ScopeGlobal, "").Reserved.Tokens }

func TestARefusedBudgetGivesTheSlotBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{budget: limited(4096 + tokensIn - 1), guard: guard.Config{
			Retry: map[fault.Class]fault.Retry{fault.UserFixable: {Attempts: 5}},
		}}, good)
		backup := another()
		p, err := guard.Failover(r, backup)
		require.NoError(t, err)
		got := watch(p.Stream(t.Context(), ask))
		var refused *budget.Error
		require.True(t, errors.As(got.err, &refused))
		require.Equal(t, got.err, error(refused), "as it is")
		require.EqualValues(t, 4096+tokensIn, refused.Wanted)
		require.Empty(t, got.kinds)
		require.Zero(t, r.fake.calls.Load())
		require.Zero(t, backup.calls.Load(), "the next provider is no way round it")
		require.Empty(t, r.outcomes())
		require.Zero(t, r.gate.Snapshot().Running)
		e := r.told.all[0].(guard.Escalation)
		require.Equal(t, got.err, e.Err)
		require.NotEmpty(t, e.Remedies)
		require.Empty(t, e.Errors, "nothing was")
		r.settled()

		r = newRig(t, option{budget: limited(4096 + tokensIn)}, good)
		require.NoError(t, watch(r.Stream(t.Context(), ask)).err, "reaching it exactly is allowed")
		r = newRig(t, option{budget: limited(100 + tokensIn)}, good)
		require.NoError(t, watch(r.Stream(t.Context(), &provider.Request{Messages: ask.Messages, MaxOutput: 100})).err)
		r.settled()
	})
}

func TestARefusalSaysWhatWasAskedForAndWhy(t *testing.T) {
	count := func(*provider.Request) int64 { return 7 }
	for want, c := range map[string]struct {
		limit  int64
		count  func(*provider.Request) int64
		output int
	}{
		"and 4102 tokens are wanted: 6 tokens of input (estimated at 3 bytes a token) and 4096 of output (the " +
			"default, as the request has no MaxOutput)": {limit: 5},
		"and 107 tokens are wanted: 7 tokens of input (as Config.Count has it) and 100 of output (the request's " +
			"MaxOutput)": {limit: 5, count: count, output: 100},
		"and 4096 tokens are wanted: 4096 tokens of output, because the answer is longer than what was reserved for it": {limit: 5000},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, option{budget: limited(c.limit), guard: guard.Config{Count: c.count}},
				script{say(start, long(4097*3)), say(end)})
			got := watch(r.Stream(t.Context(), &provider.Request{Messages: ask.Messages, MaxOutput: c.output}))
			require.ErrorIs(t, got.err, budget.ErrExceeded)
			require.ErrorContains(t, got.err, want)
			r.settled()
		})
	}
}

func TestAWaitForTheBudgetHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{budget: limited(5000), gate: ratelimit.GateConfig{Slots: 3}}, paced(s))
		began := time.Now()
		first := make(chan error)
		go func() { first <- watch(r.Stream(t.Context(), ask)).err }()
		synctest.Wait()
		var waits []provider.Wait
		for c, err := range r.Stream(t.Context(), ask) {
			require.NoError(t, err)
			if c.Kind == provider.KindWaiting {
				waits = append(waits, *c.Extra.Wait)
				snap := r.gate.Snapshot()
				require.Equal(t, []int{1, 0}, []int{snap.Running, snap.Queued})
				require.Less(t, r.reserved(), int64(5000))
			}
		}
		require.NoError(t, <-first)
		require.Len(t, waits, 1)
		require.Equal(t, provider.WaitBudget, waits[0].Reason)
		require.Equal(t, 16*s, time.Since(began))
		r.settled()
	})
}

// TestAWaitForASlotHoldsNoReservation: a call that has waited for the budget, and finds no slot
// then.
func TestAWaitForASlotHoldsNoReservation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{budget: limited(5000), gate: ratelimit.GateConfig{Slots: 1}}, good)
		other, err := r.budget.Reserve(t.Context(), budget.ReserveRequest{Tokens: 4900})
		require.NoError(t, err)
		person := r.person(s, time.Minute) // takes the slot that the call has given back
		time.AfterFunc(2*s, func() { other.Settle(0, 0) })
		time.AfterFunc(3*s, func() {
			require.Zero(t, r.reserved())
			require.Equal(t, 1, r.gate.Snapshot().Queued)
		})
		got := watch(r.Stream(t.Context(), ask))
		person()
		require.NoError(t, got.err)
		require.Equal(t, []provider.WaitReason{provider.WaitBudget, provider.WaitQueued},
			[]provider.WaitReason{got.waits[0].Reason, got.waits[1].Reason})
		r.settled()
	})
}

func TestLeavingAWaitForTheBudgetLeavesNothing(t *testing.T) {
	for _, how := range []string{"break", "panic", "goexit"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, option{budget: limited(5000)}, good)
			other, err := r.budget.Reserve(t.Context(), budget.ReserveRequest{Tokens: 4900})
			require.NoError(t, err)
			require.Equal(t, 1, leaveAt(r.Stream(t.Context(), ask), 0, how))
			require.EqualValues(t, 4900, r.reserved())
			other.Settle(0, 0)
			require.NoError(t, watch(r.Stream(t.Context(), ask)).err, "it isn't in anybody's way")
			r.settled()
		})
	}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{budget: limited(5000)}, good)
		other, err := r.budget.Reserve(t.Context(), budget.ReserveRequest{Tokens: 4900})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), s)
		defer cancel()
		require.ErrorIs(t, watch(r.Stream(ctx, ask)).err, context.DeadlineExceeded)
		other.Settle(0, 0)
		r.settled()
	})
}

func TestAnAnswerIsToppedUpAsItGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held []int64
		var r *rig
		look := func(context.Context, func(provider.Chunk, error) bool) bool {
			held = append(held, r.reserved()-tokensIn)
			return true
		}
		step := 4096 * 3
		sc := script{say(start), look, say(long(step)), look, say(provider.Reasoning("x")), look, say(long(step - 1)),
			look, say(long(3*step + 1)), look, say(end)}
		r = newRig(t, option{}, sc)
		require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
		require.Equal(t, []int64{4096, 4096, 2 * 4096, 2 * 4096, 6 * 4096}, held)
		r.settled()

		// With MaxOutput the provider sees to it, and an estimate that is too high costs nobody an
		// answer.
		held = nil
		r = newRig(t, option{budget: limited(4096 + tokensIn)}, script{say(start), say(long(2 * step)), look, say(end)})
		require.NoError(t, watch(r.Stream(t.Context(), &provider.Request{Messages: ask.Messages, MaxOutput: 4096})).err)
		require.Equal(t, []int64{4096}, held)
	})
}

func TestARefusedTopUpEndsTheAnswerAndKeepsWhatCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := 4096 * 3
		again := guard.Config{Retry: map[fault.Class]fault.Retry{fault.UserFixable: {Attempts: 5}}}
		r := newRig(t, option{budget: limited(9000), guard: again},
			script{say(start, long(step), long(step), long(step), long(step), end)})
		got := watch(r.Stream(t.Context(), ask))
		var refused *budget.Error
		require.ErrorAs(t, got.err, &refused)
		require.Equal(t, got.err, error(refused))
		require.Len(t, got.text, 2*step)
		require.NotContains(t, got.kinds, provider.KindReset)
		require.EqualValues(t, 1, r.fake.calls.Load())
		e := r.ledger.Entries(budget.Filter{})[0]
		require.Equal(t, budget.CallAborted, e.Outcome)
		require.True(t, e.Estimated)
		require.EqualValues(t, 3*4096, e.Output, "with what came and wasn't shown")
		require.Zero(t, r.breaker.Snapshot().Failures)
		r.settled()
	})
}

// A provider that ends its answer without the usage hasn't used nothing: the consumer gets what is
// charged.
func TestUsageThatWasNotReportedIsEstimated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{}, script{say(start, long(300), provider.EndUnmetered(provider.StopDone))})
		res, err := provider.Generate(t.Context(), r, ask)
		require.NoError(t, err)
		require.Equal(t, provider.Usage{Input: tokensIn, Output: 100, Estimated: true}, res.Usage)
		e := r.ledger.Entries(budget.Filter{})[0]
		require.Equal(t, []any{res.Usage.Input, res.Usage.Output, true}, []any{e.Input, e.Output, e.Estimated})
		r.settled()
	})
}

func TestEachAttemptIsBooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := script{say(start, provider.Text("twelve bytes")), fail(failure(fault.Transient))}
		r := newRig(t, option{}, broken, broken, good)
		require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
		require.Equal(t, []string{"failed", "failed", "done"}, r.outcomes())
		require.EqualValues(t, 2*(tokensIn+4)+5, r.budget.Status(budget.ScopeGlobal, "").Spent.Tokens)
		r.settled()
	})
}

func TestRecoveryIsLimitedWhereTheHostSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		req := &provider.Request{Messages: ask.Messages, Labels: provider.Labels{Session: "s"}}
		cut := failure(fault.Transient)
		broken := script{fail(cut)}
		r := newRig(t, option{}, broken, good)
		require.NoError(t, watch(r.Stream(t.Context(), req)).err, "another attempt isn't recovery by itself")

		r = newRig(t, option{guard: guard.Config{Recovery: true}}, broken, good)
		got := watch(r.Stream(t.Context(), req))
		var gaveUp *guard.GaveUpError
		require.ErrorAs(t, got.err, &gaveUp)
		var refused *budget.Error
		require.ErrorAs(t, got.err, &refused)
		require.Equal(t, budget.ScopeRecovery, refused.Scope)
		require.Equal(t, 1, gaveUp.Attempts)
		require.Equal(t, []error{cut}, gaveUp.Errors)
		r.settled()

		r = newRig(t, option{guard: guard.Config{Recovery: true}}, broken, good)
		small := &provider.Request{Messages: ask.Messages, Labels: req.Labels, MaxOutput: 500}
		require.NoError(t, watch(r.Stream(t.Context(), small)).err, "it fits")

		r = newRig(t, option{}, good)
		around := &provider.Request{Messages: ask.Messages,
			Labels: provider.Labels{Session: "s", Kind: guard.KindRecovery}}
		require.ErrorAs(t, watch(r.Stream(t.Context(), around)).err, &refused)
		require.Equal(t, budget.ScopeRecovery, refused.Scope)
	})
}

// priced is a provider that knows what its model costs.
type priced struct {
	*fake
	name string
}

func (p priced) Info() provider.ModelInfo {
	return provider.ModelInfo{Provider: p.name, ID: "m-1", Name: "Model One", Prices: &provider.Prices{
		Input: 3 * provider.USD, Output: 15 * provider.USD, CacheRead: provider.USD / 2, CacheWrite: 4 * provider.USD}}
}

func TestMoneyIsBookedWhereThePriceIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := option{provider: func(f *fake) provider.Provider { return priced{f, "fake"} },
			budget: budget.Config{Global: budget.Limit{USD: 1}, Provider: budget.Limit{USD: 1},
				AllowUnknownPrices: true}}
		for model, known := range map[string]bool{"": true, "m-1": true, "Model One": true, "m-2": false} {
			r := newRig(t, o,
				script{say(start,
					provider.End(provider.StopDone, provider.Usage{Input: 1000, Output: 100, CacheRead: 400}))})
			require.NoError(t,
				watch(r.Stream(t.Context(), &provider.Request{Messages: ask.Messages, Model: model})).err)
			e := r.ledger.Entries(budget.Filter{})[0]
			require.Equal(t, known, e.Priced)
			require.Equal(t, "fake", e.Provider)
			spent := r.budget.Status(budget.ScopeProvider, "fake").Spent.Micros
			require.Equal(t, e.Micros, spent)
			if known {
				require.EqualValues(t, 600*3+400/2+100*15, spent)
				require.Equal(t, "m-1", e.Model)
			} else {
				require.Zero(t, spent)
				require.Equal(t, "m-2", e.Model)
			}
		}

		r := newRig(t, o, script{say(start, provider.End(provider.StopDone, provider.Usage{Input: 1000}))})
		require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
		require.EqualValues(t, 1000*3, r.ledger.Entries(budget.Filter{})[0].Micros,
			"what is counted is charged as it is")

		// 6 tokens in at the price of writing them to a cache, and 4,096 out.
		o.budget = budget.Config{Global: budget.Limit{USD: (6*4 + 4096*15 - 1) / 1e6}}
		r = newRig(t, o, good)
		var refused *budget.Error
		require.ErrorAs(t, watch(r.Stream(t.Context(), ask)).err, &refused)
		require.Equal(t, budget.UnitMoney, refused.Unit)
		require.EqualValues(t, 6*4+4096*15, refused.Wanted)
	})
}

func TestACallOfUnknownPriceIsntMadeWhereMoneyIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := option{budget: budget.Config{Global: budget.Limit{USD: 1}}}
		ask := &provider.Request{Messages: ask.Messages, Model: "gpt-5-mini", Labels: provider.Labels{Tenant: "acme"}}
		r := newRig(t, o, good)
		backup := another()
		p, err := guard.Failover(r, backup)
		require.NoError(t, err)
		var refused *budget.Error
		require.ErrorAs(t, watch(p.Stream(t.Context(), ask)).err, &refused)
		require.True(t, refused.Unpriced)
		require.ErrorContains(t, refused, `the price of the model "gpt-5-mini" isn't known`)
		require.ErrorContains(t, refused, "PAWL_PRICES")
		require.Zero(t, r.fake.calls.Load())
		require.Zero(t, backup.calls.Load(), "the next provider is no way round it")
		require.Empty(t, r.outcomes())
		r.settled()

		o.provider = func(f *fake) provider.Provider {
			return provider.WithPrices(f, map[string]provider.Prices{"gpt-5-mini": {Input: provider.USD,
				Output: provider.USD}})
		}
		r = newRig(t, o, good)
		require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
		require.EqualValues(t, 5, r.budget.Status(budget.ScopeGlobal, "").Spent.Micros)
		require.Equal(t, "acme", r.ledger.Entries(budget.Filter{})[0].Tenant)

		o.provider, o.budget.AllowUnknownPrices = nil, true
		r = newRig(t, o, good)
		require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
		require.False(t, r.ledger.Entries(budget.Filter{})[0].Priced)
	})
}

func TestAPriceIsThatOfTheRoutesModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		router := func(f *fake) provider.Provider {
			p, err := provider.NewRouter(map[string]provider.Route{
				provider.AliasDefault: {Provider: priced{f, "cheap"}},
				provider.AliasStrong:  {Provider: priced{f, "dear"}, Model: "m-1"},
			})
			require.NoError(t, err)
			return p
		}
		r := newRig(t, option{provider: router}, good)
		for _, model := range []string{"", "strong"} {
			require.NoError(t, watch(r.Stream(t.Context(), &provider.Request{Model: model})).err)
		}
		entries := r.ledger.Entries(budget.Filter{})
		require.Equal(t, []string{"cheap", "dear"}, []string{entries[0].Provider, entries[1].Provider})
		require.True(t, entries[0].Priced && entries[1].Priced)
		require.Equal(t, "m-1", entries[1].Model)
	})
}

func TestACallIsBookedOnItsAccounts(t *testing.T) {
	r := newRig(t, option{}, good)
	req := &provider.Request{Labels: provider.Labels{Session: "s", Pipeline: "p", Task: "t", Agent: "a", Kind: "k"}}
	require.NoError(t, watch(r.Stream(t.Context(), req)).err)
	require.Equal(t, budget.Names{Session: "s", Pipeline: "p", Task: "t", Agent: "a", Kind: "k", Provider: "rig"},
		r.ledger.Entries(budget.Filter{})[0].Names)
}

func TestTheHostCountsIfItLikes(t *testing.T) {
	count := func(*provider.Request) int64 { return 777 }
	r := newRig(t, option{guard: guard.Config{Count: count}},
		script{say(start, provider.End(provider.StopDone, provider.Usage{}))})
	require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
	require.EqualValues(t, 777, r.ledger.Entries(budget.Filter{})[0].Input)
	r = newRig(t, option{guard: guard.Config{Count: func(*provider.Request) int64 { panic("x") }}},
		script{say(start, provider.End(provider.StopDone, provider.Usage{}))})
	require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
	require.EqualValues(t, tokensIn, r.ledger.Entries(budget.Filter{})[0].Input)
}

func TestAnEstimateCountsAllThatIsSent(t *testing.T) {
	req := &provider.Request{
		System: "123456", // 2 tokens
		Messages: []provider.Message{
			// 4 + 1 + 2,000
			{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("123"),
				provider.MediaPart(provider.Media{Type: "image/png"})}},
			{Role: provider.RoleAssistant, Parts: []provider.Part{
				// 4 + 5
				{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "abc", Name: "def",
					Input: []byte(`{"a":12}`)}, Opaque: &provider.Opaque{Data: "1"}}}},
			{Role: provider.RoleTool,
				Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: "abc", Name: "def",
					Parts: []provider.Part{provider.TextPart("123456")}})}}, // 4 + 4
		},
		Tools: []provider.Tool{{Name: "def", Description: "123", Schema: []byte(`123456`), // 4 + 4
			Options: map[string]json.RawMessage{"a": []byte(`{"x":1}`), "b": []byte(`{"x":11} `)}}}, // 3: those for b
		Output: &provider.OutputFormat{Schema: []byte(`123`)}, // 1
	}
	r := newRig(t, option{}, script{say(start, provider.End(provider.StopDone, provider.Usage{}))})
	require.NoError(t, watch(r.Stream(t.Context(), req)).err)
	require.EqualValues(t, 2+4+1+2000+4+5+4+4+4+4+3+1, r.ledger.Entries(budget.Filter{})[0].Input)
}

func TestAPanickingSinkCostsNoCall(t *testing.T) {
	ledger := budget.NewLedger(budget.LedgerConfig{Sink: func(budget.Entry) { panic("disk") }})
	gate := ratelimit.NewGate(ratelimit.GateConfig{Slots: 1})
	g := newGuard(t, &fake{scripts: []script{good}}, guard.Config{Gate: gate, Ledger: ledger})
	require.NoError(t, watch(g.Stream(t.Context(), ask)).err)
	require.Zero(t, gate.Snapshot().Running)
}
