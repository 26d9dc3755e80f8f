package provider_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

// TestTextIsWhatCameInPiecesOfAnyLength, whenever it is asked for.
func TestTextIsWhatCameInPiecesOfAnyLength(t *testing.T) {
	for _, lengths := range [][]int{{1}, {20}, {199, 1}, {200}, {201}, {199, 2}, {1, 200}, {150, 50, 1}, {500, 1, 3},
		{0, 7, 0, 4000}} {
		for _, every := range []int{1, 7, 1000} {
			var c provider.Collector
			require.NoError(t, c.Add(provider.Start("m")))
			want, early := "", ""
			for n := range 60 {
				piece := strings.Repeat(string(rune('a'+n%26)), lengths[n%len(lengths)])
				require.NoError(t, c.Add(provider.Text(piece)))
				want += piece
				if n%every == 0 {
					early = c.Response().Text()
					require.Equal(t, want, early)
				}
				require.Equal(t, want[:len(early)], early, "what was handed out stays")
			}
			require.Equal(t, want, c.Response().Text())
		}
	}
}
