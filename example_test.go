package pawl_test

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

// A model that is scripted stands in for a real one, here as in tests.
func Example() {
	weather := tools.New(tools.Spec{Name: "weather", Description: "Current weather in a city."},
		func(ctx context.Context, in City) (Weather, error) { return Weather{Celsius: 3}, nil })
	model := providertest.Script(
		providertest.Call("weather", City{Name: "Oslo"}),
		providertest.Say("It is 3 °C in Oslo."),
	)
	a, err := agent.New(agent.Config{Provider: model, Tools: []tools.Tool{weather}})
	if err != nil {
		log.Fatal(err)
	}
	res, err := a.Run(context.Background(), agent.Input{Prompt: "How cold is it in Oslo?"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Text(), res.Status)
	// Output: It is 3 °C in Oslo. completed
}
