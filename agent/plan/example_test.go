package plan_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/tools"
)

type page struct {
	Name string `json:"name"`
}

type hero struct {
	Page int `json:"page"`
}

// A plan is checked before anything runs: the error names every fault.
func ExamplePlan_Check() {
	registry, err := tools.NewRegistry(
		tools.New(tools.Spec{Name: "createPage"}, func(context.Context, page) (string, error) {
			return `{"id":1}`, nil
		}),
		tools.New(tools.Spec{Name: "addHero"}, func(context.Context, hero) (string, error) { return "added", nil }),
	)
	if err != nil {
		panic(err)
	}
	p := &plan.Plan{Title: "A page with a hero", Nodes: []plan.Node{
		{ID: "create", Tool: "createPage", Input: map[string]any{"name": "About"}},
		{ID: "hero", Tool: "addHero", Input: map[string]any{"page": plan.From("create.id")}},
		{ID: "review", Worker: "editor", Prompt: "Is the page complete?", After: []string{"hero"}},
	}}
	fmt.Println(p.Check(registry, "editor"))
	p.Nodes[0].Input["nam"], p.Nodes[1].After = "x", []string{"review"}
	fmt.Println(p.Check(registry, "writer"))
	// Output:
	// <nil>
	// plan: the plan can't run:
	// - node "create": its input: unknown key "nam"; did you mean "name"?
	// - node "review": there is no worker "editor"
	// - these nodes depend on each other, or on such nodes: hero, review
}
