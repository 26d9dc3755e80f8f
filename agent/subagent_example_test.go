package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// An agent is a tool of another one. What it needs a person for is decided in the session of the
// agent that called it, here in another process.
func ExampleAsTool() {
	store := &journal.MapStore{} // one on disk for real
	remove := tools.New(tools.Spec{Name: "delete", Risk: tools.High},
		func(ctx context.Context, in Page) (string, error) { return in.ID + " is gone", nil })
	build := func(editorSays, chiefSays []providertest.Step) *agent.Agent {
		editor, err := agent.New(agent.Config{Name: "editor", Provider: providertest.Script(editorSays...),
			Tools: []tools.Tool{remove}})
		if err != nil {
			log.Fatal(err)
		}
		chief, err := agent.New(agent.Config{
			Name: "chief", Provider: providertest.Script(chiefSays...), Journal: store,
			Tools: []tools.Tool{agent.AsTool(editor, tools.Spec{Description: "Edits the site."})},
		})
		if err != nil {
			log.Fatal(err)
		}
		return chief
	}
	ctx := context.Background()
	a := build([]providertest.Step{providertest.Call("delete", Page{"home"})},
		[]providertest.Step{providertest.Call("editor", agent.Task{Task: "Delete the home page."})})
	res, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Tidy up."})
	if !errors.As(err, new(*agent.PausedError)) {
		log.Fatal("it should ask: ", err)
	}
	p := res.Pending[0]
	fmt.Println(p.Call.Name, string(p.Call.Input), "in", len(p.Path), "call of a subagent")

	b := build([]providertest.Step{providertest.Say("Deleted.")},
		[]providertest.Step{providertest.Say("The site is tidy.")})
	res, err = b.Run(ctx, agent.Resume("s-1", agent.Approve(p.ID).By("ann")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Messages[2].Parts[0].Result.Text(), res.Text())
	// Output:
	// delete {"id":"home"} in 1 call of a subagent
	// Deleted. The site is tidy.
}
