package budget_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pawlkit/pawl/ratelimit/budget"
)

func ExampleLedger() {
	ledger := budget.NewLedger(budget.LedgerConfig{})
	ledger.Record(budget.Entry{
		Names: budget.Names{Session: "s-1", Kind: "step", Provider: "primary", Model: "large"},
		Input: 1200, Output: 300, Micros: 8100, Priced: true, Outcome: budget.CallDone,
	})
	ledger.Record(budget.Entry{
		Names: budget.Names{Session: "s-1", Kind: "summary", Provider: "primary", Model: "small"},
		Input: 900, Output: 40, Micros: 400, Priced: true, Estimated: true, Outcome: budget.CallAborted,
	})

	s := ledger.Total(budget.Filter{Session: "s-1"})
	fmt.Println(s.Calls, "calls,", s.Tokens(), "tokens,", s.EstimatedTokens, "of them estimated,", s.Aborted, "aborted")

	models := ledger.Report(budget.Filter{}).Providers["primary"].Models
	for _, name := range slices.Sorted(maps.Keys(models)) {
		fmt.Println(name, models[name].Micros)
	}
	// Output:
	// 2 calls, 2440 tokens, 940 of them estimated, 1 aborted
	// large 8100
	// small 400
}
