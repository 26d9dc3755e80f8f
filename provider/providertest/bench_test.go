package providertest

import (
	"context"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

func BenchmarkAScriptedReply(b *testing.B) {
	for name, step := range map[string]Step{
		"6words":   Say("It is 3 °C in Oslo."),
		"500words": Say(strings.Repeat("word ", 500)),
		"call":     Call("weather", map[string]string{"city": "Oslo"}),
	} {
		b.Run(name, func(b *testing.B) {
			m := Script(step)
			req := question("hello")
			b.ReportAllocs()
			for b.Loop() {
				m.Rewind()
				for _, err := range m.Stream(context.Background(), req) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func TestAReplyAllocatesNothingPerChunk(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	allocs := func(words int) float64 {
		m := Script(Say(strings.Repeat("word ", words)))
		req := &provider.Request{}
		return testing.AllocsPerRun(100, func() {
			m.Rewind()
			for _, err := range m.Stream(context.Background(), req) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	require.Equal(t, allocs(1), allocs(1000))
}
