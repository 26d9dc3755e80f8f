package loop

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCompareDividesPawlsFiguresByThePeers has a peer that allocates twice as much, and counts
// whose turn is first.
func TestCompareDividesPawlsFiguresByThePeers(t *testing.T) {
	var kept []byte
	var turns []string
	allocates := func(name string, n int) Run {
		return func(context.Context) (int, error) {
			if len(turns) == 0 || turns[len(turns)-1] != name {
				turns = append(turns, name)
			}
			for range n {
				kept = make([]byte, 64)
			}
			return len(kept), nil
		}
	}
	share, err := Compare(t.Context(), allocates("pawl", 50), allocates("peer", 100), 2)
	require.NoError(t, err)
	require.InDelta(t, .5, share.Allocations, .02)
	require.InDelta(t, 50, share.Pawl.Allocations, 1)
	require.InDelta(t, 100, share.Peer.Allocations, 1)
	require.LessOrEqual(t, share.Lowest, share.Highest)
	require.Equal(t, []string{"peer", "pawl", "peer"}, turns, "the second round begins with the other side")
}

func TestMedian(t *testing.T) {
	require.EqualValues(t, 3, Median([]float64{9, 1, 3}))
	require.EqualValues(t, 2, Median([]float64{9, 3, 1, 1}))
}
