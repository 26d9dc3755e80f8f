package plan_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A plan is proposed, approved exactly as proposed, and goes on after a crash. If it fails for
// good, it is undone and the next one runs.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	model := providertest.Script(providertest.Say(`{"plans":[
		{"title":"A page","nodes":[{"id":"a","tool":"cms.createPage","input":"{\"name\":\"A\",\"slug\":\"a\"}"}]},
		{"title":"Another","nodes":[{"id":"b","tool":"cms.createPage","input":"{\"name\":\"B\",\"slug\":\"b\"}"}]}]}`))
	a, err := agent.New(agent.Config{Name: "cms", Provider: model, Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "cms.createPage"}, func(context.Context, newPage) (string, error) {
			return `{"id":7}`, nil
		}),
		tools.New(tools.Spec{Name: "cms.addSectionToPage", Risk: tools.High},
			func(_ context.Context, in newSection) (string, error) {
				return fmt.Sprintf("%s is on page %d", in.Section, in.PageID), nil
			}),
	}})
	if err != nil {
		panic(err)
	}
	reviewer, err := agent.New(agent.Config{Name: "reviewer", Provider: providertest.Script(providertest.Say("Yes."))})
	if err != nil {
		panic(err)
	}
	if err := publish(ctx, a, reviewer); err != nil {
		panic(err)
	}
	// Output:
	// create done
	// hero done
	// review done
}

type newPage struct {
	Name string `json:"name"`
	Slug string `json:"slug"`
}

type newSection struct {
	PageID  int    `json:"pageId"`
	Section string `json:"section"`
}

func publish(ctx context.Context, a, reviewer *agent.Agent) error {
	plans, err := plan.New(plan.Config{Agent: a, Workers: map[string]*agent.Agent{"reviewer": reviewer}, Parallel: 4})
	if err != nil {
		return err
	}
	go plans.Serve(ctx) // drives what is due, in this process or another one; a stop loses nothing

	p := &plan.Plan{Title: "A page with a hero", Nodes: []plan.Node{
		{ID: "create", Tool: "cms.createPage", Input: map[string]any{"name": "About", "slug": "about"}},
		{ID: "hero", Tool: "cms.addSectionToPage", After: []string{"create"},
			Input: map[string]any{"pageId": plan.From("create.id"), "section": "hero"}},
		{ID: "review", Worker: "reviewer", Prompt: "Is the page complete?", After: []string{"hero"}},
	}}
	if err := p.Check(a.Tools()); err != nil { // the error names every fault: cycles, unknown tools, invalid inputs
		return err
	}
	alternatives, err := plan.Propose(ctx, a, "Make an About page with a hero.", 2)
	if err != nil {
		return err
	}
	// in this order; plan.Rank sorts them
	if _, err := plans.Start(ctx, "p-1", append([]*plan.Plan{p}, alternatives...)...); err != nil {
		return err
	}
	for ev, err := range plans.Watch(ctx, "p-1", 0) { // who stops watching stops nothing
		if err != nil {
			return err
		}
		switch ev := ev.(type) {
		case *plan.Paused: // the plan, or a call in it, waits for a person
			for _, q := range ev.Pending {
				// for this version of the plan alone
				if err := plans.Decide(ctx, "p-1", agent.Approve(q.ID).By("ann")); err != nil {
					return err
				}
			}
		case *plan.NodeEnded:
			fmt.Println(ev.Node, ev.Status)
		case *plan.Failed: // what was undone, and what could not be
			fmt.Println(ev.Reason, ev.Undone, ev.Left)
		case *plan.Ended:
			return nil // leaving the loop stops nothing
		}
	}
	return nil
}
