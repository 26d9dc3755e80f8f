package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A run without Config.Memory ends if the provider refuses its request for its length.
func ExampleContextLengthError() {
	small := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{}, &provider.Error{Class: fault.UserFixable, Status: 400, Code: "context_length_exceeded",
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
