package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

func TestATranscriptKeepsTheEndOfALongConversation(t *testing.T) {
	var messages []provider.Message
	for i := range 200 {
		messages = append(messages, step(fmt.Sprint(i), "look", fmt.Sprintf(`{"n":%d}`, i),
			fmt.Sprintf("result %d of %s", i, strings.Repeat("word ", 100)))...)
	}
	c := memory.NewEstimator(provider.ModelInfo{})
	for _, most := range []int{200, 1_000, 10_000} {
		text := memory.Transcript(c, messages, most)
		require.LessOrEqual(t, c.CountText(text), most)
		require.Contains(t, text, "result 199 of")
		require.Contains(t, text, `call look {"n":199}`)
		require.NotContains(t, text, "result 0 of")
		require.Contains(t, text, "earlier exchanges are left out here")
	}
	whole := memory.Transcript(nil, messages, 1_000_000)
	require.Contains(t, whole, "result 0 of")
	require.NotContains(t, whole, "left out")
	require.Empty(t, memory.Transcript(c, nil, 1_000))
}

func TestATranscriptOfOneHugeMessageFits(t *testing.T) {
	c := memory.NewEstimator(provider.ModelInfo{})
	text := memory.Transcript(c, []provider.Message{provider.User("begin " + strings.Repeat("word ", 100_000) + "end")},
		300)
	require.LessOrEqual(t, c.CountText(text), 300)
	require.Contains(t, text, "begin")
	require.Contains(t, text, "end")
	require.Empty(t, memory.Transcript(c, []provider.Message{provider.User("x")}, 0))
}
