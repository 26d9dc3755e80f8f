package fantasy

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/bench/loop"
)

var rounds = flag.Int("shares", 1, "rounds in which TestTimes measures; it logs the medians")

// TestTimes logs what Pawl takes of fantasy's time and allocations. It asserts that both sides do
// the same.
func TestTimes(t *testing.T) {
	for _, s := range loop.Shapes {
		var counts [2]loop.Counts
		pawl, err := loop.NewPawl(s, &counts[0])
		require.NoError(t, err)
		peer := New(s, &counts[1])
		for i, run := range []loop.Run{pawl, peer} {
			n, err := run(t.Context())
			require.NoError(t, err)
			require.Equal(t, s.Text*len(loop.Chunk), n)
			require.EqualValues(t, s.Steps+1, counts[i].Models.Load(), "model calls")
			require.EqualValues(t, s.Steps*s.Calls, counts[i].Tools.Load(), "tool calls")
		}
		share, err := loop.Compare(t.Context(), pawl, peer, max(1, *rounds))
		require.NoError(t, err)
		t.Logf("%-9s time %.2f (%.2f to %.2f: %.0f and %.0f µs), CPU %.2f (%.0f and %.0f µs), allocations %.2f "+
			"(%.0f and %.0f)", s, share.Time, share.Lowest, share.Highest, share.Pawl.Time/1e3, share.Peer.Time/1e3,
			share.CPU, share.Pawl.CPU/1e3, share.Peer.CPU/1e3, share.Allocations, share.Pawl.Allocations,
			share.Peer.Allocations)
	}
}

func BenchmarkLoop(b *testing.B) {
	for _, s := range loop.Shapes {
		pawl, err := loop.NewPawl(s, new(loop.Counts))
		require.NoError(b, err)
		for name, run := range map[string]loop.Run{"pawl": pawl, "fantasy": New(s, new(loop.Counts))} {
			b.Run(s.String()+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := run(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
