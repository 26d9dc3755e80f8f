package plan_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A website is one with pages and sections.
type website struct{ pages, definitions []string }

type pageInput struct {
	Slug string `json:"slug"`
}

type sectionInput struct {
	Page    int    `json:"page"`
	Section string `json:"section"`
}

type definitionInput struct {
	Key string `json:"key"`
}

func (w *website) agent() (*agent.Agent, error) {
	return agent.New(agent.Config{Name: "cms", Provider: providertest.Script(), Tools: []tools.Tool{
		tools.Func[pageInput, string]{
			Spec: tools.Spec{Name: "cms.createPage"},
			Run: func(_ context.Context, in pageInput) (string, error) {
				w.pages = append(w.pages, in.Slug)
				return fmt.Sprintf(`{"id":%d}`, len(w.pages)), nil
			},
			Undo: func(context.Context, pageInput, string) error {
				w.pages = w.pages[:len(w.pages)-1]
				return nil
			},
		},
		tools.New(tools.Spec{Name: "cms.createSectionDef"},
			func(_ context.Context, in definitionInput) (string, error) {
				w.definitions = append(w.definitions, in.Key)
				return fmt.Sprintf(`{"key":%q}`, in.Key), nil
			}),
		tools.New(tools.Spec{Name: "cms.findSection", ReadOnly: true},
			func(_ context.Context, in definitionInput) (string, error) {
				for _, key := range w.definitions {
					if key == in.Key {
						return fmt.Sprintf(`{"key":%q}`, key), nil
					}
				}
				return "", fault.Errorf(fault.NotFound, "there is no section %q", in.Key)
			}),
		tools.New(tools.Spec{Name: "cms.addSectionToPage"}, func(_ context.Context, in sectionInput) (string, error) {
			return fmt.Sprintf("added %s to page %d", in.Section, in.Page), nil
		}),
	}})
}

// A contact page with a form. The first plan uses a section that exists, and finds none: what it
// did is undone, and the second plan makes one.
func ExampleRunner_alternatives() {
	w := &website{}
	a, err := w.agent()
	if err != nil {
		panic(err)
	}
	runner, err := plan.New(plan.Config{Agent: a})
	if err != nil {
		panic(err)
	}
	page := plan.Node{ID: "page", Tool: "cms.createPage", Input: map[string]any{"slug": "contact"}}
	add := plan.Node{ID: "add", Tool: "cms.addSectionToPage",
		Input: map[string]any{"page": plan.From("page.id"), "section": plan.From("form.key")}}
	reuse := &plan.Plan{ID: "reuse", Title: "Use the form that exists", Nodes: []plan.Node{page,
		{ID: "form", Tool: "cms.findSection", Input: map[string]any{"key": "form"}, After: []string{"page"}}, add}}
	create := &plan.Plan{ID: "create", Title: "Make a form", Nodes: []plan.Node{page,
		{ID: "form", Tool: "cms.createSectionDef", Input: map[string]any{"key": "form"}, After: []string{"page"}}, add}}

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go runner.Serve(ctx)
	if _, err := runner.Start(ctx, "contact-1", reuse, create); err != nil {
		panic(err)
	}
	for ev, err := range runner.Watch(ctx, "contact-1", 0) {
		if err != nil {
			panic(err)
		}
		switch ev := ev.(type) {
		case *plan.NodeEnded:
			fmt.Printf("node: %s %q\n", ev.Node, ev.Error)
		case *plan.Failed:
			fmt.Println("failed:", ev.Reason, "undone:", ev.Undone, "left:", ev.Left)
		case *plan.Ended:
			fmt.Println("ended:", ev.Status)
		}
	}
	fmt.Println(w.pages, w.definitions)
	// Output:
	// node: page ""
	// node: form "there is no section \"form\""
	// failed: node "form" failed: there is no section "form" undone: [page form] left: []
	// node: page ""
	// node: form ""
	// node: add ""
	// ended: completed
	// [contact] [form]
}

// A pipeline of five tools. The third one fails, a person has it retried, and nothing that is done
// is done again.
func ExampleRunner_retry() {
	down := true
	step := func(name string) tools.Tool {
		return tools.New(tools.Spec{Name: name}, func(context.Context, struct{}) (string, error) {
			if name == "contentWriter" && down {
				return "", errors.New("the provider is down")
			}
			fmt.Println("ran", name)
			return "ok", nil
		})
	}
	names := []string{"topicResearch", "skeletonCreator", "contentWriter", "humanizer", "visualsCreator"}
	cfg := agent.Config{Name: "content", Provider: providertest.Script()}
	pipeline := &plan.Plan{Title: "An article"}
	for i, name := range names {
		cfg.Tools = append(cfg.Tools, step(name))
		n := plan.Node{ID: name, Tool: name}
		if i > 0 {
			n.After = names[i-1 : i]
		}
		pipeline.Nodes = append(pipeline.Nodes, n)
	}
	a, err := agent.New(cfg)
	if err != nil {
		panic(err)
	}
	runner, err := plan.New(plan.Config{Agent: a, AskOnFailure: true})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go runner.Serve(ctx)
	if _, err := runner.Start(ctx, "article-1", pipeline); err != nil {
		panic(err)
	}
	for ev, err := range runner.Watch(ctx, "article-1", 0) {
		if err != nil {
			panic(err)
		}
		if paused, ok := ev.(*plan.Paused); ok {
			q := paused.Pending[0]
			fmt.Println("waiting:", q.Path[0], q.Title)
			down = false
			again := agent.Answer(q.ID, map[string]string{"decision": "retry"})
			if err := runner.Decide(ctx, "article-1", again.By("ann")); err != nil {
				panic(err)
			}
		}
	}
	state, err := runner.State(ctx, "article-1")
	if err != nil {
		panic(err)
	}
	fmt.Println(state.Status)
	// Output:
	// ran topicResearch
	// ran skeletonCreator
	// waiting: contentWriter Step “contentWriter” has failed: the provider is down
	// ran contentWriter
	// ran humanizer
	// ran visualsCreator
	// completed
}
