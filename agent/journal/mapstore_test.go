package journal_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
)

func TestMemoryIsAStore(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Store { return &journal.MapStore{} })
}

func TestAStoreThatIsNoFollowerIsFollowed(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Store { return struct{ journal.Store }{&journal.MapStore{}} })
}

func TestALeaseEndsAtItsVeryEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &journal.MapStore{}
		first, err := m.Lease(t.Context(), "s", "a", time.Minute)
		require.NoError(t, err)
		require.True(t, first.Until.Equal(time.Now().Add(time.Minute)))

		<-time.After(time.Minute - 1)
		_, err = m.Lease(t.Context(), "s", "b", time.Minute)
		var held *journal.HeldError
		require.ErrorAs(t, err, &held)
		require.Equal(t, first.Until, held.Until)

		<-time.After(time.Nanosecond)
		second, err := m.Lease(t.Context(), "s", "b", time.Minute)
		require.NoError(t, err)
		require.Greater(t, second.Fence, first.Fence)
	})
}

func TestARenewalCountsFromNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &journal.MapStore{}
		l, err := m.Lease(t.Context(), "s", "a", time.Minute)
		require.NoError(t, err)
		<-time.After(45 * time.Second)
		l, err = m.Renew(t.Context(), l, time.Minute)
		require.NoError(t, err)
		require.True(t, l.Until.Equal(time.Now().Add(time.Minute)))
		<-time.After(30 * time.Second) // past the first end
		_, err = m.Lease(t.Context(), "s", "b", time.Minute)
		var held *journal.HeldError
		require.ErrorAs(t, err, &held)
	})
}

func TestUpdatedIsTheTimeOfTheLastAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &journal.MapStore{}
		for after := range uint64(3) {
			<-time.After(time.Second)
			require.NoError(t, m.Append(t.Context(), appendOne("s", after)))
			h, err := m.Head(t.Context(), "s")
			require.NoError(t, err)
			require.Equal(t, time.Now().UTC(), h.Updated)
		}
	})
}

func TestAReaderOfMemorySeesWhatWasThereWhenItBegan(t *testing.T) {
	m := &journal.MapStore{}
	for after := range uint64(3) {
		require.NoError(t, m.Append(t.Context(), appendOne("s", after)))
	}
	var got []uint64
	for r, err := range m.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		got = append(got, r.Seq)
		require.NoError(t, m.Append(t.Context(), appendOne("s", 2+r.Seq)))
		require.NoError(t, m.Delete(t.Context(), "s", journal.All-1))
	}
	require.Equal(t, []uint64{1, 2, 3}, got)
}

func TestMemoryReturnsTheValueOfARecord(t *testing.T) {
	m := &journal.MapStore{}
	value := &struct{ text string }{"x"}
	a := journal.Append{Session: "s",
		Records: []journal.Record{{Kind: "kind", Value: value}, {Kind: "kind", Data: []byte("x")}}}
	require.NoError(t, m.Append(t.Context(), a))
	a.Records = []journal.Record{{Kind: "kind", Value: "another"}, {Kind: "kind", Data: []byte("x")}}
	require.NoError(t, m.Append(t.Context(), a), "the value isn't compared, so it is the same append again")
	var got []any
	for r, err := range m.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		got = append(got, r.Value)
	}
	require.Len(t, got, 2)
	require.Same(t, value, got[0])
	require.Nil(t, got[1])
}

func TestAnEmptyInboxCostsNothing(t *testing.T) {
	m := &journal.MapStore{}
	require.NoError(t, m.Append(t.Context(), appendOne("s", 0)))
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if items, err := m.Take(ctx, "s", 0); err != nil || items != nil {
			t.Fatal(items, err)
		}
	}))
}

func TestAnAppendCostsOneAllocationForItsData(t *testing.T) {
	m := &journal.MapStore{}
	ctx, after := t.Context(), uint64(0)
	a := appendOne("s", 0)
	per := testing.AllocsPerRun(1000, func() { // the growth of the log rounds to nothing
		a.After = after
		if err := m.Append(ctx, a); err != nil {
			t.Fatal(err)
		}
		after++
	})
	require.LessOrEqual(t, per, 1.0)
}

func appendOne(session string, after uint64) journal.Append {
	return journal.Append{
		Session: session, After: after,
		Records: []journal.Record{{Time: time.Unix(int64(after), 0), Kind: "kind", V: 1, Data: make([]byte, 500)}},
	}
}

func BenchmarkAppend(b *testing.B) {
	m := &journal.MapStore{}
	ctx := b.Context()
	l, err := m.Lease(ctx, "s", "a", time.Hour)
	require.NoError(b, err)
	a := appendOne("s", 0)
	a.Fence = l.Fence
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Append(ctx, a); err != nil {
			b.Fatal(err)
		}
		if a.After++; a.After%10_000 == 0 { // bounds the memory
			if err := m.Delete(ctx, "s", a.After); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkRead1000(b *testing.B) {
	m := &journal.MapStore{}
	for after := range uint64(1000) {
		require.NoError(b, m.Append(b.Context(), appendOne("s", after)))
	}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range m.Read(ctx, "s", 0) {
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
