package notes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/provider"
)

func TestABriefingIsBoundedHoweverMuchWasTried(t *testing.T) {
	var messages []provider.Message
	for i := range 500 {
		id := fmt.Sprint("c-", i)
		messages = append(messages,
			provider.Message{Role: provider.RoleAssistant,
				Parts: []provider.Part{{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: id, Name: "t",
					Input: []byte(fmt.Sprintf(`{"n":%d,"x":%q}`, i, strings.Repeat("ü", 1_000)))}}}},
			provider.Message{Role: provider.RoleTool,
				Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: id, Name: "t", Error: true,
					Parts: []provider.Part{provider.TextPart(strings.Repeat("no ", 1_000))}})}})
	}
	b := notes.BriefingOf(&agent.Result{Status: agent.Failed, Reason: strings.Repeat("why ", 1_000),
		Messages: messages})
	require.Len(t, b.Attempts[0].Calls, 31)
	require.Equal(t, "(470 earlier calls)", b.Attempts[0].Calls[0])
	require.Len(t, b.Avoid, 20)
	require.Less(t, len(b.Text()), 50_000)
	require.Empty(t, notes.BriefingOf().Text())
	require.Empty(t, (*notes.Briefing)(nil).Text())
	require.NotPanics(t, func() {
		notes.BriefingOf(
			&agent.Result{Messages: []provider.Message{{Parts: []provider.Part{{Kind: provider.PartToolCall}}}}})
	})
}

func TestABriefingTellsCallsOfOneReplyApart(t *testing.T) {
	call := func(id string) provider.Part {
		return provider.Part{Kind: provider.PartToolCall,
			Call: &provider.ToolCall{ID: id, Name: "write", Input: []byte(`{"id":"` + id + `"}`)}}
	}
	result := func(id, text string, failed bool) provider.Part {
		return provider.ResultPart(provider.ToolResult{CallID: id, Error: failed,
			Parts: []provider.Part{provider.TextPart(text)}})
	}
	b := notes.BriefingOf(&agent.Result{Messages: []provider.Message{
		{Role: provider.RoleAssistant, Parts: []provider.Part{call("a"), call("b")}},
		{Role: provider.RoleTool,
			Parts: []provider.Part{result("a", "wrote a", false), result("b", "it is locked", true)}},
	}})
	require.Equal(t, []string{`write {"id":"a"} → ok: wrote a`, `write {"id":"b"} → failed: it is locked`},
		b.Attempts[0].Calls)
	require.Equal(t, []string{`write {"id":"b"} → failed: it is locked`}, b.Avoid)
}
