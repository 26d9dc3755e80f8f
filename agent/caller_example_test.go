package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A server starts a run for a user. The same request again starts no second run, and the user's
// sessions are found by a label.
func ExampleInput_labels() {
	a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Say("Done.")),
		Journal: &journal.MapStore{}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	in := agent.Input{
		Session: "s-1", Prompt: "Write the report.", User: "ann", Key: "request-77",
		Labels: map[string]string{"user": "ann", "tenant": "acme"},
		Trace:  "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", // of the HTTP request
	}
	res, err := a.Run(ctx, in)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Text(), res.Trace)

	_, err = a.Run(ctx, in) // the client has sent it twice
	duplicate, _ := errors.AsType[*agent.SessionError](err)
	fmt.Println(errors.Is(err, agent.ErrDuplicate), duplicate.Run == res.Run)

	if err := a.Session("s-1").SetTitle(ctx, "The report"); err != nil {
		log.Fatal(err)
	}
	for info, err := range a.Sessions(ctx, agent.SessionFilter{Label: agent.Label("user", "ann")}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(info.Session, info.Title, info.Labels["tenant"])
	}
	// Output:
	// Done. 4bf92f3577b34da6a3ce929d0e0e4736
	// true true
	// s-1 The report acme
}
