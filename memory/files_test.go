package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

func file(kind, name, data string) provider.Part {
	return provider.MediaPart(provider.Media{Type: kind, Name: name, Data: []byte(data)})
}

// TestFilesThatAreTextAreCutLikeText has files of 8,000 tokens and more, and a window of 4,000.
func TestFilesThatAreTextAreCutLikeText(t *testing.T) {
	text := strings.Repeat("My order is late. ", 2_000)
	for kind, cut := range map[string]bool{
		"text/plain": true, "text/plain; charset=utf-8": true, "text/csv": true, "text/markdown": true,
		"TEXT/HTML":        true,
		"application/json": true, "application/ld+json": true, "application/x-ndjson": true, "application/xml": true,
		"application/x-yaml": true, "application/toml": true, "application/x-sh": true,
		"application/pdf": false, "application/zip": false, "application/octet-stream": false, "audio/mpeg": false,
	} {
		for _, where := range []string{"a message", "a result"} {
			t.Run(kind+" in "+where, func(t *testing.T) {
				store := &memory.MapStore{}
				c, err := memory.New(memory.Config{Window: memory.Window{Size: 4_000, Reserve: 1_000}, Store: store})
				require.NoError(t, err)
				data := text
				if strings.HasPrefix(kind, "audio") {
					data = strings.Repeat(text, 20)
				}
				part := file(kind, "order", data)
				msgs := []provider.Message{provider.User("What is in it?")}
				if where == "a message" {
					msgs[0].Parts = append(msgs[0].Parts, part)
				} else {
					call := &provider.ToolCall{ID: "1", Name: "read", Input: []byte("{}")}
					result := provider.ToolResult{CallID: "1", Name: "read", Parts: []provider.Part{part}}
					msgs = append(msgs, provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
						{Kind: provider.PartToolCall, Call: call}}},
						provider.Message{Role: provider.RoleTool, Parts: []provider.Part{provider.ResultPart(result)}})
				}
				p, err := c.Prepare(t.Context(), &provider.Request{Messages: msgs}, memory.Context{})
				if !cut && where == "a message" {
					var large *memory.ContextTooLargeError
					require.ErrorAs(t, err, &large)
					require.Contains(t, large.Biggest[0].What, `"order"`)
					return
				}
				require.NoError(t, err)
				require.LessOrEqual(t, p.Count.Total, 3_000)
				parts := p.Messages[len(p.Messages)-1].Parts
				now := parts[len(parts)-1]
				if where == "a result" {
					now = now.Result.Parts[0]
				}
				require.Equal(t, provider.PartText, now.Kind)
				require.Contains(t, now.Text, fmt.Sprintf("[%s %q, %d bytes]", kind, "order", len(data)))
				require.Contains(t, now.Text, "left out")
				require.Equal(t, cut, strings.Contains(now.Text, "My order is late."))
				if cut {
					handle := now.Text[strings.Index(now.Text, "handle ")+len("handle "):]
					whole, err := store.Get(t.Context(), handle[:strings.IndexByte(handle, ' ')])
					require.NoError(t, err)
					require.True(t, strings.HasSuffix(whole, text))
				}
				again, err := c.Prepare(t.Context(), &provider.Request{Messages: p.Messages}, memory.Context{})
				require.NoError(t, err)
				require.Equal(t, p.Messages, again.Messages)
			})
		}
	}
}

// TestFilesOfEarlierMessagesAreNamedBeforeARequestFails has an image in the first message, which
// stays as the goal, and another one in the newest.
func TestFilesOfEarlierMessagesAreNamedBeforeARequestFails(t *testing.T) {
	image := func(name string) provider.Part { return file("image/webp", name, "?") }
	c, err := memory.New(memory.Config{Window: memory.Window{Size: 7_000, Reserve: 1_000}})
	require.NoError(t, err)
	msgs := []provider.Message{
		{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("See this."), image("one.webp")}},
		{Role: provider.RoleAssistant, Parts: []provider.Part{provider.TextPart("I see a cat.")}},
		{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("And this?"), image("two.webp")}},
	}
	p, err := c.Prepare(t.Context(), &provider.Request{Messages: msgs}, memory.Context{})
	require.NoError(t, err)
	require.Equal(t, "[image/webp \"one.webp\", 1 bytes]\n[It was left out to save room.]", p.Messages[0].Parts[1].Text)
	require.Equal(t, msgs[2], p.Messages[len(p.Messages)-1])
	require.Equal(t, "one.webp", msgs[0].Parts[1].Media.Name, "what was given isn't changed")
	last := p.Report.Steps[len(p.Report.Steps)-1]
	require.Equal(t, []any{"window: leave out files", 1}, []any{last.Strategy, last.Cut})

	msgs[2].Parts = append(msgs[2].Parts, image("three.webp"))
	_, err = c.Prepare(t.Context(), &provider.Request{Messages: msgs}, memory.Context{})
	require.ErrorIs(t, err, memory.ErrContextTooLarge, "those of the newest message stay")
}

// weighed counts how many bytes it has counted.
type weighed struct {
	memory.Estimator
	bytes int
}

func (w *weighed) CountText(text string) int {
	w.bytes += len(text)
	return w.Estimator.CountText(text)
}

func (w *weighed) CountMessage(m *provider.Message) int {
	for i := range m.Parts {
		if w.bytes += len(m.Parts[i].Text); m.Parts[i].Media != nil {
			w.bytes += len(m.Parts[i].Media.Data)
		}
	}
	return w.Estimator.CountMessage(m)
}

// TestCuttingManyFilesCostsAsMuchAsCuttingOne has the same text in one file and in 100.
func TestCuttingManyFilesCostsAsMuchAsCuttingOne(t *testing.T) {
	text := strings.Repeat("My order is late. ", 20_000)
	counted := make(map[int]int)
	for _, n := range []int{1, 100} {
		w := &weighed{}
		c, err := memory.New(memory.Config{Window: memory.Window{Size: 20_000, Reserve: 1_000}, Counter: w})
		require.NoError(t, err)
		msg := provider.User("What is in these?")
		for i := range n {
			msg.Parts = append(msg.Parts, file("text/plain", fmt.Sprint(i), text[:len(text)/n]))
		}
		_, err = c.Prepare(t.Context(), &provider.Request{Messages: []provider.Message{msg}}, memory.Context{})
		require.NoError(t, err)
		counted[n] = w.bytes
	}
	t.Logf("bytes that were counted, of %d: %v", len(text), counted)
	require.Less(t, counted[100], 5*counted[1])
}

func TestATextFileIsReadInSummariesAndTranscripts(t *testing.T) {
	parts := []provider.Part{file("text/csv", "orders.csv", "17,late")}
	msgs := []provider.Message{{Role: provider.RoleUser, Parts: parts}}
	require.Equal(t, "user: [text/csv \"orders.csv\", 7 bytes]\n17,late", memory.Transcript(nil, msgs, 1_000))
}
