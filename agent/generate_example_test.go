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

// A tool asks the model of its run, and books what it has spent elsewhere. Both count towards the
// limits of the run.
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
			if err := agent.Book(ctx, provider.Usage{}, provider.USD/100); err != nil {
				// the search that found the page
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

// What a tool's own model calls use is charged to the run, and to the call.
func ExampleGenerate() {
	type Text struct {
		Text string `json:"text"`
	}
	translate := tools.New(tools.Spec{Name: "translate"}, func(ctx context.Context, in Text) (string, error) {
		res, err := agent.Generate(ctx,
			&provider.Request{Messages: []provider.Message{provider.User("Translate into Norwegian: " + in.Text)}})
		if err != nil {
			return "", err
		}
		return res.Text(), nil
	})
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Call("translate", Text{"a letter"}), providertest.Say("et brev"),
			providertest.Say("It is: et brev.")),
		Tools: []tools.Tool{translate},
	})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range a.Stream(context.Background(), agent.Input{Prompt: "How do I say “a letter” in Norwegian?"}) {
		if err != nil {
			log.Fatal(err)
		}
		switch ev := ev.(type) {
		case *agent.ToolFinished:
			fmt.Println(ev.Result.Text(), "- model calls of the tool:", ev.Spent.Calls)
		case *agent.RunEnded:
			fmt.Println(ev.Result.Text())
		}
	}
	// Output:
	// et brev - model calls of the tool: 1
	// It is: et brev.
}
