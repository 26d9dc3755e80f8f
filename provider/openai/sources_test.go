package openai

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A ruler, which gets a text in pieces, finds the same bytes as a look at the whole text.
func TestARulerFindsWhatIsInTheWholeText(t *testing.T) {
	words := []string{"a", "of the", "é", "schön", "日本", "🦫", " ", "e\u0301", "\ufffd"}
	for range 2000 {
		var r ruler
		var whole strings.Builder
		for range rand.IntN(12) {
			piece := words[rand.IntN(len(words))]
			r.add(piece)
			whole.WriteString(piece)
		}
		text := whole.String()
		chars := len([]rune(text))
		for range 10 {
			start, end := rand.IntN(chars+3)-1, rand.IntN(chars+3)-1
			from, to := byteRange(text, start, end)
			got, begins := r.at(start)
			until, ends := r.at(end)
			if !begins || !ends || got >= until {
				got, until = 0, 0
			}
			require.Equal(t, [2]int{from, to}, [2]int{got, until}, "%q %d %d", text, start, end)
		}
	}
}

func TestARulerGivesUpOnATextThatItCannotMeasure(t *testing.T) {
	var r ruler
	r.add("ab\xff")
	_, ok := r.at(1)
	require.False(t, ok)
	r = ruler{}
	r.add(strings.Repeat("aé", mostRuns))
	_, ok = r.at(1)
	require.False(t, ok)
	require.LessOrEqual(t, len(r.runs), mostRuns+1)
}
