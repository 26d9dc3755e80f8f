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

// A web server posts a decision, and a worker resumes the session. It also resumes sessions in
// which nobody has decided in time.
func ExampleAgent_Recover() {
	store := &journal.MapStore{} // one on disk for real
	publish := func(name string, expires time.Duration) tools.Tool {
		return tools.New(tools.Spec{Name: name, Risk: tools.High, Expires: expires},
			func(ctx context.Context, in Page) (string, error) { return "published", nil })
	}
	open := func(steps ...providertest.Step) *agent.Agent {
		a, err := agent.New(agent.Config{Name: "cms", Provider: providertest.Script(steps...), Journal: store,
			Tools: []tools.Tool{publish("publish", time.Hour), publish("announce", time.Nanosecond)}})
		if err != nil {
			log.Fatal(err)
		}
		return a
	}
	ctx := context.Background()
	server := open(providertest.Call("publish", Page{"news"}), providertest.Call("announce", Page{"party"}))
	for _, session := range []string{"news", "party"} {
		res, err := server.Run(ctx, agent.Input{Session: session, Prompt: "Publish it."})
		if !errors.As(err, new(*agent.PausedError)) {
			log.Fatal("it should ask: ", err)
		}
		if session == "news" { // nobody decides about the party
			if err := server.Session(session).Decide(ctx, agent.Approve(res.Pending[0].ID).By("ann")); err != nil {
				log.Fatal(err)
			}
		}
	}
	worker := open(providertest.Say("Done."), providertest.Say("Done."))
	n, err := worker.Recover(ctx, agent.Recovery{Parallel: 1})
	fmt.Println(n, err)
	for _, session := range []string{"news", "party"} {
		messages, err := worker.Session(session).Messages(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(session+":", messages[2].Parts[0].Result.Text())
	}
	// Output:
	// 2 <nil>
	// news: published
	// party: The call wasn't run: rejected: expired. Nobody decided on it in time.
}
