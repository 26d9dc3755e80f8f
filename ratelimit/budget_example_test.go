package ratelimit_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit"
)

func ExampleBudget() {
	budget := ratelimit.NewBudget(ratelimit.BudgetConfig{
		Global:  ratelimit.Limit{Tokens: 5_000_000, USD: 40, Period: ratelimit.Day},
		Session: ratelimit.Limit{Tokens: 10_000},
	})
	labels := ratelimit.Labels{Session: "s-1", Provider: "primary"}

	// Before the call: its input and the most that it may say, 3,000 millionths of a dollar.
	call, err := budget.Reserve(context.Background(), ratelimit.ReserveRequest{Labels: labels, Tokens: 1200 + 4096, Micros: 3000})
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

	_, err = budget.Reserve(context.Background(), ratelimit.ReserveRequest{Labels: labels, Tokens: 4000})
	fmt.Println(err)
	remedy, _ := fault.Remedy(err)
	fmt.Println(errors.Is(err, ratelimit.ErrBudget), fault.Of(err), remedy)
	// Output:
	// ratelimit: the session budget of "s-1" has 3800 tokens of 10000 tokens left, and 4000 tokens are wanted
	// true user_fixable Raise the session budget of "s-1".
}

func ExampleBudget_Status() {
	budget := ratelimit.NewBudget(ratelimit.BudgetConfig{
		Global:   ratelimit.Limit{USD: 40},
		Sessions: map[string]ratelimit.Limit{"batch": {Tokens: 100_000}},
	})
	// After a restart, from where the host has stored it.
	budget.Seed(ratelimit.Labels{Session: "batch"}, 60_000, 2_500_000)

	global, batch := budget.Status(ratelimit.ScopeGlobal, ""), budget.Status(ratelimit.ScopeSession, "batch")
	fmt.Println(global.Spent.Micros, "of", global.Limit.Micros)
	fmt.Println(batch.Left().Tokens, "tokens left")
	// Output:
	// 2500000 of 40000000
	// 40000 tokens left
}

func ExampleBudgetConfig_onEvent() {
	budget := ratelimit.NewBudget(ratelimit.BudgetConfig{
		Session: ratelimit.Limit{Tokens: 1000},
		OnEvent: func(e ratelimit.BudgetEvent) {
			fmt.Printf("%s %s: %s, %d of %d\n", e.Scope, e.Name, e.Kind, e.Spent.Tokens, e.Limit.Tokens)
		},
	})
	for range 4 {
		call, err := budget.Reserve(context.Background(), ratelimit.ReserveRequest{Labels: ratelimit.Labels{Session: "s-1"}, Tokens: 300})
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
