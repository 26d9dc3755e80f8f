package live_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A reader that is too slow misses notes, never facts, and is told.
func ExampleHub_Watch() {
	reading, over := make(chan struct{}), make(chan struct{})
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.SayChunks(repeat("x", 3_000)...)),
		Hooks: []agent.Hooks{{
			BeforeStep: func(context.Context, *agent.Step) error { <-reading; return nil },
			AfterRun:   func(context.Context, *agent.Result) error { close(over); return nil },
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	hub, err := live.New(live.Config{Agent: a})
	if err != nil {
		log.Fatal(err)
	}
	defer hub.Close()
	ctx := context.Background()
	run, err := hub.Start(ctx, agent.Input{Session: "s-1", Prompt: "Write 3,000 letters."})
	if err != nil {
		log.Fatal(err)
	}
	for ev, err := range hub.Watch(ctx, run.Session, run.After) {
		if err != nil {
			log.Fatal(err)
		}
		switch ev := ev.(type) {
		case *agent.RunStarted: // this reader takes its time
			close(reading)
			<-over
		case *agent.Lagged:
			fmt.Println("missed some:", ev.Notes > 0)
		case *agent.Replied:
			fmt.Println(ev.Seq, len(ev.Message.Text()))
		case *agent.RunEnded:
			fmt.Println(ev.Seq, ev.Status)
			return
		}
	}
	// Output:
	// missed some: true
	// 3 3000
	// 4 completed
}

// A run doesn't end with the request that has started it, but when it is canceled.
func ExampleHub_Cancel() {
	a, err := agent.New(
		agent.Config{Provider: providertest.Script(providertest.HangAfter(3, providertest.Say("Once upon a time.")))})
	if err != nil {
		log.Fatal(err)
	}
	hub, err := live.New(live.Config{Agent: a})
	if err != nil {
		log.Fatal(err)
	}
	defer hub.Close()
	request, end := context.WithCancel(context.Background())
	run, err := hub.Start(request, agent.Input{Session: "s-1", Prompt: "Tell me a story."})
	if err != nil {
		log.Fatal(err)
	}
	end() // the page was closed
	ctx := context.Background()
	for ev, err := range hub.Watch(ctx, run.Session, run.After) { // another one was opened
		if err != nil {
			log.Fatal(err)
		}
		switch ev := ev.(type) {
		case *agent.TextDelta:
			if err := hub.Cancel(ctx, run.Session); err != nil && !errors.Is(err, agent.ErrNothingOpen) {
				log.Fatal(err)
			}
		case *agent.RunEnded:
			fmt.Println(ev.Status, ev.Code)
			return
		}
	}
	// Output:
	// stopped canceled
}
