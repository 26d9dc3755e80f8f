package memory_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// waiting is a reply with two calls, of which one has a result.
func waiting(result string) []provider.Message {
	call := func(id string) provider.Part {
		return provider.Part{Kind: provider.PartToolCall,
			Call: &provider.ToolCall{ID: id, Name: "cms.delete", Input: json.RawMessage(`{}`)}}
	}
	return []provider.Message{
		{Role: provider.RoleAssistant, Parts: []provider.Part{call("asked"), call("ran")}},
		{Role: provider.RoleTool,
			Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: "ran",
				Parts: []provider.Part{provider.TextPart(result)}})}},
	}
}

func TestACallThatWaitsStaysHoweverOldItIs(t *testing.T) {
	c, err := memory.New(memory.Config{})
	require.NoError(t, err)
	out, err := c.Compact(t.Context(), &provider.Request{Messages: talk("go", waiting(strings.Repeat("word ", 3_000)))},
		memory.Context{}, 0, nil)
	require.NoError(t, err)
	require.Contains(t, results(out.Messages), "ran")
	require.False(t, out.Report.Changed())
}

func TestNothingOfAnOpenPauseIsCutForRoom(t *testing.T) {
	c, err := memory.New(memory.Config{Window: memory.Window{Size: 8_192}})
	require.NoError(t, err)
	req := &provider.Request{Messages: append([]provider.Message{provider.User("go")},
		waiting(strings.Repeat("word ", 8_000))...)}
	_, err = c.Prepare(t.Context(), req, memory.Context{})
	require.ErrorIs(t, err, memory.ErrContextTooLarge)
}

// TestAReplyNeverFollowsAReply drops messages of the user that stood between replies, at two
// places.
func TestAReplyNeverFollowsAReply(t *testing.T) {
	long := strings.Repeat("word ", 100)
	messages := talk("go", []provider.Message{
		provider.Assistant("one"), provider.User(long), provider.Assistant("two"), provider.User(long),
		provider.Assistant("three"), provider.User("now"),
	})
	drop := strategy{"drop", func(v *memory.View) (edits []memory.Edit, err error) {
		for i := range v.Groups {
			if v.Groups[i].Kind == memory.KindUser && v.Groups[i].Pinned == "" {
				edits = append(edits, memory.Edit{Group: i, Drop: true})
			}
		}
		return edits, nil
	}}
	out := compact(t, memory.Config{}, 0, messages, memory.Step{Strategy: drop}) // holds the roles
	require.Len(t, out.Messages, len(messages), "a note in each place")
	require.Equal(t, 2, strings.Count(asJSON(t, out.Messages), "left out here"))
}

func TestWhatAnAgentTellsIsNotTheUsersWords(t *testing.T) {
	told := memory.HostMessage("mind the gap")
	require.True(t, memory.IsHostMessage(&told))
	require.False(t, memory.IsHostMessage(nil))
	said := provider.User("mind the gap")
	require.False(t, memory.IsHostMessage(&said))

	messages := []provider.Message{memory.HostMessage("before all"), provider.User("the goal"),
		provider.User("delete nothing")}
	for i := range 30 {
		messages = append(messages, step(fmt.Sprint(i), "look", "{}", strings.Repeat("word ", 200))...)
		messages = append(messages, memory.HostMessage(fmt.Sprint("warning ", i, " ", strings.Repeat("x ", 50))))
	}
	c, err := memory.New(memory.Config{Window: memory.Window{Size: 8_000}, Keep: 1,
		Steps: []memory.Step{{Strategy: memory.Slide{}}}})
	require.NoError(t, err)
	out, err := c.Prepare(t.Context(), &provider.Request{Messages: messages}, memory.Context{Screen: "page 42"})
	require.NoError(t, err)
	text := asJSON(t, out.Request.Messages)
	for _, want := range []string{"the goal", "delete nothing", "warning 29 "} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "warning 0 ")
	require.NotContains(t, text, "before all")
	for _, m := range out.Request.Messages {
		require.Equal(t, m.Role == provider.RoleUser && strings.Contains(m.Text(), "delete nothing"),
			strings.Contains(m.Text(), "page 42"))
	}
	allowed(t, out.Messages)
}

func TestWhatAnAgentTellsLastStaysUntilTheModelIsAsked(t *testing.T) {
	messages := []provider.Message{provider.User("the goal")}
	for i := range 30 {
		messages = append(messages, step(fmt.Sprint(i), "look", "{}", strings.Repeat("word ", 200))...)
	}
	messages = append(messages, provider.Assistant("done"), memory.HostMessage("a title is missing"),
		memory.HostMessage("and a slug"), memory.HostMessage("and a text"))
	c, err := memory.New(memory.Config{Window: memory.Window{Size: 8_000}, Keep: 1,
		Steps: []memory.Step{{Strategy: memory.Slide{}}}})
	require.NoError(t, err)
	out, err := c.Compact(t.Context(), &provider.Request{Messages: messages}, memory.Context{}, 0, nil)
	require.NoError(t, err)
	text := asJSON(t, out.Messages)
	for _, want := range []string{"a title is missing", "and a slug", "and a text"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "word word")
}
