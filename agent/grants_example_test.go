package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A host lets "always" reach as far as a project: its policy offers the scope and permits what was
// granted, and its hook keeps the grants. A host with several processes keeps them in a store.
func ExampleDecision_For() {
	var granted sync.Map
	type grant struct{ project, tool string }
	policy := func(_ context.Context, d *tools.Definition, c *tools.Call) tools.Verdict {
		project := c.Labels.Get("project")
		_, permits := granted.Load(grant{project, d.Name()})
		return tools.Verdict{Standing: permits, // it answers what the tool asks
			Scopes: []tools.Scope{{Name: "project", Text: "in the project " + project}}}
	}
	keep := func(_ context.Context, c *agent.ToolCall, _ agent.Pause, d agent.Decision) error {
		if d.Scope == "project" {
			granted.Store(grant{c.Labels.Get("project"), c.Name}, d.User)
		}
		return nil
	}
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(
			providertest.Call("deploy", struct{}{}), providertest.Say("It is deployed."),
			providertest.Call("deploy", struct{}{}), providertest.Say("It is deployed again.")),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "deploy", Approval: tools.AskAlways},
			func(context.Context, struct{}) (string, error) { return "ok", nil })},
		Policies: []tools.Policy{policy},
		Hooks:    []agent.Hooks{{Name: "grants", AfterDecision: keep}},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	prompt := agent.Input{Session: "s-1", Prompt: "Deploy it.", Labels: map[string]string{"project": "shop"}}
	res, err := a.Run(ctx, prompt)
	if !errors.As(err, new(*agent.PausedError)) {
		log.Fatal("it should ask: ", err)
	}
	for _, s := range res.Pending[0].Scopes {
		fmt.Println("Always allow", s.Text)
	}
	decision := agent.Approve(res.Pending[0].ID).For("project").By("ann")
	if res, err = a.Run(ctx, agent.Resume("s-1", decision)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Text())

	prompt.Session = "s-2" // another session of the project
	if res, err = a.Run(ctx, prompt); err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Text())
	// Output:
	// Always allow all calls of deploy, in this session
	// Always allow in the project shop
	// It is deployed.
	// It is deployed again.
}
