package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// TestANoteIsNotShownAfterFactsThatItComesBefore has a reader that has read the journal further
// than its topic has got.
func TestANoteIsNotShownAfterFactsThatItComesBefore(t *testing.T) {
	origin := &machine.Origin{Session: "s", Run: "r"}
	note := func(text string) agent.Event {
		return &agent.TextDelta{NoteMeta: agent.NoteMeta{Origin: origin}, Text: text}
	}
	fact := func(seq uint64) agent.Event { return &agent.StepStarted{Meta: machine.Meta{Seq: seq, Origin: origin}} }
	var shown []agent.Event
	topic := newTopic("s")
	r := &reader{ctx: t.Context(), topic: topic, after: 3, passed: 1, yield: func(ev agent.Event, _ error) bool {
		shown = append(shown, ev)
		return true
	}}
	fresh, last := note("fresh"), fact(4)
	for _, ev := range []agent.Event{note("stale"), fact(2), note("stale, too"), fact(3), fresh, last} {
		require.NoError(t, r.showNext(ev))
	}
	require.Equal(t, []agent.Event{fresh, last}, shown)

	shown, r.after, topic.seq = nil, 5, 4 // a reader that joins has facts from the journal
	topic.call.add(note("stale"))
	require.NoError(t, r.catchUp(false))
	require.Empty(t, shown)
	r.after = 4
	require.NoError(t, r.catchUp(false))
	require.Len(t, shown, 1)
}
