package agent_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A person edits the second message. The answer to it, and what followed, leave the conversation.
func ExampleInput_replaces() {
	a, err := agent.New(agent.Config{Provider: providertest.Script(
		providertest.Say("Hello, Ann."),
		providertest.Say("Oslo has 700,000 inhabitants."),
		providertest.Say("Bergen has 290,000 inhabitants."),
	)})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	ask := func(prompt string, replaces uint64) *agent.Result {
		res, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: prompt, Replaces: replaces})
		if err != nil {
			log.Fatal(err)
		}
		return res
	}
	ask("I am Ann.", 0)
	oslo := ask("How big is Oslo?", 0)
	ask("How big is Bergen?", oslo.Start)

	messages, err := a.Session("s-1").Messages(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range messages {
		fmt.Printf("%s: %s\n", m.Role, m.Text())
	}
	// Output:
	// user: I am Ann.
	// assistant: Hello, Ann.
	// user: How big is Bergen?
	// assistant: Bergen has 290,000 inhabitants.
}
