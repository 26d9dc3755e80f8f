package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A run without Config.Memory ends if the provider refuses its request for its length.
func ExampleContextLengthError() {
	small := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{},
				&provider.Error{Class: fault.UserFixable, Status: 400, Code: "context_length_exceeded",
					ContextLength: &provider.ContextLength{Limit: 8_000, Size: 9_300}})
		}
	})
	a, err := agent.New(agent.Config{Provider: small})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = a.Run(context.Background(), agent.Input{Prompt: "Read all of it."})
	var long *agent.ContextLengthError
	if errors.As(err, &long) {
		fmt.Println("the model takes", long.Limit, "tokens, and the request had", long.Size)
		fmt.Println(long.Remediation())
	}
	// Output:
	// the model takes 8000 tokens, and the request had 9300
	// set Config.Memory (an empty Memory has the defaults), and leave a hook's own messages short; or use a model with a larger context window
}

// With Config.Memory, a run learns from the refusal: it compacts the conversation once, and asks
// again.
func ExampleMemory_refused() {
	const limit = 2_000 // tokens that the model takes, though the agent was told 100,000
	script := providertest.Script(
		providertest.Call("read", Number{1}), providertest.Call("read", Number{2}),
		providertest.Call("read", Number{3}), providertest.Say("All read."))
	small := &strict{Provider: script, limit: limit, chars: 4}
	read := tools.New(tools.Spec{Name: "read", ReadOnly: true}, func(context.Context, Number) (string, error) {
		return strings.Repeat("some words ", 300), nil
	})
	a, err := agent.New(agent.Config{
		Provider: small,
		Tools:    []tools.Tool{read},
		Memory:   &agent.Memory{Config: memory.Config{Window: memory.Window{Size: 100_000}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range a.Stream(context.Background(), agent.Input{Prompt: "Read it all."}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch ev := ev.(type) {
		case *machine.Compacted:
			fmt.Println("compacted:", ev.Report.After < ev.Report.Before)
		case *agent.RunEnded:
			fmt.Println(ev.Status, ev.Result.Text(), "- refused:", small.refused)
		}
	}
	// Output:
	// compacted: true
	// completed All read. - refused: 1
}
