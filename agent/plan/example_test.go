package plan_test

import (
	"context"
	"fmt"
	"time"

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
	// - these nodes depend on each other: hero → review → hero
}

// A machine says what comes next, and is told what has happened.
func ExampleMachine() {
	p := plan.Plan{Title: "A page", Version: 1, Nodes: []plan.Node{{ID: "create", Tool: "createPage"},
		{ID: "hero", Tool: "addHero", After: []string{"create"}}}}
	m := plan.New("p-1")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, f := range []plan.Fact{
		&plan.Proposed{Meta: plan.Meta{Seq: 1, Time: now}, Plans: []plan.Proposal{{Plan: p}}},
		&plan.NodeStarted{Meta: plan.Meta{Seq: 2, Time: now}, Node: "create", Attempt: 1, Round: 1, Key: "p-1/create"},
		&plan.NodeEnded{Meta: plan.Meta{Seq: 3, Time: now}, Node: "create", Attempt: 1, Round: 1,
			Output: []byte(`{"id":1}`)},
	} {
		if err := m.Apply(f); err != nil {
			panic(err)
		}
	}
	act := m.Next(now)
	fmt.Println(act.Kind == plan.ActStart, m.State().Nodes[act.Nodes[0]].Node.ID)
	fmt.Print(m.State().Markdown())
	// Output:
	// true hero
	// # A page
	//
	// - [x] **create** `createPage`: done
	// - [ ] **hero** `addHero`, after create: pending
}
