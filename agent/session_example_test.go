package agent_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A page of a host looks at ann's sessions, rejects what one of them asks, and tells its run what
// else it should mind. The run goes on where it was started.
func ExampleSession() {
	store := &journal.MapStore{} // one on disk for real
	begun, release := make(chan bool), make(chan bool)
	publish := tools.New(tools.Spec{Name: "publish", Risk: tools.High},
		func(ctx context.Context, in Page) (string, error) { return in.ID + " is public", nil })
	check := tools.New(tools.Spec{Name: "check", ReadOnly: true}, func(ctx context.Context, in Page) (string, error) {
		close(begun)
		<-release
		return "no broken links", nil
	})
	open := func(steps ...providertest.Step) *agent.Agent {
		a, err := agent.New(agent.Config{Name: "cms", Journal: store, Tools: []tools.Tool{publish, check},
			Provider: providertest.Script(steps...)})
		if err != nil {
			log.Fatal(err)
		}
		return a
	}
	ctx := context.Background()
	ended := make(chan bool)
	go func() {
		defer close(ended)
		a := open(providertest.Say("Which pages?"), providertest.Calls(
			providertest.CallSpec{Tool: "publish", Input: Page{"home"}},
			providertest.CallSpec{Tool: "check", Input: Page{"home"}}), providertest.Say("Only drafts, then."))
		for _, prompt := range []string{"Publish my pages.", "All of them."} {
			res, err := a.Run(ctx,
				agent.Input{Session: "s-1", Prompt: prompt, Labels: map[string]string{"user": "ann"}})
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("run:", res.Text())
		}
	}()
	<-begun
	if err := sessions(ctx, open()); err != nil { // in another process
		log.Fatal(err)
	}
	close(release)
	<-ended
	messages, err := open().Session("s-1-copy").Messages(ctx)
	fmt.Println(len(messages), err)
	// Output:
	// run: Which pages?
	// s-1 running
	// user "Publish my pages."
	// assistant "Which pages?"
	// user "All of them."
	// assistant ""
	// publish this tool is of high risk
	// run: Only drafts, then.
	// 2 <nil>
}

func sessions(ctx context.Context, a *agent.Agent) error {
	for info, err := range a.Sessions(ctx, agent.SessionFilter{Label: agent.Label("user", "ann"),
		Updated: time.Now().Add(-24 * time.Hour)}) { // newest first
		if err != nil {
			return err
		}
		fmt.Println(info.Session, info.Status)
	}

	s := a.Session("s-1")
	messages, err := s.Messages(ctx) // in the form that a chat page shows
	if err != nil {
		return err
	}
	for _, m := range messages {
		fmt.Printf("%s %q\n", m.Role, m.Text())
	}
	pending, err := s.Pending(ctx)
	if err != nil {
		return err
	}
	for _, p := range pending {
		fmt.Println(p.Call.Name, p.Reason)
		// the process that has the run acts on it
		if err := s.Decide(ctx, agent.Reject(p.ID, "not today").By("ann")); err != nil {
			return err
		}
	}
	if _, err := s.Steer(ctx, "Only the drafts, please."); err != nil {
		return err
	}
	return s.Fork(ctx, "s-1-copy", 4) // branches from a finished step, to try another way
}
