package telemetry_test

import (
	"context"
	"fmt"
	"log"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func Example() {
	exporter := tracetest.NewInMemoryExporter() // otlptracegrpc.New, for example
	traces := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithIDGenerator(telemetry.IDs{}))
	model := providertest.Script(providertest.Call("weather", map[string]string{"city": "Oslo"}),
		providertest.Say("It is 4 °C in Oslo."))
	tel, err := telemetry.New(telemetry.Config{Traces: traces})
	if err != nil {
		log.Fatal(err)
	}
	type query struct {
		City string `json:"city"`
	}
	a, err := agent.New(agent.Config{
		Name: "guide", Provider: tel.Provider(model), Hooks: []agent.Hooks{tel.Hooks()},
		Params: agent.Params{Model: "m-1"},
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "weather"}, func(context.Context, query) (string, error) {
			return "4 °C", nil
		})},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := a.Run(context.Background(),
		agent.Input{Session: "s-1", Prompt: "How cold is it in Oslo?"}); err != nil {
		log.Fatal(err)
	}
	for _, span := range exporter.GetSpans() { // in the order in which they ended
		fmt.Println(span.Name)
	}
	// Output:
	// chat m-1
	// execute_tool weather
	// chat m-1
	// invoke_agent guide
}

// Traces of a run that took place without telemetry are made of its journal.
func ExampleTelemetry_Export() {
	a, err := agent.New(agent.Config{Name: "guide", Provider: providertest.Script(providertest.Say("Hello."))})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if _, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Hello?"}); err != nil {
		log.Fatal(err)
	}
	facts, err := a.Session("s-1").Facts(ctx)
	if err != nil {
		log.Fatal(err)
	}
	exporter := tracetest.NewInMemoryExporter()
	tel, err := telemetry.New(telemetry.Config{Traces: sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter),
		sdktrace.WithIDGenerator(telemetry.IDs{}))})
	if err != nil {
		log.Fatal(err)
	}
	if err := tel.Export(ctx, facts...); err != nil {
		log.Fatal(err)
	}
	for _, span := range exporter.GetSpans() {
		fmt.Println(span.Name)
	}
	// Output:
	// chat
	// invoke_agent guide
}
