package budget_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

func ExampleBudget() {
	limits := budget.New(budget.Config{
		Global:  budget.Limit{Tokens: 5_000_000, USD: 40, Period: budget.Day},
		Session: budget.Limit{Tokens: 10_000},
	})
	labels := budget.Names{Session: "s-1", Provider: "primary"}

	// Before the call: its input and the most that it may say, 3,000 millionths of a dollar.
	call, err := limits.Reserve(context.Background(),
		budget.ReserveRequest{Names: labels, Tokens: 1200 + 4096, Micros: 3000})
	if err != nil {
		fmt.Println(err)
		return
	}
	// As the answer grows beyond that; refused means that the call has to be ended here.
	if err := call.TopUp(4096, 2500); err != nil {
		fmt.Println(err)
	}
	// After the call, however it ended.
	call.Settle(1200+5000, 4100)

	_, err = limits.Reserve(context.Background(), budget.ReserveRequest{Names: labels, Tokens: 4000})
	fmt.Println(err)
	remedy, _ := fault.Remedy(err)
	fmt.Println(errors.Is(err, budget.ErrExceeded), fault.Of(err), remedy)
	// Output:
	// budget: the session budget of "s-1" has 3800 tokens of 10000 tokens left, and 4000 tokens are wanted
	// true user_fixable Raise the session budget of "s-1".
}

func ExampleBudget_Status() {
	limits := budget.New(budget.Config{
		Global:   budget.Limit{USD: 40},
		Sessions: map[string]budget.Limit{"batch": {Tokens: 100_000}},
	})
	// After a restart, from where the host has stored it.
	limits.Seed(budget.Names{Session: "batch"}, 60_000, 2_500_000)

	global, batch := limits.Status(budget.ScopeGlobal, ""), limits.Status(budget.ScopeSession, "batch")
	fmt.Println(global.Spent.Micros, "of", global.Limit.Micros)
	fmt.Println(batch.Left().Tokens, "tokens left")
	// Output:
	// 2500000 of 40000000
	// 40000 tokens left
}

func ExampleConfig_onEvent() {
	limits := budget.New(budget.Config{
		Session: budget.Limit{Tokens: 1000},
		OnEvent: func(e budget.Event) {
			fmt.Printf("%s %s: %s, %d of %d\n", e.Scope, e.Name, e.Kind, e.Spent.Tokens, e.Limit.Tokens)
		},
	})
	for range 4 {
		call, err := limits.Reserve(context.Background(),
			budget.ReserveRequest{Names: budget.Names{Session: "s-1"}, Tokens: 300})
		if err != nil {
			fmt.Println("refused")
			break
		}
		call.Settle(280, 0)
	}
	// Output:
	// session s-1: warned, 840 of 1000
	// refused
}

// A tenant has a daily limit, whichever of its users makes a call in whichever session.
func ExampleConfig_tenant() {
	limits := budget.New(budget.Config{
		Tenant: func(string) budget.Limit { return budget.Limit{USD: 5, Period: budget.Day} },
	})
	for _, user := range []string{"ann", "bob"} {
		call, err := limits.Reserve(context.Background(), budget.ReserveRequest{
			Names: budget.Names{Tenant: "acme", User: user}, Tokens: 2000, Micros: 3_000_000})
		if err != nil {
			fmt.Println(user, err)
			continue
		}
		call.Settle(1500, 2_500_000)
	}
	fmt.Println(limits.Status(budget.ScopeTenant, "acme").Left().Micros)
	// Output:
	// bob budget: the tenant budget of "acme" has $2.500000 of $5.000000 left, and $3.000000 are wanted
	// 2500000
}
