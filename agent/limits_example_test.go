package agent_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// Limits are on by default. A run that reaches one is stopped with a LimitError that names the field of Limits.
func ExampleLimits() {
	search := tools.New(tools.Spec{Name: "search", ReadOnly: true}, func(context.Context, Number) (string, error) {
		return "", errors.New("the index is being rebuilt")
	})
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(call("search", 1), call("search", 2), call("search", 3), call("search", 4)),
		Tools:    []tools.Tool{search},
		Limits:   agent.Limits{Failures: 3}, // 8 by default
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := a.Run(context.Background(), agent.Input{Prompt: "Find the page."})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Status, res.Steps)
	var limit *agent.LimitError
	if errors.As(res.Err(), &limit) {
		fmt.Println(limit.Limit, limit.Max)
	}
	// Output:
	// stopped 3
	// Failures 3
}
