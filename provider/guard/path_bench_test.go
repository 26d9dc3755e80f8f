package guard_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// everything is a Config with nothing left out.
func everything() guard.Config {
	return guard.Config{
		Name: "bench",
		Gate: ratelimit.NewGate(ratelimit.GateConfig{Slots: 8, RequestsPerMinute: 1e10, TokensPerMinute: 1e10}),
		Budget: budget.New(budget.Config{Global: budget.Limit{Tokens: 1 << 40, USD: 1e6},
			Session: budget.Limit{Tokens: 1 << 40}}),
		Ledger:  budget.NewLedger(budget.LedgerConfig{}),
		Breaker: circuit.New("bench", circuit.LLM()),
	}
}

var labelled = &provider.Request{Messages: ask.Messages,
	Labels: provider.Labels{Session: "s-1", Task: "t", Agent: "a", Kind: "step"}}

// BenchmarkGuard shows what a guard adds to a call: bare is the provider alone, plain a guard with
// nothing configured, everything one with gate, budget, ledger and breaker.
func BenchmarkGuard(b *testing.B) {
	for _, n := range []int{1, 1000} {
		run := func(name string, call func()) {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					call()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n+2), "ns/chunk")
			})
		}
		through := func(p provider.Provider) func() {
			return func() {
				for _, err := range p.Stream(context.Background(), labelled) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		run("bare", through(words(n)))
		run("plain", through(newGuard(b, words(n), guard.Config{})))
		run("everything", through(newGuard(b, words(n), everything())))
		cfg := everything()
		cfg.Ledger = nil
		run("withoutLedger", through(newGuard(b, words(n), cfg)))
		cfg.Budget = nil
		run("gateAndBreaker", through(newGuard(b, words(n), cfg)))
	}
}

func TestEverythingAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	bare := testing.AllocsPerRun(200, func() { drain(t, words(3)) })
	g := newGuard(t, words(3), everything())
	require.LessOrEqual(t, testing.AllocsPerRun(200, func() { drain(t, g) })-bare, 16.0)
}
