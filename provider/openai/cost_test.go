package openai

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

func TestAChunkCostsTheSameInALongAnswer(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, api := range []API{Chat, Responses} {
		m, err := New(Config{Model: "m", APIKey: "k", BaseURL: "http://example.com", API: api})
		require.NoError(t, err)
		per := func(n int) float64 {
			body := long(api, n)
			return testing.AllocsPerRun(5, func() {
				a := &answer{m: m, Answer: adapter.Answer{Model: "m", Names: adapter.NewNames(nil),
					Yield: func(provider.Chunk) bool { return true }}}
				read(a, a.decoder(), strings.NewReader(body))
			}) / float64(n)
		}
		short, long := per(100), per(10_000)
		require.LessOrEqual(t, long, short, "%s: %v allocations a chunk, %v in a long answer", api, short, long)
		require.LessOrEqual(t, long, 12.5, "%s: allocations a chunk", api)
	}
}
