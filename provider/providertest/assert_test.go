package providertest

import (
	"strings"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

// asked returns a model that was called once with a request that holds something of everything.
func asked(t *testing.T, steps ...Step) *Model {
	m := Script(steps...)
	call := provider.Part{Kind: provider.PartToolCall,
		Call: &provider.ToolCall{Name: "weather", Input: []byte(`{"city":"Oslo"}`)}}
	req := &provider.Request{
		System: "Be brief.",
		Messages: []provider.Message{
			provider.User("How cold is it in Oslo?"),
			{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartReasoning, Text: "Hm."},
				provider.TextPart("Let me see."), call}},
			{Role: provider.RoleTool,
				Parts: []provider.Part{provider.ResultPart(provider.ToolResult{Name: "weather",
					Parts: []provider.Part{provider.TextPart("3 degrees")}})}},
			{Role: provider.RoleUser, Parts: []provider.Part{provider.MediaPart(provider.Media{Type: "image/png"})}},
		},
		Tools: []provider.Tool{{Name: "weather"}, {Name: "cms.createPage"}},
	}
	_, err := provider.Generate(t.Context(), m, req)
	require.NoError(t, err)
	return m
}

func TestWhatIsTruePasses(t *testing.T) {
	m := asked(t, Say("x"))
	m.AssertDone(t)
	m.AssertCalls(t, 1)
	m.AssertTools(t, 0, "weather", "cms.createPage")
	m.AssertSaw(t, 0, ToolResult("weather"), ToolResultText("weather", "3 deg"), UserText("Oslo"), AssistantText("see"),
		SystemText("brief"), Matcher{})
	m.AssertDidNotSee(t, 0, ToolResult("cms.createPage"), ToolResultText("weather", "4"), UserText("see"),
		AssistantText("Oslo"), SystemText("Oslo"), Matcher{})
}

func TestWhatIsFalseFailsAndShowsTheRequest(t *testing.T) {
	m := asked(t, Say("x"), Say("y"))
	for name, c := range map[string]struct {
		assert func(t testing.TB)
		says   []string
	}{
		"done":  {m.AssertDone, []string{"has 2 steps, and 1 was used", "step 2 is next: assistant: y;", "Oslo"}},
		"calls": {func(t testing.TB) { m.AssertCalls(t, 3) }, []string{"there was 1 call, not 3"}},
		"tools": {func(t testing.TB) {
			m.AssertTools(t, 0, "weather")
		}, []string{"request 0 offered the tools weather, cms.createPage, not weather"}},
		"tools' order": {func(t testing.TB) {
			m.AssertTools(t, 0, "cms.createPage", "weather")
		}, []string{"not cms.createPage, weather"}},
		"no tools": {func(t testing.TB) { m.AssertTools(t, 0) }, []string{"not none"}},
		"result": {func(t testing.TB) {
			m.AssertSaw(t, 0, ToolResult("x"))
		}, []string{"no result of x", "result of weather: 3 degrees", `assistant calls weather {"city":"Oslo"}`,
			"assistant thinks: Hm.", "user shows image/png"}},
		"result text": {func(t testing.TB) {
			m.AssertSaw(t, 0, ToolResultText("weather", "4"))
		}, []string{`no result of weather with "4"`}},
		"user": {func(t testing.TB) {
			m.AssertSaw(t, 0, UserText("Rome"))
		}, []string{`no user message with "Rome"`, "user: How cold"}},
		"assistant": {func(t testing.TB) {
			m.AssertSaw(t, 0, AssistantText("Rome"))
		}, []string{"no assistant message"}},
		"system": {func(t testing.TB) {
			m.AssertSaw(t, 0, SystemText("long"))
		}, []string{"no system text", `system: "Be brief."`}},
		"unwanted": {func(t testing.TB) {
			m.AssertDidNotSee(t, 0, ToolResult("weather"))
		}, []string{"carried a result of weather"}},
		"no request": {func(t testing.TB) {
			m.AssertSaw(t, 1, ToolResult("weather"))
		}, []string{"there is no request 1; there was 1 call"}},
		"below zero":   {func(t testing.TB) { m.AssertTools(t, -1) }, []string{"no request -1"}},
		"none unseen":  {func(t testing.TB) { m.AssertDidNotSee(t, 7) }, []string{"no request 7"}},
		"never called": {Script(Say("x")).AssertDone, []string{"has 1 step, and 0 were used", "none"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &recorder{}
			c.assert(r)
			require.Len(t, r.failures, 1)
			for _, s := range c.says {
				require.Contains(t, r.failures[0], s)
			}
		})
	}
}

func TestCallsBeyondTheScriptAreNotDone(t *testing.T) {
	m := asked(t, Say("x"))
	_, err := provider.Generate(t.Context(), m, &provider.Request{})
	require.Error(t, err)
	r := &recorder{}
	m.AssertDone(r)
	require.Contains(t, r.String(), "has 1 step, and there were 2 calls")
}

func TestALongRequestIsShownShort(t *testing.T) {
	req := &provider.Request{System: strings.Repeat("ü", 10_000)}
	for range 500 {
		req.Messages = append(req.Messages, provider.User(strings.Repeat("word ", 10_000)))
	}
	text := describe(req)
	require.Less(t, len(text), 5000)
	require.Contains(t, text, "488 messages")
	require.NotContains(t, text, "\\x")
}
