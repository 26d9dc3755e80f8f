package telemetry_test

import (
	"context"
	"fmt"
	"log"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
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

// Gauges of all that a process has, each time its metrics are read.
func ExampleTelemetry_Gauges() {
	reader := sdkmetric.NewManualReader() // the Prometheus exporter's prometheus.New, for example
	tel, err := telemetry.New(telemetry.Config{Metrics: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
	if err != nil {
		log.Fatal(err)
	}
	store := &journal.MapStore{}
	gate := ratelimit.NewGate(ratelimit.GateConfig{Name: "anthropic", Slots: 4})
	money := budget.New(budget.Config{Global: budget.Limit{USD: 50, Period: budget.Day},
		Tenant: func(string) budget.Limit { return budget.Limit{USD: 5, Period: budget.Day} }})
	unregister, err := tel.Gauges(telemetry.Observed{
		Store: store, // of the agents, and of a work.Worker
		Gates: []*ratelimit.Gate{gate},
		Budgets: []telemetry.BudgetLimit{{Budget: money},
			{Budget: money, Scope: budget.ScopeTenant, Name: "acme"}}, // no other tenant is shown
		Breakers:    []*circuit.Breaker{circuit.New("anthropic", circuit.LLM())},
		BreakerSets: []*circuit.Set{circuit.NewSet(circuit.Tool())}, // that of agent.Config.Breakers
	})
	if err != nil {
		log.Fatal(err)
	}
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		log.Fatal(err)
	}
	for _, m := range data.ScopeMetrics[0].Metrics {
		fmt.Println(m.Name)
	}
	if err := unregister(); err != nil { // before the store is closed
		log.Fatal(err)
	}
	// Unordered output:
	// pawl.runs
	// pawl.queue.age
	// pawl.leases
	// pawl.approval.open
	// pawl.approval.age
	// pawl.gate.running
	// pawl.gate.waiting
	// pawl.gate.age
	// pawl.gate.slots
	// pawl.budget.left.usd
	// pawl.budget.limit.usd
	// pawl.breakers
}
