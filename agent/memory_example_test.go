package agent_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A run that reads twenty pages of 400 words, under a window of 6,000 tokens.
func ExampleMemory() {
	var steps []providertest.Step
	for range 20 {
		steps = append(steps, providertest.Call("read", struct{}{}))
	}
	read := tools.New(tools.Spec{Name: "read", ReadOnly: true, Polls: true},
		func(context.Context, struct{}) (string, error) {
			return strings.Repeat("word ", 400), nil
		})
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(append(steps, providertest.Say("All read."))...),
		Tools:    []tools.Tool{read},
		Limits:   agent.Limits{Steps: 30},
		Memory: &agent.Memory{Config: memory.Config{
			Window: memory.Window{Size: 6_000, Reserve: 1_000},
			Store:  &memory.MapStore{}, // the model reads back with memory.read
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range a.Stream(context.Background(), agent.Input{Prompt: "Read it all"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch ev := ev.(type) {
		case *machine.Compacted:
			fmt.Println(ev.Report.Trigger, "compacted:", ev.Report.After < ev.Report.Before)
		case *agent.RunEnded:
			fmt.Println(ev.Result.Text())
		}
	}
	// Output:
	// share 0.70 compacted: true
	// share 0.70 compacted: true
	// All read.
}
