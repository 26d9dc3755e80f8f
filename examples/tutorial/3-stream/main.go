// Rooms is an assistant for the meeting rooms of an office: stage 3 of the tutorial, a stream.
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
	for ev, err := range a.Stream(ctx, agent.Input{Prompt: "Which rooms are free at 10?"}) {
		if err != nil {
			return err
		}
		show(ev)
	}
	return nil
}

// show prints an event of a run.
func show(ev agent.Event) {
	switch ev := ev.(type) {
	case *agent.TextDelta:
		fmt.Print(ev.Text)
	case *agent.Reset: // the model call is made again: what it has shown is void
		fmt.Print("\n[again]\n")
	case *agent.ToolStarted:
		fmt.Printf("[%s %s]\n", ev.Call.Name, ev.Call.Input)
	case *agent.Replied: // the reply is complete, and stored
		if ev.Message.Text() != "" {
			fmt.Println()
		}
	case *agent.RunEnded:
		fmt.Printf("[%s, model calls: %d]\n", ev.Status, ev.Result.Steps)
	}
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
