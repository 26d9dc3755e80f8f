package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
)

// Only pieces of the same part of one model call are joined, and the events stay as they are.
func TestPiecesOfOneTextAreJoined(t *testing.T) {
	piece := func(step, index int, text string) *agent.TextDelta {
		return &agent.TextDelta{NoteMeta: agent.NoteMeta{Step: step}, Index: index, Text: text}
	}
	reset := &agent.Reset{}
	for name, c := range map[string]struct {
		events []agent.Event
		text   string
		n      int
	}{
		"one":                {[]agent.Event{piece(1, 0, "a")}, "a", 1},
		"all":                {[]agent.Event{piece(1, 0, "a"), piece(1, 0, "b"), piece(1, 0, "c")}, "abc", 3},
		"another part":       {[]agent.Event{piece(1, 0, "a"), piece(1, 0, "b"), piece(1, 1, "c")}, "ab", 2},
		"another model call": {[]agent.Event{piece(1, 0, "a"), piece(2, 0, "b")}, "a", 1},
		"another event":      {[]agent.Event{piece(1, 0, "a"), reset, piece(1, 0, "b")}, "a", 1},
	} {
		first := c.events[0].(*agent.TextDelta).Text
		ev, n := joined(c.events)
		require.Equal(t, c.text, ev.(*agent.TextDelta).Text, name)
		require.Equal(t, c.n, n, name)
		require.Equal(t, first, c.events[0].(*agent.TextDelta).Text, name)
	}
	ev, n := joined([]agent.Event{reset, piece(1, 0, "a")})
	require.Same(t, reset, ev)
	require.Equal(t, 1, n)
}
