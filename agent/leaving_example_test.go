package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A run waits at the end of a stage, and its user leaves it for another question. What it came to
// is stored before the next run begins, and is beside the conversation from then on, so that no
// compaction removes it.
func Example_leavingAStage() {
	stage := tools.New(tools.Spec{Name: "stage_done"}, func(ctx context.Context, in struct {
		Stage string `json:"stage"`
	}) (string, error) {
		if r, ok := tools.Resumed(ctx); ok {
			return "The user says: " + string(r.Answer), nil // the feedback
		}
		return "", tools.Suspend{Kind: "stage", Prompt: in.Stage + " is done. Go on, or what should be different?",
			Again: true}
	})
	var left sync.Map // what came of the run that each session has left; a host stores it
	model := providertest.Script(providertest.Call("stage_done", map[string]string{"stage": "Comparing the offers"}),
		providertest.Say("At eight."), providertest.Say("We had compared the offers."))
	a, err := agent.New(agent.Config{Provider: model, Tools: []tools.Tool{stage},
		Memory: &agent.Memory{Context: func(_ context.Context, in agent.ContextInput) (c memory.Context, _ error) {
			if text, ok := left.Load(in.Session); ok {
				c.Fetched = []memory.Fetched{{Name: "the run that was left", Text: text.(string)}}
			}
			return c, nil
		}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	res, _ := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Choose a caterer"})
	fmt.Println(res.Status, res.Pending[0].Reason)

	left.Store("s-1", notes.BriefingOf(res).Text()) // before the run is left, so that a crash doesn't lose it
	for _, prompt := range []string{"When does the party begin?", "How far were we?"} {
		res, err = a.Run(ctx, agent.Input{Session: "s-1", Prompt: prompt, Supersede: true})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(res.Text())
	}
	for i, req := range model.Requests()[1:] {
		last := req.Messages[len(req.Messages)-1].Text()
		fmt.Println("turn", i+2, "has it:", strings.Contains(last, "Comparing the offers"))
	}
	// Output:
	// paused Comparing the offers is done. Go on, or what should be different?
	// At eight.
	// We had compared the offers.
	// turn 2 has it: true
	// turn 3 has it: true
}
