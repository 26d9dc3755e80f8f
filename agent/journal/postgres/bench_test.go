package postgres_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/internal/pgtest"
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

// BenchmarkAppends appends records of 500 bytes to so many leased sessions at a time, each over a
// connection of its own, on a server of the same machine that waits for its disk.
func BenchmarkAppends(b *testing.B) {
	dsn := pgtest.Measured(b)
	for i, n := range []int{1, 4, 16, 32} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b, postgres.Config{DSN: dsn, Schema: fmt.Sprint("appends", i), MaxConns: n})
			var left atomic.Int64
			left.Store(int64(b.N))
			var all sync.WaitGroup
			data := make([]byte, 500)
			b.ResetTimer()
			for k := range n {
				all.Go(func() {
					name := fmt.Sprint("s-", b.N, "-", k)
					lease, err := s.Lease(b.Context(), name, "one", time.Hour)
					for after := uint64(0); err == nil && left.Add(-1) >= 0; after++ {
						err = s.Append(b.Context(), journal.Append{Session: name, After: after, Fence: lease.Fence,
							Records: []journal.Record{{Time: time.Now(), Kind: "kind", V: 1, Data: data}}})
					}
					if err != nil {
						b.Error(err)
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
		})
	}
}

// BenchmarkHeads lists the heads of 1,000 sessions in progress, as each worker does in each search,
// among 20,000 that have ended.
func BenchmarkHeads(b *testing.B) {
	s := open(b, postgres.Config{DSN: pgtest.Measured(b), Schema: "heads", Durability: postgres.Process})
	var all sync.WaitGroup
	for k := range 8 {
		all.Go(func() {
			for i := k; i < 21_000; i += 8 {
				status := "completed"
				if i < 1000 {
					status = "running"
				}
				err := s.Append(b.Context(), journal.Append{Session: fmt.Sprintf("s-%05d", i),
					Records: []journal.Record{{Time: time.Now(), Kind: "kind", V: 1, Data: []byte("{}")}},
					Head:    &journal.HeadUpdate{Status: status, Labels: map[string]string{"tenant": "t"}}})
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, status := range []string{"running", "queued"} {
		f := journal.Filter{Status: status, NoKind: true, NoParent: true}
		b.Run(status, func(b *testing.B) {
			n := 0
			for b.Loop() {
				for _, err := range s.Heads(b.Context(), f) {
					require.NoError(b, err)
					n++
				}
			}
			b.ReportMetric(float64(n)/float64(b.N), "heads/op")
		})
	}
}
