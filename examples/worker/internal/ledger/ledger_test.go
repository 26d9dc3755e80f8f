package ledger_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
)

// A process that was held up may still be at a call that another one has begun since.
func TestAnEffectOfAStaleProcessIsRefused(t *testing.T) {
	l, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "example.db"))
	require.NoError(t, err)
	defer l.Close()
	old, newer := ledger.Call{ID: "c-1", Session: "s-1", Fence: 1}, ledger.Call{ID: "c-1", Session: "s-1", Fence: 2}
	for _, c := range []ledger.Call{old, newer} {
		_, err := l.Begin(t.Context(), c)
		require.NoError(t, err)
	}
	require.ErrorIs(t, l.Effect(t.Context(), old, 1), ledger.ErrStale)
	require.NoError(t, l.Effect(t.Context(), newer, 2, ledger.Artifact{Name: "a", Data: "text"}))
	newer.Once = true
	require.NoError(t, l.Effect(t.Context(), newer, 3, ledger.Artifact{Name: "a", Data: "other"}), "it has happened")
	effects, calls, err := l.EffectsOf(t.Context(), "s-1")
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{effects, calls})
	text, err := l.Artifact(t.Context(), "s-1", "a")
	require.NoError(t, err)
	require.Equal(t, "text", text)
}

func TestKillsAndBreaksOfRunsAreKnown(t *testing.T) {
	l, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "example.db"))
	require.NoError(t, err)
	defer l.Close()
	now := time.Now()
	for pid := range 2 {
		id, err := l.Join(t.Context(), pid)
		require.NoError(t, err)
		leg, err := l.BeginLeg(t.Context(), "s-1", id, now)
		require.NoError(t, err)
		require.NoError(t, l.Alive(t.Context(), id, map[int]string{leg: "Draft"}))
		require.NoError(t, l.LeftPID(t.Context(), 0, ledger.Killed))
	}
	legs, err := l.Legs(t.Context(), "s-1")
	require.NoError(t, err)
	require.Len(t, legs, 2)
	require.True(t, legs[0].Killed)
	require.True(t, legs[1].Open)
	require.Equal(t, "Draft", legs[1].Now)
	total, err := l.Totals(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, total.Kills)
}
