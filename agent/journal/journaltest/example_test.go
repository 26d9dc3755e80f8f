package journaltest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
)

// An append whose outcome is unclear is repeated until it is clear. Give a faulty store to the
// agents of a test: they do the same.
func ExampleFaulty() {
	ctx := context.Background()
	store := journaltest.Faulty(&journal.MapStore{}, journaltest.Faults{Seed: 3, Fail: .4, Keep: .4})
	a := journal.Append{Session: "s", Records: []journal.Record{{Time: time.Now(), Kind: "note"}}}
	err := store.Append(ctx, a)
	for journal.Unclear(err) {
		err = store.Append(ctx, a)
	}
	n := 0
	for {
		err = nil
		n = 0
		for _, err = range store.Read(ctx, "s", 0) {
			if err != nil {
				break
			}
			n++
		}
		if err == nil {
			break
		}
	}
	fmt.Println(n, err)
	// Output: 1 <nil>
}
