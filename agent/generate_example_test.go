package agent_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A tool asks the model of its run, and books what it has spent elsewhere. Both count towards the limits of the run.
func ExampleGenerateFor() {
	type Page struct {
		Address string `json:"address"`
	}
	type Summary struct {
		Title string `json:"title"`
		Lines int    `json:"lines"`
	}
	summarize := tools.New(tools.Spec{Name: "web.summarize", Description: "Reads a page and summarizes it."},
		func(ctx context.Context, in Page) (Summary, error) {
			if err := agent.Book(ctx, provider.Usage{}, provider.USD/100); err != nil { // the search that found the page
				return Summary{}, err
			}
			return agent.GenerateFor[Summary](ctx, &provider.Request{
				Messages: []provider.Message{provider.User("Summarize the page " + in.Address)},
			})
		})
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(
			providertest.Call("web.summarize", Page{Address: "example.com"}),
			providertest.Say(`{"title":"An example","lines":12}`), // the answer that the tool gets
			providertest.Say("The page has 12 lines."),
		),
		Tools: []tools.Tool{summarize},
	})
	if err != nil {
		log.Fatal(err)
	}
	res, err := a.Run(context.Background(), agent.Input{Prompt: "How long is example.com?"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Text())
	fmt.Println("steps:", res.Steps, "cost:", res.Cost)
	// Output:
	// The page has 12 lines.
	// steps: 2 cost: $0.010000
}
