package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/roletest"
)

const appendsEach = 5000

// race appends records of its own to a session to which another process appends too. After the
// first one it waits for the other.
func race(args []string) error {
	ctx := context.Background()
	me, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	st, err := OpenWith(args[0], Config{Durability: Process, OnRepair: func(r Repair) { panic(fmt.Sprint(r)) }})
	if err != nil {
		return err
	}
	defer st.Close()
	after := uint64(0)
	for n := 0; n < appendsEach; {
		err := st.Append(ctx, journal.Append{Session: "s", After: after, Records: []journal.Record{mine(me, n)}})
		var conflict *journal.ConflictError
		switch {
		case err == nil:
			n++
			after++
			if n == 1 {
				roletest.Ready()
			}
		case errors.As(err, &conflict) && !conflict.Stale() && conflict.HaveSeq > after:
			after = conflict.HaveSeq
		default:
			return fmt.Errorf("append %d: %w", n, err)
		}
	}
	late := journal.Append{Session: "s", After: after - 1, Records: []journal.Record{mine(me, -1)}}
	if err := st.Append(ctx, late); !errors.As(err, new(*journal.ConflictError)) {
		return fmt.Errorf("an append where another stands: %w", err)
	}
	return nil
}

func mine(me, n int) journal.Record {
	return journal.Record{Kind: "race", V: me, Time: time.Unix(int64(n), 0),
		Data: fmt.Appendf(nil, `"%0*d"`, 1+n%300, n)}
}

func TestTwoProcessesThatAppendToOneSessionLoseNothing(t *testing.T) {
	dir := t.TempDir()
	a, b := roletest.Start(t, "race", dir, "0"), roletest.Start(t, "race", dir, "1")
	roletest.Together(t, a, b)
	a.End(t)
	b.End(t)
	next := make([]int, 2)
	turns, writer := 0, -1
	for _, r := range read(t, openAt(t, dir, Config{}), "s", 0) {
		want := mine(r.V, next[r.V])
		require.True(t, want.Equal(r), "record %d: got %+v, want %+v", r.Seq, r, want)
		next[r.V]++
		if r.V != writer {
			turns, writer = turns+1, r.V
		}
	}
	t.Logf("%d turns", turns)
	require.Equal(t, []int{appendsEach, appendsEach}, next)
}

// busy posts, appends and prunes until it is killed, and prints the number of the last record after
// each append. The number of a record determines its content.
func busy(args []string) error {
	ctx := context.Background()
	d, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	st, err := OpenWith(args[0], Config{Durability: Durability(d)})
	if err != nil {
		return err
	}
	st.every = 2000
	l, err := st.Lease(ctx, "s", "busy", time.Hour)
	if err != nil {
		return err
	}
	h, err := st.Head(ctx, "s")
	if err != nil {
		return err
	}
	for at := h.Seq; ; {
		id := fmt.Sprint("i-", at)
		if err := st.Post(ctx, "s", journal.Item{ID: id, Kind: "k"}); err != nil &&
			!errors.As(err, new(*journal.PostedError)) {
			return err
		}
		a := journal.Append{Session: "s", After: at, Fence: l.Fence, Taken: []string{id}}
		for range 1 + at%4 {
			at++
			a.Records = append(a.Records, busyRecord(at))
		}
		a.Head = &journal.HeadUpdate{Status: fmt.Sprint(at)}
		if err := st.Append(ctx, a); err != nil {
			return err
		}
		fmt.Println(at)
		if at > 100 && at%7 == 0 {
			if err := st.Delete(ctx, "s", at-100); err != nil {
				return err
			}
		}
	}
}

func busyRecord(n uint64) journal.Record {
	return journal.Record{Kind: "busy", V: int(n), Data: bytes.Repeat([]byte{byte(n)}, int(n*37%600))}
}

func TestAProcessKilledAtAnyMomentLosesNothing(t *testing.T) {
	const kills = 50
	dir := t.TempDir()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	last := uint64(0)
	for kill := range kills {
		p := roletest.Start(t, "busy", dir, strconv.Itoa(min(kill%10, int(Process))))
		for left := 1 + rnd.IntN(60); ; left-- {
			line := p.Line()
			if line == "" {
				require.LessOrEqual(t, left, 0, "the process ended by itself")
				break
			}
			at, err := strconv.ParseUint(line, 10, 64)
			require.NoError(t, err)
			require.Greater(t, at, last)
			last = at
			if left == 0 {
				require.NoError(t, p.Process.Kill())
			}
		}
		require.Error(t, p.Wait())

		st, err := OpenWith(dir, Config{Durability: Process}) // may have something to repair
		require.NoError(t, err)
		h, err := st.Head(t.Context(), "s")
		require.NoError(t, err)
		require.GreaterOrEqual(t, h.Seq, last)
		require.Equal(t, fmt.Sprint(h.Seq), h.Status)
		require.LessOrEqual(t, h.Inbox, 1)
		records := read(t, st, "s", h.Pruned)
		require.Len(t, records, int(h.Seq-h.Pruned))
		for _, r := range records {
			require.True(t, busyRecord(r.Seq).Equal(r), "record %d: %+v", r.Seq, r)
		}
		require.NoError(t, st.Close())
		last = h.Seq
	}
}

// A store that has a session open sees the appends, leases, pruning and deletion of another store.
func TestStoresOfOneDirectorySeeEachOther(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	a, b := openAt(t, dir, Config{}), openAt(t, dir, Config{Durability: Process})
	require.NoError(t, a.Append(ctx, one("s", 0)))
	require.NoError(t, b.Append(ctx, one("s", 1)))
	require.Len(t, read(t, a, "s", 0), 2)
	var conflict *journal.ConflictError
	other := one("s", 1)
	other.Records[0].V++
	require.ErrorAs(t, a.Append(ctx, other), &conflict)
	require.NoError(t, a.Append(ctx, one("s", 1)), "the same again, from elsewhere")

	first, err := a.Lease(ctx, "s", "a", time.Hour)
	require.NoError(t, err)
	var held *journal.HeldError
	_, err = b.Lease(ctx, "s", "b", time.Hour)
	require.ErrorAs(t, err, &held)
	require.NoError(t, b.Post(ctx, "s", journal.Item{ID: "i", Kind: "k"}))
	items, err := a.Take(ctx, "s", first.Fence)
	require.NoError(t, err)
	require.Len(t, items, 1)

	_, err = a.Renew(ctx, first, 1) // one nanosecond
	require.NoError(t, err)
	second, err := b.Lease(ctx, "s", "b", time.Hour)
	require.NoError(t, err)
	require.Greater(t, second.Fence, first.Fence)
	third := one("s", 2)
	third.Fence = first.Fence
	require.ErrorAs(t, a.Append(ctx, third), &conflict)
	require.True(t, conflict.Stale())
	require.Equal(t, "b", conflict.Owner)

	require.NoError(t, b.Delete(ctx, "s", 1))
	var pruned *journal.PrunedError
	for _, err := range a.Read(ctx, "s", 0) {
		require.ErrorAs(t, err, &pruned)
	}
	require.Len(t, read(t, a, "s", 1), 1)

	require.NoError(t, b.Delete(ctx, "s", journal.All))
	_, err = a.Head(ctx, "s")
	require.ErrorIs(t, err, journal.ErrNoSession)
	require.NoError(t, a.Append(ctx, one("s", 0)))
	again, err := b.Lease(ctx, "s", "b", time.Hour)
	require.NoError(t, err)
	require.Greater(t, again.Fence, second.Fence)
}
