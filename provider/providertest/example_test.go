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
	req := &provider.Request{Messages: []provider.Message{provider.User("How cold is it in Oslo?")}}

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

func ExampleFunc() {
	echo := providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
		return providertest.Say("You said: " + req.LastUserText()).Response(), nil
	})
	res, err := provider.Generate(context.Background(), echo,
		&provider.Request{Messages: []provider.Message{provider.User("hello")}})
	fmt.Println(res.Text(), err)
	// Output: You said: hello <nil>
}
