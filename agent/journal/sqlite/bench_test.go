package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
)

// BenchmarkAppend appends records of 500 bytes one by one to a leased session.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name string
		d    sqlite.Durability
	}{{"Process", sqlite.Process}, {"Power", sqlite.Power}} {
		for _, head := range []*journal.HeadUpdate{nil, {Status: "running"}} {
			name := c.name
			if head != nil {
				name += "WithHead"
			}
			b.Run(name, func(b *testing.B) {
				s := open(b, filepath.Join(b.TempDir(), "runs.db"), sqlite.Config{Durability: c.d})
				lease, err := s.Lease(b.Context(), "s", "one", time.Hour)
				require.NoError(b, err)
				data := make([]byte, 500)
				ctx := b.Context()
				b.ReportAllocs()
				for after := uint64(0); b.Loop(); after++ {
					err := s.Append(ctx, journal.Append{Session: "s", After: after, Fence: lease.Fence, Head: head,
						Records: []journal.Record{{Time: time.Now(), Kind: "kind", V: 1, Data: data}}})
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRead10000 loads a session of 10,000 records of 500 bytes.
func BenchmarkRead10000(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "runs.db"), sqlite.Config{})
	fill(b, s, "s", 10_000)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range s.Read(ctx, "s", 0) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 10_000 {
			b.Fatal(n)
		}
	}
}

// fill appends records of 500 bytes to a new session, 1,000 at a time.
func fill(tb testing.TB, s journal.Store, session string, n int) {
	tb.Helper()
	for after := 0; after < n; after += 1000 {
		list := make([]journal.Record, min(1000, n-after))
		for i := range list {
			list[i] = journal.Record{Time: time.Unix(int64(after+i), 0), Kind: "kind", V: 1, Data: make([]byte, 500)}
		}
		require.NoError(tb,
			s.Append(tb.Context(), journal.Append{Session: session, After: uint64(after), Records: list}))
	}
}
