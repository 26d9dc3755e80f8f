package approvals_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A run waits for somebody. An inbox shows what it waits for and takes the decision, and Recover
// resumes the run.
func ExampleInbox() {
	store := &journal.MapStore{} // one on disk for real
	cms, err := agent.New(agent.Config{
		Name: "cms", Journal: store,
		Provider: providertest.Script(providertest.Call("cms.deletePage", Page{ID: "home"}),
			providertest.Say("It is gone.")),
		Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "cms.deletePage", Description: "Deletes a page for good.", Risk: tools.High},
				func(_ context.Context, in Page) (string, error) { return in.ID + " is deleted", nil })},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	_, err = cms.Run(ctx, agent.Input{Session: "acme/s-1", Prompt: "Delete the home page."})
	if !errors.As(err, new(*agent.PausedError)) {
		log.Fatal("it should ask: ", err)
	}

	inbox := &approvals.Inbox{Store: store, Agents: map[string]*agent.Agent{"cms": cms}}
	for open, err := range inbox.List(ctx, approvals.Filter{Prefix: "acme/"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(open.Session, open.Kind, open.Title, "because", open.Reason)
		item, err := inbox.Find(ctx, open.Session, open.ID, 1)
		if err != nil {
			log.Fatal(err)
		}
		for _, what := range []agent.Decision{agent.Approve(open.ID), agent.Reject(open.ID, "too late")} {
			fmt.Println(what.Kind, inbox.Decide(ctx, item, what.By("ann")) == nil)
		}
	}
	_, err = cms.Recover(ctx, agent.Recovery{Each: func(r agent.Recovered) {
		fmt.Println(r.Session, r.Result.Status, r.Result.Text())
	}})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// acme/s-1 approval Delete page “home” because this tool is of high risk
	// approve true
	// reject false
	// acme/s-1 completed It is gone.
}
