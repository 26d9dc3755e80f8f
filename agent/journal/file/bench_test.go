package file

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

// fact is an append of about the size of a fact of a run.
func fact(after uint64) journal.Append {
	data := fmt.Appendf(nil, `{"run":"r-1","step":%d,"text":"%0450d"}`, after, after)
	return journal.Append{
		Session: "s", After: after,
		Records: []journal.Record{{Time: time.Unix(int64(after), 0), Kind: "reply", V: 1, Data: data}},
	}
}

func BenchmarkAppend(b *testing.B) {
	for name, d := range map[string]Durability{"Process": Process, "Power": Power} {
		b.Run(name, func(b *testing.B) {
			st := openAt(b, b.TempDir(), Config{Durability: d})
			ctx := b.Context()
			l, err := st.Lease(ctx, "s", "a", time.Hour)
			require.NoError(b, err)
			a := fact(0)
			a.Fence = l.Fence
			b.ReportAllocs()
			for b.Loop() {
				if err := st.Append(ctx, a); err != nil {
					b.Fatal(err)
				}
				a.After++
			}
		})
	}
}

func BenchmarkRead10000(b *testing.B) {
	dir := b.TempDir()
	st := openAt(b, dir, Config{Durability: Process})
	for after := range uint64(10_000) {
		require.NoError(b, st.Append(b.Context(), fact(after)))
	}
	ctx := b.Context()
	load := func(b *testing.B, st *Store) {
		n := 0
		for _, err := range st.Read(ctx, "s", 0) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 10_000 {
			b.Fatal(n)
		}
	}
	b.Run("opened", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			load(b, st)
		}
	})
	b.Run("opened again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			st, err := OpenWith(dir, Config{})
			require.NoError(b, err)
			load(b, st)
			st.Close()
		}
	})
	b.Run("without checkpoint", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = st.fs.Remove("s-s" + headExt)
			st, err := OpenWith(dir, Config{})
			require.NoError(b, err)
			load(b, st)
			st.Close()
		}
	})
}

func BenchmarkHeads1000(b *testing.B) {
	st := openAt(b, b.TempDir(), Config{Durability: Process})
	for i := range 1000 {
		a := fact(0)
		a.Session = fmt.Sprint("s-", i)
		require.NoError(b, st.Append(b.Context(), a))
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range st.Heads(b.Context(), journal.Filter{}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 1000 {
			b.Fatal(n)
		}
	}
}
