package approvals_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// An agent asks another one that has no time now. Its tool suspends the call and names who answers,
// so people aren't asked. Whoever runs the expert finds the question in the journal, in this
// process or in another, and decides with its answer. The run that asks waits at no cost meanwhile.
func Example_consultation() {
	type question struct {
		Text string `json:"text"`
	}
	store := &journal.MapStore{} // one on disk for real
	shop, err := agent.New(agent.Config{
		Name: "shop", Journal: store,
		Provider: providertest.Script(providertest.Call("ask_lawyer", question{Text: "May we sell fireworks?"}),
			providertest.Say("We may, in December.")),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "ask_lawyer", Description: "Asks the lawyer.", ReadOnly: true},
			func(_ context.Context, in question) (string, error) {
				return "", tools.Suspend{Kind: "consultation", For: "lawyer", Prompt: in.Text,
					Schema: json.RawMessage(`{"type":"string"}`)}
			})},
	})
	if err != nil {
		log.Fatal(err)
	}
	lawyer, err := agent.New(agent.Config{Name: "lawyer", Provider: providertest.Script(
		providertest.Say("Only in December."))})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if _, err := shop.Run(ctx, agent.Input{Session: "s-1", Prompt: "Plan the assortment."}); !errors.As(err,
		new(*agent.PausedError)) {
		log.Fatal("it should wait: ", err)
	}
	for o := range approvals.List(ctx, store, approvals.Filter{}) {
		fmt.Println("a person is asked", o.ID)
	}

	var expert sync.WaitGroup
	expert.Go(func() { // a service would do this now and then
		for o, err := range approvals.List(ctx, store, approvals.Filter{For: "lawyer"}) {
			if err != nil {
				log.Fatal(err)
			}
			d, err := approvals.Find(ctx, store, o.Session, o.ID, 0) // a list cuts long questions
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("question:", d.Pause.Reason)
			// A key, so that a crash before the decision doesn't ask the lawyer twice.
			res, err := lawyer.Run(ctx, agent.Input{Session: o.ID, Key: o.ID, Prompt: d.Pause.Reason})
			if err != nil {
				log.Fatal(err)
			}
			if err := shop.Session(o.Session).Decide(ctx, agent.Answer(o.ID, res.Text()).By("lawyer")); err != nil {
				log.Fatal(err)
			}
		}
	})
	expert.Wait()
	_, err = shop.Recover(ctx, agent.Recovery{Each: func(r agent.Recovered) {
		fmt.Println("answer:", r.Result.Messages[2].Parts[0].Result.Text())
		fmt.Println(r.Result.Text())
	}})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// question: May we sell fireworks?
	// answer: Only in December.
	// We may, in December.
}
