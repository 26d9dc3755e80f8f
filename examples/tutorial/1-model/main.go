// Rooms is an assistant for the meeting rooms of an office: stage 1 of the tutorial, a model.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/tutorial/desk"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(agent.Words(err))
	}
}

func run(ctx context.Context) error {
	model, err := desk.Model() // that of the environment, or a stand-in
	if err != nil {
		return err
	}
	a, err := agent.New(agent.Config{
		Name:         "rooms",
		Provider:     model,
		Instructions: "You look after the meeting rooms of an office. Answer briefly.",
	})
	if err != nil {
		return err
	}
	res, err := a.Run(ctx, agent.Input{Prompt: "Who are you?"})
	if err != nil {
		return err
	}
	fmt.Println(res.Text())
	return nil
}
