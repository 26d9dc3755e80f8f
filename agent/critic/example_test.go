package critic_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/critic"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
)

// The critic finds that a post is missing, and the agent goes on.
func Example() {
	judge := providertest.Script(
		providertest.Say(`{"score": 0.4, "missing": ["the third post"], "wording": []}`),
		providertest.Say(`{"score": 0.9, "missing": [], "wording": []}`),
	)
	hooks, err := critic.New(critic.Config{Provider: judge})
	if err != nil {
		panic(err)
	}
	model := providertest.Script(providertest.Say("I made two posts."), providertest.Say("I made three posts."))
	a, err := agent.New(agent.Config{Provider: model, Hooks: []agent.Hooks{hooks}})
	if err != nil {
		panic(err)
	}
	for ev, err := range a.Stream(context.Background(),
		agent.Input{Prompt: "Create a blog with 3 posts about AI, modern layout."}) {
		if err != nil {
			panic(err)
		}
		switch ev := ev.(type) {
		case *machine.Emitted:
			fmt.Println(ev.Kind, string(ev.Value)[:22])
		case *agent.RunEnded:
			fmt.Println(ev.Result.Text())
		}
	}
	// Output:
	// critic {"round":1,"score":0.4
	// critic {"round":2,"score":0.9
	// I made three posts.
}
