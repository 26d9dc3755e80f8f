package agent_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

type City struct {
	Name string `json:"city" jsonschema:"city name, for example Oslo"`
}

type Weather struct {
	Celsius float64 `json:"celsius"`
}

// The smallest agent: one typed tool, one question, one answer.
func Example() {
	weather := tools.New(tools.Spec{Name: "weather", Description: "Current weather in a city."},
		func(ctx context.Context, in City) (Weather, error) { return Weather{Celsius: 3}, nil })

	model := providertest.Script(
		providertest.Call("weather", City{Name: "Oslo"}),
		providertest.Say("It is 3 °C in Oslo."),
	)

	a, err := agent.New(agent.Config{
		Provider:     model,
		Instructions: "Answer briefly.",
		Tools:        []tools.Tool{weather},
	})
	if err != nil {
		log.Fatal(err)
	}
	res, err := a.Run(context.Background(), agent.Input{Prompt: "How cold is it in Oslo?"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Text())
	fmt.Println(res.Status, res.Steps)
	// Output:
	// It is 3 °C in Oslo.
	// completed 2
}

// The same run as a stream. Breaking out of the loop stops the run and leaves nothing behind.
func ExampleAgent_Stream() {
	weather := tools.New(tools.Spec{Name: "weather"},
		func(ctx context.Context, in City) (Weather, error) { return Weather{Celsius: 3}, nil })
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Call("weather", City{Name: "Oslo"}),
			providertest.Say("It is cold.")),
		Tools: []tools.Tool{weather},
	})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range a.Stream(context.Background(),
		agent.Input{Session: "s-1", Prompt: "Oslo?", Interactive: true}) {
		if err != nil {
			log.Fatal(err)
		}
		switch ev := ev.(type) {
		case *agent.TextDelta:
			fmt.Print(ev.Text)
		case *agent.ToolStarted:
			fmt.Printf("[%s %s]\n", ev.Call.Name, ev.Call.Input)
		case *agent.ToolFinished:
			fmt.Printf("[%s]\n", ev.Result.Status)
		case *agent.Waiting: // queued, rate limited, backing off: why, and until when if that is known
			fmt.Printf("[waiting: %s]\n", ev.Reason)
		case *agent.Reset: // a retry: forget what this model call has shown so far
			fmt.Print("\r")
		case *agent.RunEnded:
			fmt.Printf("\n%s after %d steps\n", ev.Result.Status, ev.Result.Steps)
		}
	}
	// Output:
	// [weather {"city":"Oslo"}]
	// [ok]
	// It is cold.
	// completed after 2 steps
}
