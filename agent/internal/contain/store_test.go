package contain

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

// slow is a store that knows no order of changes, and takes its time for each head.
type slow struct {
	journal.Store
	each time.Duration
}

func (s slow) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		for h, err := range s.Store.Heads(ctx, f) {
			select {
			case <-time.After(s.each):
			case <-ctx.Done():
				yield(journal.Head{}, ctx.Err())
				return
			}
			if !yield(h, err) {
				return
			}
		}
	}
}

// A list of many sessions may take longer than one call, as long as each element comes in time.
func TestChangesThatAreListedHaveTimeForEachElement(t *testing.T) {
	for each, fails := range map[time.Duration]bool{4 * time.Second: false, storeCall + time.Second: true} {
		synctest.Test(t, func(t *testing.T) {
			memory := &journal.MapStore{}
			for i := range 10 {
				require.NoError(t, memory.Append(t.Context(), journal.Append{Session: fmt.Sprint("s-", i),
					Records: []journal.Record{{Time: time.Now(), Kind: "note", V: 1, Data: []byte(`{}`)}}}))
			}
			changes, _, err := journal.Changes(t.Context(), Store(slow{memory, each}, Abandoned{}), "")
			if fails {
				require.ErrorAs(t, err, new(*slowError))
				return
			}
			require.NoError(t, err)
			require.Len(t, changes, 10)
		})
	}
}
