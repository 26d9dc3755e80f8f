package team_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/team"
	"github.com/pawlkit/pawl/provider/providertest"
)

func Example() {
	reader, err := agent.New(agent.Config{Provider: providertest.Script(
		providertest.Say("There are two books on Oslo."))})
	if err != nil {
		log.Fatal(err)
	}
	librarian, err := live.New(live.Config{Agent: reader})
	if err != nil {
		log.Fatal(err)
	}
	defer librarian.Close()
	background, err := team.New(team.Config{Members: map[string]team.Member{
		"librarian": {Hub: librarian, About: "finds books"},
	}})
	if err != nil {
		log.Fatal(err)
	}
	type task struct {
		Member string `json:"member"`
		Task   string `json:"task"`
	}
	guide, err := agent.New(agent.Config{Tools: background.Tools(), Provider: providertest.Script(
		providertest.Call("team.start", task{"librarian", "Find books on Oslo."}),
		providertest.Say("I have somebody look for them. What else?"),
		providertest.Say("There are two."), // when the report has arrived
	)})
	if err != nil {
		log.Fatal(err)
	}
	lead, err := live.New(live.Config{Agent: guide})
	if err != nil {
		log.Fatal(err)
	}
	defer lead.Close()

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	started, err := lead.Start(ctx, agent.Input{Session: "s-1", Prompt: "Are there books on Oslo?"})
	if err != nil {
		log.Fatal(err)
	}
	<-started.Done
	go func() { _ = background.Run(ctx, lead) }()
	for ev, err := range lead.Watch(ctx, "s-1", 0) {
		if err != nil {
			log.Fatal(err)
		}
		if reply, ok := ev.(*agent.Replied); ok && reply.Message.Text() != "" {
			fmt.Println(reply.Message.Text())
		}
		if end, ok := ev.(*agent.RunEnded); ok && end.Run() != started.Run {
			break
		}
	}
	// Output:
	// I have somebody look for them. What else?
	// There are two.
}
