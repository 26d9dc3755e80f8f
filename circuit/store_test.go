package circuit_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
)

// A table is a Store in memory that is written like one over a database: a row for each key, with its number of arrival.
type table struct {
	mu   sync.Mutex // guards what follows
	rows map[string]row
	last uint64
}

type row struct {
	circuit.Record
	number uint64
}

func (s *table) Publish(ctx context.Context, records []circuit.Record) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = make(map[string]row)
	}
	for _, r := range records {
		s.last++
		s.rows[r.Key] = row{r, s.last}
	}
	return nil
}

func (s *table) Changes(ctx context.Context, after uint64) ([]circuit.Record, uint64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if after > s.last {
		after = 0
	}
	var rows []row
	for _, r := range s.rows {
		if r.number > after {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.number, b.number) })
	var records []circuit.Record
	for _, r := range rows {
		records = append(records, r.Record)
		after = r.number
	}
	return records, after, nil
}

// keepsItsContract tests the contract of a Store. open returns a new, empty one.
func keepsItsContract(t *testing.T, open func(*testing.T) circuit.Store) {
	at := time.Date(2026, 11, 21, 20, 0, 0, 1_000_000, time.UTC)
	record := func(key string, seconds int) circuit.Record {
		return circuit.Record{Key: key, Origin: "o", Until: at.Add(time.Duration(seconds) * time.Second)}
	}
	publish := func(t *testing.T, s circuit.Store, records ...circuit.Record) {
		t.Helper()
		require.NoError(t, s.Publish(t.Context(), records))
	}
	changes := func(t *testing.T, s circuit.Store, after uint64, want ...circuit.Record) uint64 {
		t.Helper()
		got, mark, err := s.Changes(t.Context(), after)
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i := range got {
			require.True(t, got[i].Until.Equal(want[i].Until), "%v, not %v", got[i].Until, want[i].Until)
			require.Equal(t, want[i].Until.IsZero(), got[i].Until.IsZero())
			got[i].Until = want[i].Until
		}
		if len(want) > 0 {
			require.Equal(t, want, got)
		}
		return mark
	}

	t.Run("an empty store has no changes", func(t *testing.T) {
		s := open(t)
		require.Zero(t, changes(t, s, 0))
		publish(t, s)
		require.Zero(t, changes(t, s, 0))
	})
	t.Run("records come in the order of arrival, each once", func(t *testing.T) {
		s := open(t)
		publish(t, s, record("a", 1), record("b", 2))
		mark := changes(t, s, 0, record("a", 1), record("b", 2))
		require.Equal(t, mark, changes(t, s, mark))
		publish(t, s, record("", 3))
		publish(t, s, record("Ä/\x00'", 4))
		next := changes(t, s, mark, record("", 3), record("Ä/\x00'", 4))
		require.Greater(t, next, mark)
		changes(t, s, 0, record("a", 1), record("b", 2), record("", 3), record("Ä/\x00'", 4))
	})
	t.Run("the last record of a key replaces earlier ones", func(t *testing.T) {
		s := open(t)
		publish(t, s, record("a", 9), record("b", 1))
		mark := changes(t, s, 0, record("a", 9), record("b", 1))
		closed := circuit.Record{Key: "a", Origin: "p"}
		publish(t, s, record("a", 2), closed)
		changes(t, s, mark, closed)
		changes(t, s, 0, record("b", 1), closed)
		publish(t, s, closed)
		changes(t, s, mark, closed)
	})
	t.Run("an unknown mark is the beginning", func(t *testing.T) {
		s := open(t)
		require.Zero(t, changes(t, s, 1_000))
		publish(t, s, record("a", 1))
		mark := changes(t, s, 1_000, record("a", 1))
		require.Equal(t, mark, changes(t, s, mark))
	})
	t.Run("it doesn't begin when its context has ended", func(t *testing.T) {
		s := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, s.Publish(ctx, []circuit.Record{record("a", 1)}))
		_, _, err := s.Changes(ctx, 0)
		require.Error(t, err)
		changes(t, s, 0)
	})
	t.Run("it handles many records at once", func(t *testing.T) {
		s := open(t)
		const publishers, each = 8, 50
		var all sync.WaitGroup
		for p := range publishers {
			all.Go(func() {
				for n := range each {
					if err := s.Publish(t.Context(), []circuit.Record{record(fmt.Sprint(p, " ", n), n)}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		seen := make(map[string]bool)
		read := func(mark uint64) uint64 {
			records, mark, err := s.Changes(t.Context(), mark)
			require.NoError(t, err)
			for _, r := range records {
				require.False(t, seen[r.Key], "twice: %v", r.Key)
				seen[r.Key] = true
			}
			return mark
		}
		var mark uint64
		for range 20 {
			mark = read(mark)
		}
		all.Wait()
		read(mark)
		require.Len(t, seen, publishers*each, "none is passed by")
	})
}

func TestTheStoreInMemoryKeepsItsContract(t *testing.T) {
	keepsItsContract(t, func(*testing.T) circuit.Store { return new(table) })
}
