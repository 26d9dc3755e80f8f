package journaltest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
)

func TestAStoreDiesAfterSoManyAppends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		d := journaltest.Dying(store, 2)
		lease, err := d.Lease(t.Context(), "s", "a", time.Minute)
		require.NoError(t, err)
		add := func(seq uint64) error {
			return d.Append(t.Context(), journal.Append{Session: "s", After: seq - 1, Fence: lease.Fence,
				Records: []journal.Record{{Seq: seq, Kind: "k", Time: time.Now(), Data: []byte(`{}`)}}})
		}
		require.NoError(t, add(1))
		require.NoError(t, add(2))
		require.NoError(t, d.Release(t.Context(), lease), "it lives")
		lease, err = d.Lease(t.Context(), "s", "a", time.Minute)
		require.NoError(t, err)
		require.ErrorIs(t, add(3), journal.ErrUnusable)
		require.ErrorIs(t, d.Release(t.Context(), lease), journal.ErrUnusable)
		_, err = store.Lease(t.Context(), "s", "b", time.Minute)
		require.ErrorAs(t, err, new(*journal.HeldError))
		time.Sleep(2 * time.Minute)
		_, err = store.Lease(t.Context(), "s", "b", time.Minute)
		require.NoError(t, err)
		head, err := store.Head(t.Context(), "s")
		require.NoError(t, err)
		require.EqualValues(t, 2, head.Seq)
	})
}
