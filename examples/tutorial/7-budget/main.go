// Rooms is an assistant for the meeting rooms of an office: stage 7 of the tutorial, a budget.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/examples/tutorial/desk"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
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
	limits := budget.New(budget.Config{
		Global: budget.Limit{USD: 20, Period: budget.Day},
		User:   func(string) budget.Limit { return budget.Limit{Tokens: 1200, Period: budget.Day} },
	})
	guarded, err := guard.New(model, guard.Config{
		Name:    "rooms",
		Gate:    ratelimit.NewGate(ratelimit.GateConfig{Slots: 8, RequestsPerMinute: 500}),
		Budget:  limits,
		Breaker: circuit.New("llm:rooms", circuit.LLM()),
	})
	if err != nil {
		return err
	}
	rooms := &office{booked: make(map[Booking]bool)}
	a, err := agent.New(agent.Config{
		Name:         "rooms",
		Provider:     guarded,
		Params:       agent.Params{MaxOutput: 500}, // a call is admitted if it could be paid at its longest
		Limits:       agent.Limits{Steps: 6, Duration: 2 * time.Minute},
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
	hub, err := live.New(live.Config{Agent: a}) // runs outlive the requests that start them
	if err != nil {
		return err
	}
	handler, err := serve.New(hub, serve.Config{
		Title:     "Meeting rooms",
		Examples:  []string{"Which rooms are free at 10?", "Book Fuji at 10."},
		Authorize: serve.Local{User: "you"}.Authorize, // the person at this computer, and nobody else
	})
	if err != nil {
		return errors.Join(err, hub.Close())
	}
	listener, err := net.Listen("tcp", cmp.Or(os.Getenv("LISTEN"), "127.0.0.1:8080"))
	if err != nil {
		return errors.Join(err, hub.Close())
	}
	fmt.Printf("http://%s/\n", listener.Addr())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	return live.Serve(ctx, hub, server, listener) // until ctx ends or a signal comes
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
