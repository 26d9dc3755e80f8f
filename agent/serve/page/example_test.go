package page_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve/page"
	"github.com/pawlkit/pawl/provider/providertest"
)

func ExampleView() {
	a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Say("Hello **there**."))})
	if err != nil {
		fmt.Println(err)
		return
	}
	v := page.NewView(page.ViewConfig{Session: "s-1"})
	for ev, err := range a.Stream(context.Background(), agent.Input{Session: "s-1", Prompt: "Hi"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, p := range v.Event(ev) {
			switch {
			case p.Item != nil && p.Item.Kind == page.KindUser:
				fmt.Println(p.Item.Text)
			case p.Blocks != nil:
				fmt.Print(p.Blocks.HTML[0])
			}
		}
	}
	// Output:
	// Hi
	// <p>Hello <strong>there</strong>.</p>
}
