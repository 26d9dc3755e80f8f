package memory_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// A conversation that would fill half of a small window is compacted, and what was cut can be read
// back.
func Example() {
	ctx := context.Background()
	store := &memory.MapStore{}
	c, err := memory.New(memory.Config{
		Window: memory.Window{Size: 12_000},
		Rules:  []memory.Rule{{When: memory.AtShare(.5)}},
		Keep:   1,
		Store:  store,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	messages := []provider.Message{
		provider.User("Which page is about the team?"),
		{Role: provider.RoleAssistant,
			Parts: []provider.Part{{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "1", Name: "cms.list"}}}},
		{Role: provider.RoleTool,
			Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: "1", Name: "cms.list",
				Parts: []provider.Part{provider.TextPart("page 1: Members\n" +
					strings.Repeat("a page about something else\n", 700))}})}},
		provider.Assistant("Page 1, Members."),
		provider.User("Thanks. And the one about prices?"),
	}
	p, err := c.Prepare(ctx, &provider.Request{Messages: messages}, memory.Context{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range p.Report.Steps {
		fmt.Printf("%s: cut %d, dropped %d (%s)\n", s.Strategy, s.Cut, s.Dropped, s.Skipped)
	}
	result := p.Messages[2].Parts[0].Result.Text()
	fmt.Println(strings.SplitN(result, "\n", 2)[0])

	handle := result[strings.Index(result, "m-"):][:18]
	page, err := memory.ReadBack(ctx, store, json.RawMessage(`{"handle":"`+handle+`","limit":15}`))
	fmt.Println(strings.SplitN(page, "\n", 2)[0], err)
	// Output:
	// drop superseded: cut 0, dropped 0 (nothing to do)
	// cut results: cut 1, dropped 0 ()
	// page 1: Members
	// page 1: Members <nil>
}

func ExampleContextTooLargeError() {
	c, err := memory.New(memory.Config{Window: memory.Window{Size: 1_000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Prepare(context.Background(), &provider.Request{
		System:   strings.Repeat("Always be polite. ", 200),
		Messages: []provider.Message{provider.User("hi")},
	}, memory.Context{})
	var large *memory.ContextTooLargeError
	if errors.As(err, &large) {
		fmt.Println(large.Biggest[0].What, errors.Is(err, memory.ErrContextTooLarge))
	}
	// Output:
	// the system text true
}

func ExampleThresholds() {
	marks := memory.NewThresholds(.5, .75, .95)
	for _, used := range []float64{.4, .8, .85, .3, .6} {
		fmt.Println(used, marks.Cross(used))
	}
	// Output:
	// 0.4 []
	// 0.8 [0 1]
	// 0.85 []
	// 0.3 []
	// 0.6 [0]
}
