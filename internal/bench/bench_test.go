package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/bench/loop"
)

// sides returns both sides, whose counts nobody reads.
func sides(tb testing.TB, s loop.Shape) map[string]loop.Run {
	return counted(tb, s, new(loop.Counts), new(loop.Counts))
}

// counted returns both sides.
func counted(tb testing.TB, s loop.Shape, pawl, eino *loop.Counts) map[string]loop.Run {
	newPawl := loop.NewPawl
	if *undeclared {
		newPawl = loop.NewPawlUndeclared
	}
	p, err := newPawl(s, pawl)
	require.NoError(tb, err)
	e, err := NewEino(tb.Context(), s, eino)
	require.NoError(tb, err)
	return map[string]loop.Run{"pawl": p, "eino": e}
}

// TestBothSidesDoTheSame compares what they did and what they streamed.
func TestBothSidesDoTheSame(t *testing.T) {
	for _, s := range loop.Shapes {
		var pawl, eino loop.Counts
		for name, run := range counted(t, s, &pawl, &eino) {
			n, err := run(t.Context())
			require.NoError(t, err, name)
			require.Equal(t, s.Text*len(loop.Chunk), n, name)
		}
		for _, counts := range []*loop.Counts{&pawl, &eino} {
			require.EqualValues(t, s.Steps+1, counts.Models.Load())
			require.EqualValues(t, s.Steps*s.Calls, counts.Tools.Load())
		}
	}
}

func BenchmarkLoop(b *testing.B) {
	for _, s := range loop.Shapes {
		all := sides(b, s)
		for _, name := range []string{"eino", "pawl"} {
			b.Run(s.String()+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if n, err := all[name](b.Context()); err != nil || n != s.Text*len(loop.Chunk) {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}
