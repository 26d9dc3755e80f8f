package agent_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A page lists the sessions that are in use. A session is archived with a
// label, and brought back by removing it; neither starts a run.
func ExampleSessionFilter() {
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Say("Here is a plan."), providertest.Say("Done.")),
		Modes:    []agent.Mode{{Name: "plan"}, {Name: "edit"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for i, title := range []string{"Spring menu", "Opening hours"} {
		_, err := a.Run(ctx, agent.Input{Session: fmt.Sprintf("s-%d", i+1), Prompt: "Go on.", Title: title,
			Mode: []string{"plan", "edit"}[i]})
		if err != nil {
			log.Fatal(err)
		}
	}
	inUse := agent.SessionFilter{Without: agent.Label("archived", "yes"), Limit: 20}
	list := func() {
		for info, err := range a.Sessions(ctx, inUse) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%s: %s, %d step, in mode %s\n", info.Title, info.Status, info.Steps, info.Mode)
		}
	}
	if err := a.Session("s-2").SetLabel(ctx, "archived", "yes"); err != nil {
		log.Fatal(err)
	}
	list()
	if err := a.Session("s-2").SetLabel(ctx, "archived", ""); err != nil { // brings it back
		log.Fatal(err)
	}
	fmt.Println("--")
	list()
	// Output:
	// Spring menu: completed, 1 step, in mode plan
	// --
	// Opening hours: completed, 1 step, in mode edit
	// Spring menu: completed, 1 step, in mode plan
}
