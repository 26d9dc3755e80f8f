package approvals_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
)

// A damaged store can't read the log of session "ann/1".
type damaged struct {
	journal.Store
	log error
}

func (s *damaged) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	if session != "ann/1" {
		return s.Store.Read(ctx, session, after)
	}
	return func(yield func(journal.Record, error) bool) { yield(journal.Record{}, s.log) }
}

func TestASessionThatCannotBeReadDoesNotEndTheList(t *testing.T) {
	var many []journal.Open
	for i := range journal.MaxOpen {
		many = append(many, journal.Open{ID: fmt.Sprint("p-", i), Kind: "approval", Title: "cms.remove: x"})
	}
	broken := errors.New("the log is damaged")
	store := &damaged{Store: waiting(t,
		map[string][]journal.Open{"ann/0": many[:1], "ann/1": many, "ann/2": many[:1]}), log: broken}

	items, failed := map[string]int{}, map[string]int{}
	for o, err := range approvals.List(t.Context(), store, approvals.Filter{}) {
		if err != nil {
			require.ErrorIs(t, err, broken)
			failed[o.Session]++
			continue
		}
		items[o.Session]++
	}
	require.Equal(t, map[string]int{"ann/1": 1}, failed)
	require.Equal(t, map[string]int{"ann/0": 1, "ann/1": journal.MaxOpen, "ann/2": 1}, items)
}
