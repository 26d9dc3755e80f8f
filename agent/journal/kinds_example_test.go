package journal_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// A package keeps logs of its own in the store of the agents. They have a kind, and agents leave
// them alone.
func ExampleFilter() {
	ctx, store := context.Background(), &journal.MapStore{}
	for session, kind := range map[string]string{"s-1": "", "plans/7": "plan"} {
		lease, err := store.Lease(ctx, session, "worker-1", 30*time.Second)
		if err != nil {
			fmt.Println(err)
			return
		}
		err = store.Append(ctx, journal.Append{
			Session: session, Fence: lease.Fence,
			Records: []journal.Record{{Time: time.Unix(0, 0), Kind: "started", V: 1, Data: []byte(`{}`)}},
			Head:    &journal.HeadUpdate{Status: "running", Kind: kind, Labels: map[string]string{"user": "ann"}},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	for head, err := range store.Heads(ctx, journal.Filter{Kind: "plan"}) {
		fmt.Println("plans", head.Session, err)
	}
	for head, err := range store.Heads(ctx,
		journal.Filter{NoKind: true, Label: journal.Label{Key: "user", Value: "ann"}}) {
		fmt.Println("agents", head.Session, err)
	}
	// Output:
	// plans plans/7 <nil>
	// agents s-1 <nil>
}
