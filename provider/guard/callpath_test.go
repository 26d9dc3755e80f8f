package guard_test

import (
	"context"
	"errors"
	"fmt"
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

// The primary provider has used up its credit; the backup answers, and the ledger has both.
func ExampleFailover() {
	broke := &fake{
		scripts: []script{{fail(&provider.Error{Class: fault.UserFixable, Provider: "primary", Status: 402,
			Remedy: "top up the account"})}}}
	p, ledger, err := callPath(priced{broke, "primary"}, priced{another(), "backup"})
	if err != nil {
		fmt.Println(err)
		return
	}
	req := &provider.Request{Messages: []provider.Message{provider.User("Summarise my drafts.")},
		Interactive: true, Labels: provider.Labels{Session: "s-1"}}
	res, err := provider.Generate(context.Background(), p, req)
	fmt.Println(res.Text(), err)
	for _, e := range ledger.Entries(budget.Filter{Session: "s-1"}) {
		fmt.Println(e.Provider, e.Outcome, e.Input, e.Output)
	}
	// Output:
	// from the backup <nil>
	// primary failed 0 0
	// backup done 3 2
}

func TestTheCallPathHoldsThroughAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := fail(&provider.Error{Class: fault.Degraded, Status: 529})
		primary := &fake{scripts: []script{{down}, {down}, {down}, {down}, {down}, good}}
		backup := another()
		p, ledger, err := callPath(priced{primary, "primary"}, priced{backup, "backup"})
		require.NoError(t, err)
		began := time.Now()
		ask := func() (string, time.Duration) {
			before := time.Now()
			got := watch(p.Stream(t.Context(),
				&provider.Request{Messages: ask.Messages, Labels: provider.Labels{Session: "s"}}))
			require.NoError(t, got.err)
			return got.text, time.Since(before)
		}
		for range 8 { // after five attempts the breaker is open
			text, took := ask()
			require.Equal(t, "from the backup", text)
			require.Zero(t, took, "the backup is asked at once")
		}
		require.EqualValues(t, 5, primary.calls.Load())
		<-time.After(30 * s)
		text, _ := ask()
		require.Equal(t, "fine", text)
		require.EqualValues(t, 6, ledger.Total(budget.Filter{Provider: "primary"}).Calls)
		require.EqualValues(t, 8, ledger.Total(budget.Filter{Provider: "backup"}).Calls)
		require.Less(t, time.Since(began), 2*time.Minute)
	})
}
