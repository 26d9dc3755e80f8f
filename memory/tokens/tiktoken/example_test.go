package tiktoken_test

import (
	"fmt"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/tokens/tiktoken"
	"github.com/pawlkit/pawl/provider"
)

func Example() {
	meter := memory.NewMeter(tiktoken.New(provider.ModelInfo{ID: "gpt-4o"}))
	fmt.Println(meter.Count(&provider.Request{Messages: []provider.Message{provider.User("tiktoken is great!")}}).Total)
	fmt.Println(tiktoken.Count(tiktoken.O200k, "tiktoken is great!"))
	// Output:
	// 10
	// 6
}
