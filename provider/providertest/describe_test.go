package providertest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

func TestATranscriptHasEveryPartAndNoIDs(t *testing.T) {
	call := func(id, input, invalid string) provider.Part {
		c := provider.ToolCall{ID: id, ProviderID: "p-" + id, Name: "look", Input: []byte(input), Invalid: invalid}
		return provider.Part{Kind: provider.PartToolCall, Call: &c, Opaque: &provider.Opaque{Provider: "p", Data: "s"}}
	}
	cat := provider.MediaPart(provider.Media{Type: "image/png", Name: "cat.png", Data: []byte{1, 2}})
	messages := func(id string) []provider.Message {
		return []provider.Message{
			{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("Look.\nTwice."), cat,
				provider.MediaPart(provider.Media{Type: "image/gif", URL: "https://example.com/a.gif"})}},
			{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartReasoning, Text: "Hm."},
				{Kind: provider.PartOpaque, Opaque: &provider.Opaque{Data: "secret"}},
				call(id+"1", `{"at":1}`, ""), call(id+"2", "", `{"at":`), call(id+"3", "", "")}},
			{Role: provider.RoleTool, Parts: []provider.Part{
				provider.ResultPart(provider.ToolResult{CallID: id + "1", Name: "look",
					Parts: []provider.Part{provider.TextPart("a cat"), cat}}),
				provider.ResultPart(provider.ToolResult{CallID: id + "2", Name: "look", Error: true,
					Parts: []provider.Part{provider.TextPart("no")}}),
				{Kind: provider.PartToolResult}}},
			{Role: provider.RoleAssistant, Parts: []provider.Part{
				{Kind: provider.PartProviderCall,
					Call: &provider.ToolCall{ID: id, Name: "search", Input: []byte(`{}`)}},
				{Kind: provider.PartProviderResult, Result: &provider.ToolResult{CallID: id, Name: "search"}},
				{Kind: provider.PartSource, Source: &provider.Source{URL: "https://example.com", Title: "Cats"}},
				{Kind: provider.PartRefusal, Text: "No."}, {Kind: "new"}, {Kind: provider.PartToolCall}}},
			{},
		}
	}
	want := `user: Look.
  Twice.
user shows image/png cat.png of 2 bytes
user shows image/gif https://example.com/a.gif
assistant thinks: Hm.
assistant calls look {"at":1}
assistant calls look {"at":
assistant calls look
result of look: a cat [image/png cat.png of 2 bytes]
failed result of look: no
result of nothing
assistant has the provider call search {}
result of search:
assistant cites https://example.com Cats
assistant refuses: No.
assistant has a part of kind "new"
assistant calls nothing
`
	require.Equal(t, want, Transcript(messages("r-1.")))
	require.Equal(t, Transcript(messages("r-1.")), Transcript(messages("r-2.")))
	require.Empty(t, Transcript(nil))
}

func TestAStepThatIsNextIsDescribed(t *testing.T) {
	for want, step := range map[string]Step{
		`assistant: Hi.`: Say("Hi."),
		`assistant thinks: Hm.; assistant calls look {"a":1}`: Reply(Think("Hm."), Call("look", `{"a":1}`)),
		`an empty reply`: Empty(),
		`it fails: provider scripted: 429 scripted failure (rate_limited)`: Fail(fault.RateLimited),
		`assistant: It; then it hangs`:                                     HangAfter(2, SayChunks("It", "is")),
		`it hangs`:                                                         Hang(),
		`assistant: It; then it is cut`:                                    Cut(2, SayChunks("It", "is")),
	} {
		r := &recorder{}
		Script(step).AssertDone(r)
		require.Contains(t, r.String(), "step 1 is next: "+want+"; the newest request")
	}
}

func TestAModelSaysWhatItWasToldOfItself(t *testing.T) {
	m := Script(Say("x"))
	info, known := provider.Info(m)
	require.True(t, known)
	require.Zero(t, info.Prices.Input)
	of := provider.ModelInfo{ID: "large", Window: 8000, Prices: &provider.Prices{Input: 2 * provider.USD}}
	require.Same(t, m, m.WithInfo(of))
	require.Equal(t, of, m.Info())
	named, known := m.InfoOf("small")
	require.True(t, known)
	of.ID = "small"
	require.Equal(t, of, named)
	window := m.WithInfo(provider.ModelInfo{Window: 500}).Info()
	require.Equal(t, 500, window.Window)
	require.Equal(t, info.Prices, window.Prices, "free of charge, as without")
}
