package ratelimit

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheHeapOfVictimsStaysInOrder puts calls in and takes them out at random, and looks for the next victim the long way.
func TestTheHeapOfVictimsStaysInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var heap victims
	var all []*slot
	for i := range 5000 {
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
		for _, s := range all {
			first := heap[0]
			require.False(t, s.rank < first.rank || s.rank == first.rank && s.started > first.started)
			require.Same(t, s, heap[s.at])
		}
	}
}
