package agent_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// Limits are on by default. A run that reaches one is stopped with a LimitError that names the
// field of Limits.
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
	var limit *agent.LimitError
	if !errors.As(err, &limit) {
		fmt.Println("it should reach a limit:", err)
		return
	}
	fmt.Println(res.Status, res.Steps)
	switch limit.Limit {
	case machine.LimitFailures:
		fmt.Println("its tools failed", limit.Have, "times in a row")
	case machine.LimitRepeats:
		fmt.Println("it repeated one call", limit.Have, "times")
	}
	// Output:
	// stopped 3
	// its tools failed 3 times in a row
}

// A limit of cost means little if the price of a model isn't known, so such a model isn't called
// where a host sets one.
func ExampleLimits_requirePrices() {
	gateway := provider.Func(providertest.Script(providertest.Say("Hello.")).Stream) // doesn't say its prices
	a, err := agent.New(agent.Config{
		Provider: gateway,
		Params:   agent.Params{Model: "new-model"},
		Limits:   agent.Limits{Cost: provider.USD / 2},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := a.Run(context.Background(), agent.Input{Prompt: "Greet them."})
	if res == nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Status, res.Steps)
	fmt.Println(err)
	// Output:
	// stopped 0
	// agent: Limits.RequirePrices: the price of the model "new-model" isn't known, so what it costs can't be counted; name its price in the file of PAWL_PRICES or with provider.WithPrices, or set Limits.AllowUnknownPrices
}

// A tool that fails again and again is unavailable for the rest of the run, and the model makes do
// without it.
func ExampleLimits_toolFailures() {
	search := tools.New(tools.Spec{Name: "search", ReadOnly: true}, func(context.Context, Number) (string, error) {
		return "", errors.New("the index is being rebuilt")
	})
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(call("search", 1), call("search", 2), call("search", 3),
			providertest.Say("The search doesn't work.")),
		Tools:  []tools.Tool{search},
		Limits: agent.Limits{ToolFailures: 2}, // 5 by default
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range a.Stream(context.Background(), agent.Input{Prompt: "Find the page."}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch ev := ev.(type) {
		case *agent.ToolFinished:
			fmt.Println(ev.Result.Text())
		case *agent.RunEnded:
			fmt.Println(ev.Status, ev.Result.Text())
		}
	}
	// Output:
	// the index is being rebuilt
	// the index is being rebuilt
	// Note: this tool has failed 2 times in a row, and isn't available any more in this run. Go on without it.
	// The call wasn't run: this tool is not available in this run: it failed 2 times in a row. Go on without it.
	// completed The search doesn't work.
}
