package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// transcriptEach is how many bytes of one text a [Transcript] has.
const transcriptEach = 4_000

// Transcript returns a conversation as text for a reader that is no part of it: who said what,
// calls and results, a line or more each; of a text above 4,000 bytes the beginning and the end. It
// takes at most that many tokens by c (nil: an Estimator of an unknown model): of what is longer
// the end is kept, and a line says how many groups were left out. What a model thought isn't in it.
func Transcript(c Counter, messages []provider.Message, tokens int) string {
	if c == nil {
		c = NewEstimator(provider.ModelInfo{})
	}
	if tokens <= 20 {
		return ""
	}
	groups := groupsOf(messages, func(int) int { return 0 })
	var texts []string // newest first
	left := 0
	room := tokens - 20 // the line that says what was left out
	for i := len(groups) - 1; i >= 0; i-- {
		var w textWriter
		render(&w, &groups[i], transcriptEach)
		text := w.String()
		n := c.CountText(text) + 1
		if n > room {
			if len(texts) == 0 { // something of the newest, however long it is
				if text, _ = CutText(c, text, "[… %d bytes …]", room); c.CountText(text) <= room {
					texts = append(texts, text)
					i--
				}
			}
			left = i + 1
			break
		}
		room -= n
		if text != "" {
			texts = append(texts, text)
		}
	}
	slices.Reverse(texts)
	if left > 0 {
		texts = slices.Insert(texts, 0, fmt.Sprintf("[%d earlier exchanges are left out here]", left))
	}
	return strings.Join(texts, "\n")
}
