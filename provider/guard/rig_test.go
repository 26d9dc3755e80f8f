package guard_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// A rig is a guard with everything around one fake.
type rig struct {
	*guard.Guard
	t       testing.TB
	fake    *fake
	gate    *ratelimit.Gate
	budget  *budget.Budget
	ledger  *budget.Ledger
	breaker *circuit.Breaker
	told    events
}

// An option changes what a rig is made of.
type option struct {
	gate     ratelimit.GateConfig
	budget   budget.Config
	circuit  circuit.Config
	guard    guard.Config
	provider func(*fake) provider.Provider
}

func newRig(t testing.TB, o option, scripts ...script) *rig {
	r := &rig{t: t, fake: &fake{scripts: scripts}}
	if o.budget.Global == (budget.Limit{}) {
		o.budget.Global.Tokens = 1_000_000
	}
	if o.circuit.Consecutive == 0 {
		o.circuit = circuit.LLM()
	}
	r.gate, r.budget = ratelimit.NewGate(o.gate), budget.New(o.budget)
	r.ledger, r.breaker = budget.NewLedger(budget.LedgerConfig{}), circuit.New("llm", o.circuit)
	cfg := o.guard
	cfg.Name, cfg.Gate, cfg.Budget, cfg.Ledger, cfg.Breaker = "rig", r.gate, r.budget, r.ledger, r.breaker
	cfg.OnEvent = r.told.add
	var p provider.Provider = r.fake
	if o.provider != nil {
		p = o.provider(r.fake)
	}
	r.Guard = newGuard(t, p, cfg)
	return r
}

// settled holds that nothing is left of any call: no slot, no place in the queue, no reservation;
// and that what is spent is what the ledger has.
func (r *rig) settled() {
	r.t.Helper()
	snap := r.gate.Snapshot()
	require.Zero(r.t, snap.Running)
	require.Zero(r.t, snap.Queued)
	require.Zero(r.t, r.breaker.Snapshot().Probes)
	settled(r.t, r.budget, r.ledger)
}

func settled(t testing.TB, limits *budget.Budget, ledger *budget.Ledger) {
	t.Helper()
	status := limits.Status(budget.ScopeGlobal, "")
	require.Zero(t, status.Reserved)
	total := ledger.Total(budget.Filter{})
	require.Equal(t, total.Input+total.Output, status.Spent.Tokens)
}

// outcomes are those of the ledger's entries, in order.
func (r *rig) outcomes() (out []string) {
	for _, e := range r.ledger.Entries(budget.Filter{}) {
		out = append(out, e.Outcome)
	}
	return out
}

// tokensIn is what the request ask is taken for: 5 bytes and a message.
const tokensIn = 2 + 4

// single has one attempt for each class.
func single() map[fault.Class]fault.Retry {
	one := fault.Retry{Attempts: 1}
	return map[fault.Class]fault.Retry{fault.Transient: one, fault.RateLimited: one, fault.Degraded: one}
}

// person takes a slot as a person's request does, and holds it for a time. It returns when it has
// got it.
func (r *rig) person(after, hold time.Duration) (got func() time.Time) {
	var at time.Time
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-time.After(after)
		lease, err := r.gate.Acquire(context.Background(), ratelimit.AcquireRequest{Interactive: true})
		if err != nil {
			return
		}
		at = time.Now()
		<-time.After(hold)
		lease.Release(ratelimit.Outcome{Unsent: true})
	}()
	return func() time.Time { <-done; return at }
}

func ptr[T any](v T) *T { return &v }

// long is text of so many bytes.
func long(n int) provider.Chunk { return provider.Text(strings.Repeat("x", n)) }

// failures is a hook for events that calls fn with those that are failures.
func failures(fn func(context.Context, guard.Failure)) func(context.Context, guard.Event) {
	return func(ctx context.Context, e guard.Event) {
		if f, ok := e.(guard.Failure); ok {
			fn(ctx, f)
		}
	}
}
