package ratelimit

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheHeapOfVictimsStaysInOrder adds and removes calls at random.
func TestTheHeapOfVictimsStaysInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var heap victims
	var all []*slot
	for i := range 2000 {
		if len(all) == 0 || r.IntN(len(all)+20) < 20 {
			s := &slot{started: uint64(i)}
			s.rank = uint8(1 + r.IntN(4))
			heap.push(s)
			all = append(all, s)
		} else {
			at := r.IntN(len(all))
			heap.remove(all[at])
			heap.remove(all[at]) // harmless
			all = append(all[:at], all[at+1:]...)
		}
		require.Len(t, heap, len(all))
		for at, s := range heap {
			require.Equal(t, at, s.at)
			parent := heap[max(at-1, 0)/2]
			require.False(t, s.rank < parent.rank || s.rank == parent.rank && s.started > parent.started)
		}
	}
}
