package memory_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// TestALargeResultIsCutToItsShareOfTheWindowWhenItComesIn has a result that would fit, and belongs
// to the step under way.
func TestALargeResultIsCutToItsShareOfTheWindowWhenItComesIn(t *testing.T) {
	store := &memory.MapStore{}
	text := strings.Repeat("The quick brown fox. ", 2_000)
	c, err := memory.New(memory.Config{Window: memory.Window{Size: 100_000}, ResultShare: .1, Whole: store})
	require.NoError(t, err)
	req := &provider.Request{Messages: []provider.Message{
		provider.User("read"),
		{Role: provider.RoleAssistant,
			Parts: []provider.Part{{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "c", Name: "read"}}}},
		{Role: provider.RoleTool,
			Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: "c",
				Parts: []provider.Part{provider.TextPart(text)}})}},
	}}
	p, err := c.Prepare(t.Context(), req, memory.Context{})
	require.NoError(t, err)
	require.Equal(t, "large result", p.Report.Trigger)
	require.LessOrEqual(t, p.Count.Total, 10_000+100)
	require.Greater(t, p.Count.Total, 8_000, "the share is used")
	short := p.Messages[2].Parts[0].Result.Parts[0].Text
	require.Contains(t, short, memory.HandleOf(text))
	whole, err := store.Get(t.Context(), memory.HandleOf(text))
	require.NoError(t, err)
	require.Equal(t, text, whole)
	require.Equal(t, text, memory.ResultText(req.Messages[2].Parts[0].Result.Parts), "what was given isn't changed")

	again := *req
	again.Messages = p.Messages
	p, err = c.Prepare(t.Context(), &again, memory.Context{})
	require.NoError(t, err)
	require.Nil(t, p.Report, "it is cut once")

	_, err = memory.New(memory.Config{ResultShare: 2})
	require.ErrorContains(t, err, "Config.ResultShare is 2; it is a share of the window, from 0 to 1")
}
