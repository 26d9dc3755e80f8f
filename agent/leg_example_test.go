package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A job of any queue drives a run, one leg at a time. The job may be stopped at any moment; the
// next leg goes on, in any process.
func ExampleAgent_Advance() {
	ctx := context.Background()
	a, err := agent.New(agent.Config{
		Journal: &journal.MapStore{},
		Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "draft"},
				func(ctx context.Context, in Page) (string, error) { return "drafted", nil }),
			tools.New(tools.Spec{Name: "publish", Risk: tools.High},
				func(ctx context.Context, in Page) (string, error) { return "published", nil }),
		},
		Provider: providertest.Script(providertest.Call("draft", Page{"news"}),
			providertest.Call("publish", Page{"news"}), providertest.Say("The news is published.")),
	})
	if err != nil {
		log.Fatal(err)
	}

	// work does one job. again queues the next one: a second copy with the same key is harmless.
	work := func(again func(at time.Time, key string) error) error {
		in := agent.Input{Session: "s-1", Key: "first", Prompt: "Publish the news."}
		p, err := a.Advance(ctx, in, agent.Leg{Steps: 1, Time: time.Minute})
		if err != nil {
			return err // nothing was recorded: the queue may try again
		}
		fmt.Println(p.Next)
		switch {
		case p.Next == agent.NextEnded:
			fmt.Println(p.Result.Text())
			return p.Result.Err() // nil: completed
		case p.At.IsZero(): // it waits for a person, without an expiry
			return nil
		}
		// the next leg, or the pause expires, or another process has the session until then
		return again(p.At, p.Key)
	}

	jobs := make(map[string]bool) // a queue
	queue := func(_ time.Time, key string) error {
		if jobs[key] {
			return errors.New("a copy")
		}
		jobs[key] = true
		return nil
	}
	for range 3 {
		if err := work(queue); err != nil {
			log.Fatal(err)
		}
		pending, err := a.Session("s-1").Pending(ctx) // a person decides, which queues a job, too
		if err != nil {
			log.Fatal(err)
		}
		for _, p := range pending {
			if err := a.Session("s-1").Decide(ctx, agent.Approve(p.ID).By("ann")); err != nil {
				log.Fatal(err)
			}
		}
	}
	// Output:
	// again
	// wait
	// ended
	// The news is published.
}
