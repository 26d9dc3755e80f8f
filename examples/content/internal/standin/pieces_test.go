package standin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/humanity"
)

func TestThePiecesAreWorthReading(t *testing.T) {
	kinds := map[string]int{}
	for _, p := range pieces {
		kinds[p.kind]++
		require.Len(t, p.sections, map[string]int{"blog": 6, "social_post": 5, "showcase": 5}[p.kind])
		var text strings.Builder
		for _, s := range p.sections {
			require.NotEmpty(t, s.point)
			text.WriteString("## " + s.heading + "\n\n" + s.body + "\n\n")
		}
		r := humanity.Check(text.String())
		require.Equal(t, "0 of 24 patterns found", r.Summary, "%s %v", p.subject, r.Found)
		require.Greater(t, r.Words, map[string]int{"blog": 500, "social_post": 80, "showcase": 300}[p.kind])
	}
	require.Equal(t, map[string]int{"blog": 2, "social_post": 2, "showcase": 2}, kinds)
}

func TestAPieceIsChosenByTheWordsOfTheTopicAndAdaptedToIt(t *testing.T) {
	work, craft := pieceFor("blog", "Hiring for remote teams"), pieceFor("blog", "Pricing pages")
	require.Contains(t, work.sections[0].body, "small question")
	require.Contains(t, craft.sections[0].body, "anything to do with pricing pages.")
	require.Contains(t, pieceFor("social_post", "UX design").sections[2].body, "which line of UX design they use")
	require.NotEmpty(t, pieceFor("showcase", "Beekeeping").sections)
	require.NotEmpty(t, pieceFor("", "").sections)
	for _, p := range pieces {
		for _, s := range pieceFor(p.kind, strings.Join(p.words, " ")).sections {
			require.NotContains(t, s.body, "{topic}")
		}
	}
}
