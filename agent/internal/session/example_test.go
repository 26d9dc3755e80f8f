package session_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

func Example() {
	ctx := context.Background()
	s := session.New(session.Config{Store: &journal.MapStore{}, Record: journal.MaxRecord, Owner: "example",
		Lease: time.Minute, Grace: time.Second, Logger: slog.New(slog.DiscardHandler),
		NewID: func(prefix string) string { return prefix + "1" }})
	l := s.Log(ctx, "s-1")
	if err := l.Hold(nil); err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	start := &machine.RunStarted{Message: provider.User("Hello.")}
	start.Meta.Origin = &machine.Origin{Session: "s-1", Run: "r-1"}
	fmt.Println(l.Append(nil, start), start.Seq, l.State().Goal())

	fmt.Println(s.Log(ctx, "s-1").Hold(nil))
	fmt.Println(l.Append(nil, &machine.SentBack{Text: "more"}))
	facts, err := s.Facts(ctx, "s-1", 0, 0)
	fmt.Println(len(facts), err)

	// Output:
	// <nil> 1 Hello.
	// agent: session "s-1" has a run under way; wait for its end, or use Steer
	// agent: session "s-1": fact 2 (sent_back) doesn't fit: only a run that is about to complete can be sent back
	// 1 <nil>
}
