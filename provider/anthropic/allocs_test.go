//go:build !race

package anthropic_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/anthropic"
)

func TestTheCostOfAChunkDoesNotGrowWithTheAnswer(t *testing.T) {
	perChunk := func(n int) float64 {
		m, err := anthropic.New(anthropic.Config{APIKey: "k", HTTPClient: &http.Client{Transport: rewound(long(n))}})
		require.NoError(t, err)
		all := testing.AllocsPerRun(3, func() {
			for _, err := range m.Stream(t.Context(), ask("x")) {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		return all / float64(n)
	}
	short, tall := perChunk(1000), perChunk(20_000)
	require.LessOrEqual(t, tall, short, "allocations a chunk, of 20,000 and of 1,000")
	require.LessOrEqual(t, tall, 12.0)
}
