// Rooms is an assistant for the meeting rooms of an office: stage 5 of the tutorial, a store.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/examples/tutorial/desk"
	"github.com/pawlkit/pawl/tools"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(agent.Words(err))
	}
}

func run(ctx context.Context) (err error) {
	store, err := sqlite.Open("rooms.db", sqlite.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	model, err := desk.Model() // that of the environment, or a stand-in
	if err != nil {
		return err
	}
	rooms := &office{booked: make(map[Booking]bool)}
	a, err := agent.New(agent.Config{
		Name:         "rooms",
		Provider:     model,
		Journal:      store,
		Instructions: "You look after the meeting rooms of an office. Answer briefly.",
		Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "free", Description: "Lists the rooms that are free at an hour of today.",
				ReadOnly: true}, rooms.free),
			tools.New(tools.Spec{Name: "book", Description: "Books a room for an hour of today.",
				Risk: tools.High}, rooms.book), // high risk: a person is asked
		},
	})
	if err != nil {
		return err
	}
	var work agent.Work = agent.Input{Session: "desk", Prompt: "Book Fuji at 10."} // later a Resumption
	pending, err := a.Session("desk").Pending(ctx)
	switch {
	case errors.Is(err, journal.ErrNoSession): // the first start
	case err != nil:
		return err
	case len(pending) > 0: // an earlier process has asked
		work = agent.Resume("desk", ask(pending)...)
	}
	for ev, err := range a.Stream(ctx, work) {
		if err != nil {
			return err
		}
		show(ev)
	}
	return nil
}

// ask asks the person at the terminal about each call that waits.
func ask(pending []agent.Pause) (decisions []agent.Decision) {
	for _, p := range pending {
		var answer string
		fmt.Printf("%s %s? (y/n)\n", p.Title, p.Call.Input)
		_, _ = fmt.Scanln(&answer) // no answer is a no
		decision := agent.Reject(p.ID, "The person said no.")
		if answer == "y" {
			decision = agent.Approve(p.ID)
		}
		decisions = append(decisions, decision.By("you"))
	}
	return decisions
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

func (o *office) book(_ context.Context, b Booking) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.booked[b] {
		return "", fmt.Errorf("%s is taken at %d", b.Room, b.Hour) // the model reads this
	}
	o.booked[b] = true
	return fmt.Sprintf("%s is booked at %d.", b.Room, b.Hour), nil
}
