package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
)

// BenchmarkAppend appends records of 500 bytes one by one to a leased session, on a server of the
// same machine.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name string
		d    postgres.Durability
	}{{"Process", postgres.Process}, {"Power", postgres.Power}} {
		b.Run(c.name, func(b *testing.B) {
			cfg := empty(b)
			cfg.Durability = c.d
			s := open(b, cfg)
			lease, err := s.Lease(b.Context(), "s", "one", time.Hour)
			require.NoError(b, err)
			data := make([]byte, 500)
			ctx := b.Context()
			b.ReportAllocs()
			for after := uint64(0); b.Loop(); after++ {
				err := s.Append(ctx, journal.Append{Session: "s", After: after, Fence: lease.Fence,
					Records: []journal.Record{{Time: time.Now(), Kind: "kind", V: 1, Data: data}}})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRead10000 loads a session of 10,000 records of 500 bytes.
func BenchmarkRead10000(b *testing.B) {
	s := open(b, empty(b))
	for after := 0; after < 10_000; after += 1000 {
		list := make([]journal.Record, 1000)
		for i := range list {
			list[i] = journal.Record{Time: time.Unix(int64(after+i), 0), Kind: "kind", V: 1, Data: make([]byte, 500)}
		}
		require.NoError(b, s.Append(b.Context(), journal.Append{Session: "s", After: uint64(after), Records: list}))
	}
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
