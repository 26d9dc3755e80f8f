package notes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A run that writes a note when a quarter of a window of 4,000 tokens is used.
func Example() {
	type Finding struct {
		Pages int `json:"pages"`
	}
	read := tools.New(tools.Spec{Name: "read", ReadOnly: true}, func(context.Context, struct{}) (string, error) {
		return strings.Repeat("word ", 900), nil
	})
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(providertest.Call("read", struct{}{}), providertest.Say("Read.")),
		Tools:    []tools.Tool{read},
		Memory: &agent.Memory{
			Config: memory.Config{Window: memory.Window{Size: 5_000, Reserve: 1_000}, ResultShare: .5},
			ProgressNotes: []notes.Progress{notes.ProgressOf("finding",
				func(_ context.Context, in *notes.Input) (Finding, error) {
					// or notes.ByModel[Finding](nil, "")
					return Finding{strings.Count(in.Transcript(0), "call read")}, nil
				}, .25)},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	if _, err := a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Read it"}); err != nil {
		fmt.Println(err)
		return
	}
	facts, err := a.Session("s-1").Facts(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(notes.Read[Finding](facts, "finding"))
	// Output:
	// [{1}] <nil>
}

func ExampleBriefingOf() {
	model := providertest.Script(providertest.Call("deploy", map[string]any{"to": "prod"}),
		providertest.Say("I can't."), providertest.Say("Deployed to staging."))
	deploy := tools.New(tools.Spec{Name: "deploy"}, func(context.Context, struct {
		To string `json:"to"`
	}) (string, error) {
		return "", errors.New("prod is frozen")
	})
	a, err := agent.New(agent.Config{Provider: model, Tools: []tools.Tool{deploy}})
	if err != nil {
		fmt.Println(err)
		return
	}
	first, _ := a.Run(context.Background(), agent.Input{Prompt: "Deploy it"})
	briefing := notes.BriefingOf(first)
	fmt.Println(briefing.Avoid[0])
	second, _ := a.Run(context.Background(), agent.Input{Prompt: "Deploy it" + briefing.Text()})
	fmt.Println(second.Text())
	// Output:
	// deploy {"to":"prod"} → failed: prod is frozen
	// Deployed to staging.
}
