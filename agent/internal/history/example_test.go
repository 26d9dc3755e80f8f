package history_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/pawlkit/pawl/agent/internal/history"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A session whose model is being asked is copied and moved: what was open is stopped in the copies.
func Example() {
	ctx := context.Background()
	s := session.New(session.Config{Store: &journal.MapStore{}, InMemory: true, Record: journal.MaxRecord,
		Owner: "example", Lease: journal.MaxTTL, Grace: time.Second, Logger: slog.New(slog.DiscardHandler),
		NewID: func(prefix string) string { return prefix + "1" }})
	l := s.Log(ctx, "s-1")
	if err := l.Hold(nil); err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	start := &machine.RunStarted{Message: provider.User("Hello.")}
	start.Meta.Origin = &machine.Origin{Session: "s-1", Run: "r-1"}
	fmt.Println(l.Append(nil, start, &machine.StepStarted{Meta: machine.Meta{Step: 1}, Model: "m"}))

	var file bytes.Buffer
	fmt.Println(history.Export(ctx, s, "s-1", &file))
	fmt.Println(history.Fork(ctx, s, "s-1", "s-2", 0), history.Import(ctx, s, "s-3", &file))
	fmt.Println(history.Fork(ctx, s, "s-1", "s-2", 0))
	for _, name := range []string{"s-1", "s-2", "s-3"} {
		facts, err := s.Facts(ctx, name, 0, 0)
		for _, f := range facts {
			fmt.Printf("%s %d %s\n", name, f.Envelope().Seq, machine.Record(f).Kind)
		}
		steps, traced := history.Trace(name, facts, false)
		fmt.Println(len(steps), "model calls", err, traced)
	}

	p := history.Pruner{Sessions: s, Journals: []journal.Store{s.Store}}
	fmt.Println(p.Retain(ctx, history.Retention{Idle: 1}))
	// Output:
	// <nil>
	// <nil>
	// <nil> <nil>
	// agent: session "s-2": there is a session by that name
	// s-1 1 run_started
	// s-1 2 step_started
	// 1 model calls <nil> <nil>
	// s-2 1 run_started
	// s-2 2 run_ended
	// 0 model calls <nil> <nil>
	// s-3 1 run_started
	// s-3 2 run_ended
	// 0 model calls <nil> <nil>
	// {2 4 0} <nil>
}
