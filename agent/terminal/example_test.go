package terminal_test

import (
	"context"
	"fmt"
	"os"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/provider/fromenv"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A request as an argument: nobody is asked, and the exit code is 3.
func ExampleRun() {
	move := tools.New(tools.Spec{Name: "site.movePage", Approval: tools.AskAlways},
		func(context.Context, page) (string, error) { return "moved", nil })
	a, err := agent.New(agent.Config{Tools: []tools.Tool{move}, Provider: providertest.Script(
		providertest.Reply(providertest.Say("I move it."), providertest.Call("site.movePage", page{"home"})))})
	if err != nil {
		panic(err)
	}
	hub, err := live.New(live.Config{Agent: a})
	if err != nil {
		panic(err)
	}
	defer hub.Close()
	code, err := terminal.Run(context.Background(), hub, terminal.Config{Session: "s-1", Prompt: "Move the page home"})
	fmt.Println(code, err)
	// Output:
	// I move it.
	// Approval needed: Move page “home”
	//   tool:  site.movePage
	//   why:   this tool always asks
	//   risk:  low
	//   input: {"page":"home"}
	// The session s-1 waits for a decision.
	// 3 <nil>
}

// A program with the provider that the environment names. Runs are stored, so a run that was
// interrupted goes on at the next start.
func ExampleRun_program() {
	run := func(ctx context.Context, list []tools.Tool) (int, error) {
		model, about, err := fromenv.Provider() // a key without a model is an error
		if err != nil {
			return 1, err
		}
		fmt.Fprintln(os.Stderr, about)
		store, err := sqlite.Open("runs.db", sqlite.Config{})
		if err != nil {
			return 1, err
		}
		defer store.Close()
		a, err := agent.New(agent.Config{Provider: model, Tools: list, Journal: store})
		if err != nil {
			return 1, err
		}
		hub, err := live.New(live.Config{Agent: a})
		if err != nil {
			return 1, err
		}
		defer hub.Close()
		return terminal.Run(ctx, hub, terminal.Config{Session: "s-1"}) // 0 done, 3 waits for a decision, 1 failed
	}
	if len(os.Args) > 99 {
		code, err := run(context.Background(), nil)
		fmt.Fprintln(os.Stderr, err)
		os.Exit(code)
	}
}
