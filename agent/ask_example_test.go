package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func ExampleAskTool() {
	a, err := agent.New(agent.Config{
		Journal: &journal.MapStore{},
		Provider: providertest.Script(
			providertest.Call("ask", map[string]any{"question": "Which color?", "options": []string{"red", "blue"}}),
			providertest.Say("I paint it blue.")),
		Tools: []tools.Tool{agent.AskTool()},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	res, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Paint the door."})
	if !errors.As(err, new(*agent.PausedError)) {
		log.Fatal("it should ask: ", err)
	}
	p := res.Pending[0]
	fmt.Println(p.Reason, string(p.Schema))
	res, err = a.Run(ctx, agent.Resume("s-1", agent.Answer(p.ID, "blue").By("ann")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Text())
	// Output:
	// Which color? {"type":"string","minLength":1,"enum":["red","blue"]}
	// I paint it blue.
}
