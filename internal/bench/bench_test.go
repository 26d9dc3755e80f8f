package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

type runner = func(context.Context) (int, error)

func runners(tb testing.TB, s Shape) map[string]runner {
	pawl, err := NewPawl(s)
	require.NoError(tb, err)
	eino, err := NewEino(tb.Context(), s)
	require.NoError(tb, err)
	return map[string]runner{"pawl": pawl, "eino": eino}
}

func BenchmarkLoop(b *testing.B) {
	for _, s := range Shapes {
		all := runners(b, s.Shape)
		for _, name := range []string{"eino", "pawl"} {
			b.Run(s.String()+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if n, err := all[name](b.Context()); err != nil || n != s.Text*len(chunk) {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}
