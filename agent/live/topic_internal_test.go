package live

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// results publishes large results of a run.
func results(t *topic, n, size int) {
	for i := range n {
		text := strings.Repeat(string(rune('a'+i%26)), size)
		t.publish(&agent.ToolFinished{
			Meta: machine.Meta{Seq: t.seq + 1, Origin: &machine.Origin{Session: t.session, Run: "r"}},
			Result: &agent.ToolResult{ToolResult: provider.ToolResult{CallID: "c",
				Parts: []provider.Part{{Kind: provider.PartText, Text: text}}}}})
	}
}

func TestATopicKeepsABoundedNumberOfBytes(t *testing.T) {
	one := newTopic("s")
	one.readers = 1
	results(one, 300, 64<<10)
	require.LessOrEqual(t, one.bytes, keepBytes)
	require.GreaterOrEqual(t, one.bytes, keepBytes/2-(65<<10))
	require.Equal(t, 300, one.head(), "what was dropped counts")
	require.Len(t, one.sizes, len(one.events))

	results(one, 1, keepBytes+1) // a single event may be larger
	require.Len(t, one.events, 1)

	results(one, 3000, 10)
	require.LessOrEqual(t, len(one.events), 2*keep)
	require.Less(t, one.bytes, keepBytes/4)
}

func TestATopicWithoutReadersKeepsNoEvents(t *testing.T) {
	one := newTopic("s")
	results(one, 100, 10)
	require.Empty(t, one.events)
	require.Equal(t, 100, one.head())
	one.readers++
	results(one, 3, 10)
	require.Len(t, one.events, 3)
	h := &Hub{topics: map[string]*topic{"s": one}}
	h.part(one)
	require.Empty(t, one.events)
	require.Equal(t, 103, one.head())
	require.Zero(t, one.bytes)
}
