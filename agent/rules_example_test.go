package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A person allows "git status" for good. The rule answers for that scope only: another command asks
// again.
func ExampleAllowAlways() {
	type Command struct {
		Line string `json:"line"`
	}
	shell := tools.Func[Command, string]{
		Spec: tools.Spec{Name: "shell", Approval: tools.AskAlways},
		Run:  func(ctx context.Context, in Command) (string, error) { return "ran " + in.Line, nil },
		Scope: func(in Command) string { // the program and its subcommand
			words := strings.Fields(in.Line)
			return strings.Join(words[:min(len(words), 2)], " ")
		},
	}
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(
			providertest.Call("shell", Command{"git status"}),
			providertest.Call("shell", Command{"git status --short"}),
			providertest.Call("shell", Command{"git push"}),
		),
		Tools: []tools.Tool{shell},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	var work agent.Work = agent.Input{Session: "s-1", Prompt: "Look what has changed, and push it."}
	for range 2 {
		res, err := a.Run(ctx, work)
		if !errors.As(err, new(*agent.PausedError)) {
			log.Fatal("it should ask: ", err)
		}
		p := res.Pending[0]
		fmt.Printf("step %d asks about %q\n", res.Steps, p.Scope)
		work = agent.Resume("s-1", agent.AllowAlways(p.ID).By("ann"))
	}
	rules, err := a.Session("s-1").Rules(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rules[0].Tool, rules[0].Scope)
	// Output:
	// step 1 asks about "git status"
	// step 3 asks about "git push"
	// shell git status
}
