package provider_test

import (
	"encoding/json"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

func TestTheNewestUserText(t *testing.T) {
	require.Empty(t, (&provider.Request{}).LastUserText())
	req := &provider.Request{Messages: []provider.Message{
		provider.User("old"),
		{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("new"), provider.MediaPart(provider.Media{}),
			provider.TextPart("est"),
			{Kind: provider.PartReasoning, Text: "not said"}}},
		provider.Assistant("answer"),
		{Role: provider.RoleTool,
			Parts: []provider.Part{
				provider.ResultPart(provider.ToolResult{Parts: []provider.Part{provider.TextPart("result")}})}},
	}}
	require.Equal(t, "newest", req.LastUserText())
	require.Equal(t, "result", req.Messages[3].Parts[0].Result.Text())
	require.Empty(t, req.Messages[3].Text())
}

func TestCallsOfAMessageAreThoseOfTheHost(t *testing.T) {
	m := provider.Message{Parts: []provider.Part{
		{Kind: provider.PartProviderCall, Call: &provider.ToolCall{Name: "theirs"}},
		{Kind: provider.PartToolCall, Call: &provider.ToolCall{Name: "ours"}},
		{Kind: provider.PartToolCall},
	}}
	calls := m.Calls()
	require.Len(t, calls, 1)
	require.Same(t, m.Parts[1].Call, calls[0])
}

func TestACloneMayBeChanged(t *testing.T) {
	original := full["request"].(*provider.Request)
	before := string(plain(t, original, ""))
	c := original.Clone()
	require.Equal(t, original, c)

	c.Model, c.System, c.ToolChoice.Tool, c.Labels.Run = "other", "other", "other", "other"
	c.Messages[0] = provider.User("other")
	c.Messages = append(c.Messages[:1], provider.User("more"))
	c.Tools[0].Name = "other"
	*c.Sampling = provider.Sampling{}
	c.Reasoning.Budget = 1
	c.Output.Name = "other"
	c.Options["more"] = json.RawMessage(`1`)
	require.Equal(t, before, string(plain(t, original, "")))

	stop := original.Clone()
	stop.Sampling.Stop[0] = "other"
	require.Equal(t, before, string(plain(t, original, "")))
	require.Equal(t, &provider.Request{}, (&provider.Request{}).Clone())
}
