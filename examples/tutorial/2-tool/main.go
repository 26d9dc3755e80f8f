// Rooms is an assistant for the meeting rooms of an office: stage 2 of the tutorial, a tool.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/tutorial/desk"
	"github.com/pawlkit/pawl/tools"
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
	rooms := new(office)
	a, err := agent.New(agent.Config{
		Name:         "rooms",
		Provider:     model,
		Instructions: "You look after the meeting rooms of an office. Answer briefly.",
		Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "free", Description: "Lists the rooms that are free at an hour of today.",
				ReadOnly: true}, rooms.free),
		},
	})
	if err != nil {
		return err
	}
	res, err := a.Run(ctx, agent.Input{Prompt: "Which rooms are free at 10?"})
	if err != nil {
		return err
	}
	fmt.Println(res.Text())
	fmt.Println(res.Steps, "model calls, tools called:", res.ToolNames())
	return nil
}

// A Slot is an hour of today.
type Slot struct {
	Hour int `json:"hour" description:"the hour at which it begins" minimum:"8" maximum:"17"`
}

// A Booking is a room in a slot.
type Booking struct {
	Room string `json:"room" description:"Etna, Fuji or Teide"`
	Slot
}

// An office knows which rooms are booked. Yours would ask a calendar.
type office struct {
	mu     sync.Mutex
	booked map[Booking]bool
}

func (o *office) free(_ context.Context, at Slot) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var list []string
	for _, room := range []string{"Etna", "Fuji", "Teide"} {
		if !o.booked[Booking{room, at}] {
			list = append(list, room)
		}
	}
	return fmt.Sprintf("Free at %d: %s.", at.Hour, strings.Join(list, ", ")), nil
}
