package intent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/intent"
)

func TestWhatATextDoesWithAWord(t *testing.T) {
	for mood, texts := range map[string]string{
		"requests":  `publish it; ok, could you please publish it?; Publish "don't stop"`,
		"mentions":  `we like to publish; publish it, but not today; can you publish posts?`,
		"forbids":   `don't publish it; never ever publish it; publish nothing`,
		"questions": `what does publish do?; why did you publish it`,
		"depends":   `if you publish it; once you publish it`,
		"reports":   `my boss said to publish it`,
		"retracts":  `publish it. Actually no, leave it.; publish it ... wait, no`,
		"oneself":   `I'll publish it`,
	} {
		for text := range strings.SplitSeq(texts, "; ") {
			seen := false
			for _, c := range intent.Read(text) {
				for i, w := range c.Words {
					if w == "publish" {
						seen = true
						require.Equal(t, mood, c.Mood(i, i, ""), text)
					}
				}
			}
			require.True(t, seen, text)
		}
	}
}

func TestTheClausesOfAText(t *testing.T) {
	r := intent.Read(`Leave it, "as it is". Or not?`)
	require.Len(t, r, 3)
	require.Equal(t, []string{"leave", "it"}, r[0].Words)
	require.Equal(t, []string{`""`, `""`, `""`}, r[1].Words)
	require.Equal(t, 1, r[2].Sentence)
	require.True(t, r[2].Asked)
	require.Equal(t, "mentions", intent.Read("without images")[0].Mood(0, 1, "without"))
	require.Equal(t, "forbids", intent.Read("without images")[0].Mood(0, 1, ""))
	require.Empty(t, intent.Read(""))
}
