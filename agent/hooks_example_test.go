package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A text that is refused leaves no trace: there is no session, and no fact.
func ExampleHooks_beforeInput() {
	screen := agent.Hooks{Name: "screen", BeforeInput: func(_ context.Context, in *agent.IncomingText) error {
		if strings.Contains(in.Text, "password") {
			return agent.Deny("don't send passwords")
		}
		in.Text = strings.TrimSpace(in.Text)
		return nil
	}}
	a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Say("Hello.")),
		Hooks: []agent.Hooks{screen}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	_, err = a.Run(ctx, agent.Input{Session: "s-1", Prompt: "My password is 1234."})
	fmt.Println(errors.Is(err, agent.ErrRefused), err)
	facts, err := a.Session("s-1").Facts(ctx)
	fmt.Println(len(facts), err)
	// Output:
	// true agent: session "s-1": hook "screen" refused the text of source "prompt": tools: denied: don't send passwords
	// 0 <nil>
}

// Spans nest, because the work within a span has the values of the context that Around returns.
func ExampleHooks_around() {
	type key struct{}
	spans := agent.Hooks{Name: "spans", Observer: true,
		Around: func(ctx context.Context, s *agent.Span) (context.Context, func(error)) {
			depth, _ := ctx.Value(key{}).(int)
			indent := strings.Repeat("  ", depth)
			fmt.Println(indent+"begin", s.Kind)
			return context.WithValue(ctx, key{}, depth+1), func(err error) { fmt.Println(indent+"end", s.Kind, err) }
		}}
	weather := tools.New(tools.Spec{Name: "weather"}, func(context.Context, City) (Weather, error) {
		return Weather{Celsius: 3}, nil
	})
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Call("weather", City{Name: "Oslo"}),
			providertest.Say("It is cold.")),
		Tools: []tools.Tool{weather},
		Hooks: []agent.Hooks{spans},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := a.Run(context.Background(), agent.Input{Prompt: "How cold is it in Oslo?"}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// begin run
	//   begin step
	//   end step <nil>
	//   begin tool
	//   end tool <nil>
	//   begin step
	//   end step <nil>
	// end run <nil>
}

// An archive keeps what a compaction takes away, and is told what it was.
func ExampleCompaction() {
	archive := agent.Hooks{Name: "archive",
		BeforeCompaction: func(_ context.Context, c *agent.Compaction) error {
			fmt.Println("due:", c.Trigger)
			return nil // an error would end the run
		},
		AfterCompaction: func(_ context.Context, c *agent.Compaction) error {
			if c.Err == nil {
				fmt.Println("messages:", c.Report.MessagesBefore, "then", c.Report.MessagesAfter)
			}
			return nil
		}}
	a, err := agent.New(agent.Config{Hooks: []agent.Hooks{archive},
		Provider: providertest.Script(providertest.Say("One."), providertest.Say("Two."), providertest.Say("Three.")),
		Memory: &agent.Memory{Config: memory.Config{Keep: 1, Rules: []memory.Rule{},
			Steps: []memory.Step{{Strategy: memory.Slide{}}}}}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for _, prompt := range []string{"Count.", "And on.", "And on."} {
		if _, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: prompt}); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := a.Session("s-1").Compact(ctx, 0); err != nil {
		log.Fatal(err)
	}
	// Output:
	// due: by hand
	// messages: 6 then 4
}

// A hook answers a call from a cache. The tool isn't run, and the log says who answered.
func ExampleToolCall_Answer() {
	cache := agent.Hooks{Name: "cache", BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
		if c.Name == "weather" && string(c.Input) == `{"city":"Oslo"}` {
			c.Answer(tools.Text(`{"celsius":3}`))
		}
		return nil
	}}
	weather := tools.New(tools.Spec{Name: "weather"}, func(context.Context, City) (Weather, error) {
		return Weather{}, errors.New("offline")
	})
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Call("weather", City{Name: "Oslo"}),
			providertest.Say("It is 3 °C.")),
		Tools: []tools.Tool{weather},
		Hooks: []agent.Hooks{cache},
	})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range a.Stream(context.Background(), agent.Input{Prompt: "How cold is it in Oslo?"}) {
		if err != nil {
			log.Fatal(err)
		}
		if f, ok := ev.(*agent.ToolFinished); ok {
			fmt.Println(f.Result.Status, "by", f.AnsweredBy, f.Result.Text())
		}
	}
	// Output:
	// answered by cache {"celsius":3}
}

// The system text depends on the mode, and on the labels of the run.
func ExampleComposeInput() {
	model := providertest.Script(providertest.Say("Hello."))
	a, err := agent.New(agent.Config{
		Provider: model,
		Modes:    []agent.Mode{{Name: "read"}, {Name: "edit"}},
		Compose: func(_ context.Context, in agent.ComposeInput) (string, error) {
			return fmt.Sprintf("You help %s of %s. You may %s the pages.", in.User, in.Labels.Map()["tenant"], in.Mode),
				nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = a.Run(context.Background(), agent.Input{Session: "s-1", Prompt: "Hello.", User: "Ann", Mode: "edit",
		Labels: map[string]string{"tenant": "acme"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(model.Requests()[0].System)
	// Output:
	// You help Ann of acme. You may edit the pages.
}
