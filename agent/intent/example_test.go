package intent_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// The host asks what a message wants before it starts a run. Where that isn't clear, a person
// chooses.
func ExampleTool() {
	detector, err := intent.New(intent.Config{
		Intents: []intent.Intent{
			{Name: "write", Description: "write the article",
				Patterns: []intent.Pattern{{Text: `write (?:the )?(?:article|post)`, Weight: 0.95}}},
			{Name: "images", Description: "add images",
				Patterns: []intent.Pattern{{Text: `add (?:the )?images?`, Weight: 0.95}}},
		},
		Model: agent.Generate,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := agent.New(agent.Config{
		Journal:  &journal.MapStore{},
		Provider: providertest.Script(providertest.Say(`{"intent":"write","confidence":0.5}`)),
		Tools:    []tools.Tool{intent.Tool(detector)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	s := a.Session("s-1")
	// certain: no model, no question
	res, err := s.Call(ctx, "intent.detect", intent.Request{Text: "Write the article!"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Called.Text())

	res, err = s.Call(ctx, "intent.detect", intent.Request{Text: "Write the article and add images."})
	if !errors.As(err, new(*agent.PausedError)) {
		fmt.Println("it should ask:", err)
		return
	}
	pause := res.Pending[0]
	fmt.Println(pause.Reason)
	fmt.Println(string(pause.Schema))
	res, err = a.Run(ctx, agent.Resume("s-1", agent.Answer(pause.ID, "images").By("ann")))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Called.Text())
	// Output:
	// {"intent":"write","confidence":0.95,"from":"rules"}
	// What would you like?
	// 1. write the article
	// 2. add images
	// 3. something else
	// {"enum":["write","images","something else"],"type":"string"}
	// {"intent":"images","confidence":1,"from":"person"}
}
