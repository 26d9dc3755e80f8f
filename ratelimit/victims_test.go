package ratelimit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheCallToPreemptIsTheLastStartedOfTheLowestPriority lets calls start, end, be pinned and be
// preempted at random.
func TestTheCallToPreemptIsTheLastStartedOfTheLowestPriority(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var c calls
	var all []*slot
	for i := range 2000 {
		if len(all) == 0 || r.IntN(len(all)+20) < 20 {
			s := &slot{started: uint64(i)}
			s.rank = uint8(1 + r.IntN(4))
			c.slots, all = append(c.slots, s), append(all, s)
		} else {
			at := r.IntN(len(all))
			if r.IntN(2) == 0 {
				all[at].pinned = true
			} else {
				all[at].state = leaving
			}
			all = slices.Delete(all, at, at+1)
		}
		v := c.victim()
		if len(all) == 0 {
			require.Nil(t, v)
			continue
		}
		require.Contains(t, all, v)
		for _, s := range all {
			require.False(t, s.rank < v.rank || s.rank == v.rank && s.started > v.started)
		}
	}
}
