package providertest_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func ExampleScript() {
	model := providertest.Script(
		providertest.Fail(fault.RateLimited, providertest.RetryAfter(0)),
		providertest.Reply(providertest.Say("Let me see."), providertest.Call("weather", City{Name: "Oslo"})),
	)
	req := &provider.Request{Messages: []provider.Message{provider.User("How cold is it in Oslo?")},
		Tools: []provider.Tool{{Name: "weather"}}}

	_, err := provider.Generate(context.Background(), model, req)
	fmt.Println(err)
	res, err := provider.Generate(context.Background(), model, req)
	fmt.Println(res.Text(), err)
	for _, call := range res.Calls() {
		fmt.Printf("%s %s\n", call.Name, call.Input)
	}
	_, err = provider.Generate(context.Background(), model, req)
	fmt.Println(err)
	// Output:
	// provider scripted: 429 scripted failure (rate_limited)
	// Let me see. <nil>
	// weather {"city":"Oslo"}
	// provider scripted: the script has 2 steps, and this is call 3; its newest user text is "How cold is it in Oslo?"
}

// The model goes on when a reader is there.
func ExampleWaitFor() {
	joined := make(chan struct{})
	model := providertest.Script(
		providertest.Reply(providertest.Say("Let me see."), providertest.WaitFor(joined, providertest.Say(" Cold."))))
	for c, err := range model.Stream(context.Background(), &provider.Request{}) {
		fmt.Println(c.Kind, c.Text, err)
		if c.Text == "see." {
			close(joined)
		}
	}
	// Output:
	// start  <nil>
	// text Let  <nil>
	// text me  <nil>
	// text see. <nil>
	// text   <nil>
	// text Cold. <nil>
	// end  <nil>
}

func ExampleTranscript() {
	model := providertest.Script(providertest.Call("weather", City{Name: "Oslo"}))
	req := &provider.Request{Messages: []provider.Message{provider.User("How cold is it?")},
		Tools: []provider.Tool{{Name: "weather"}}}
	res, err := provider.Generate(context.Background(), model, req)
	if err != nil {
		fmt.Println(err)
	}
	said := provider.Message{Role: provider.RoleAssistant, Parts: res.Parts}
	fmt.Print(providertest.Transcript(append(req.Messages, said)))
	// Output:
	// user: How cold is it?
	// assistant calls weather {"city":"Oslo"}
}

// Whatever the schema asks for, each tool is called once.
func ExampleTryTools() {
	model := providertest.TryTools(1)
	res, err := provider.Generate(context.Background(), model, &provider.Request{
		Messages: []provider.Message{provider.User("Try them.")},
		Tools: []provider.Tool{{Name: "refund", Schema: []byte(`{"type": "object", "required": ["order"],
			"properties": {"order": {"type": "string", "pattern": "^A-[0-9]{4}$"}}}`)}, {Name: "list"}},
	})
	for _, call := range res.Calls() {
		fmt.Println(call.Name, string(call.Input), err)
	}
	// Output:
	// refund {"order":"A-7518"} <nil>
	// list  <nil>
}

func ExampleFunc() {
	echo := providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
		return providertest.Say("You said: " + req.LastUserText()).Response(), nil
	})
	res, err := provider.Generate(context.Background(), echo,
		&provider.Request{Messages: []provider.Message{provider.User("hello")}})
	fmt.Println(res.Text(), err)
	// Output: You said: hello <nil>
}
