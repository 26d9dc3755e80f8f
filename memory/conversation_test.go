package memory_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// Conversations at random. Each message begins with a number of its own, by which it is known
// again.

var words = strings.Fields(
	"plan error the page Überschrift 会员 团队 🙂 members goal fails строка a of id=42 {\"k\":[1,2]} \n decided größer " +
		"e\u0301")

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()
}

func randomSize(r *rand.Rand) int {
	switch r.IntN(20) {
	case 0:
		return 3_000 + r.IntN(5_000) // huge
	case 1, 2, 3:
		return 300 + r.IntN(700)
	}
	return r.IntN(40)
}

type shape struct {
	messages int
	pause    bool // a call without a result at the end
}

func randomConversation(r *rand.Rand, s shape) []provider.Message {
	var out []provider.Message
	n := 0
	tag := func() string { n++; return fmt.Sprintf("#%d# ", n) }
	user := func() {
		m := provider.User(tag() + randomText(r, randomSize(r)))
		if r.IntN(8) == 0 {
			m.Parts = append(m.Parts,
				provider.MediaPart(provider.Media{Type: "image/png", Data: []byte("no picture"), Name: "shot.png"}))
		}
		out = append(out, m)
	}
	user()
	open := 0 // subgoals
	for len(out) < s.messages {
		switch r.IntN(8) {
		case 0:
			user()
			continue
		case 1:
			m := provider.Assistant(tag() + randomText(r, r.IntN(60)))
			m.Parts = append(m.Parts, provider.Part{Kind: provider.PartReasoning, Text: "hm",
				Opaque: &provider.Opaque{Provider: "x", Data: "sig"}})
			if out[len(out)-1].Role == provider.RoleAssistant {
				user()
			}
			out = append(out, m)
			continue
		}
		if last := out[len(out)-1]; last.Role == provider.RoleAssistant {
			user()
		}
		calls := 1 + r.IntN(3)
		reply := provider.Message{Role: provider.RoleAssistant,
			Parts: []provider.Part{provider.TextPart(tag() + randomText(r, r.IntN(20)))}}
		results := provider.Message{Role: provider.RoleTool}
		for k := range calls {
			id := fmt.Sprintf("call-%d-%d", len(out), k)
			name, input := "fs.read", fmt.Sprintf(`{"path":"f%d"}`, r.IntN(4))
			switch {
			case r.IntN(6) == 0:
				name, input = "begin", fmt.Sprintf(`{"name":"g%d"}`, len(out))
				open++
			case open > 0 && r.IntN(3) == 0:
				name, input = "done", `{"status":"completed","summary":"it works","facts":["id is 42"]}`
				open--
			}
			reply.Parts = append(reply.Parts, provider.Part{Kind: provider.PartToolCall,
				Call: &provider.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}})
			parts := []provider.Part{provider.TextPart(randomText(r, randomSize(r)))}
			if r.IntN(10) == 0 {
				parts = append(parts, provider.MediaPart(provider.Media{Type: "image/png", Data: []byte("x")}))
			}
			results.Parts = append(results.Parts,
				provider.ResultPart(provider.ToolResult{CallID: id, Name: name, Error: r.IntN(9) == 0, Parts: parts}))
		}
		out = append(out, reply, results)
	}
	if s.pause {
		if out[len(out)-1].Role == provider.RoleAssistant {
			user()
		}
		out = append(out, provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
			provider.TextPart(tag() + "may I?"),
			{Kind: provider.PartToolCall,
				Call: &provider.ToolCall{ID: "pause-1", Name: "fs.delete", Input: json.RawMessage(`{}`)}},
			{Kind: provider.PartToolCall,
				Call: &provider.ToolCall{ID: "pause-2", Name: "fs.read", Input: json.RawMessage(`{}`)}},
		}})
		if r.IntN(2) == 0 {
			out = append(out, provider.Message{Role: provider.RoleTool, Parts: []provider.Part{
				provider.ResultPart(provider.ToolResult{CallID: "pause-2", Name: "fs.read",
					Parts: []provider.Part{provider.TextPart(randomText(r, 50))}})}})
		}
	}
	return out
}

// tagOf returns what a message is known by: the number that its text begins with, or its results'
// calls.
func tagOf(m *provider.Message) string {
	if text := m.Text(); strings.HasPrefix(text, "#") {
		return text[:strings.Index(text[1:], "#")+2]
	}
	for _, p := range m.Parts {
		if p.Result != nil {
			return "results of " + p.Result.CallID
		}
	}
	return ""
}

// sound holds a conversation to the rules of providers.
func sound(t *testing.T, messages []provider.Message) {
	t.Helper()
	require.NotEmpty(t, messages)
	require.Equal(t, provider.RoleUser, messages[0].Role, "the first message is the user's")
	for i := range messages {
		m := &messages[i]
		require.NotEmpty(t, m.Parts)
		if m.Role == provider.RoleTool {
			require.Equal(t, provider.RoleAssistant, messages[i-1].Role, "results follow their calls")
			ids := map[string]int{}
			for k, c := range messages[i-1].Calls() {
				ids[c.ID] = k
			}
			last := -1
			for _, p := range m.Parts {
				require.NotNil(t, p.Result)
				k, ok := ids[p.Result.CallID]
				require.True(t, ok, "a result without its call")
				require.Greater(t, k, last, "results in call order")
				last = k
				require.NotEmpty(t, p.Result.Parts)
			}
			continue
		}
		if i == 0 {
			continue
		}
		if before := &messages[i-1]; before.Role == provider.RoleAssistant {
			require.Equal(t, provider.RoleUser, m.Role, "a reply doesn't follow a reply")
		}
		for _, c := range messages[i-1].Calls() {
			require.Fail(t, "a call without its result", c.ID)
		}
	}
}

// kept holds a compacted conversation to the one that it was made of.
func kept(t *testing.T, in, out []provider.Message) {
	t.Helper()
	at := map[string]int{}
	for i := range in {
		at[tagOf(&in[i])] = i
	}
	has := map[string]*provider.Message{}
	last := -1
	for i := range out {
		tag := tagOf(&out[i])
		if tag == "" {
			require.Equal(t, provider.RoleUser, out[i].Role, "a note is the user's")
			require.NotNil(t, out[i].Parts[0].Opaque)
			continue
		}
		k, ok := at[tag]
		require.True(t, ok, "%s is not of this conversation", tag)
		require.Greater(t, k, last, "the order is kept")
		last = k
		has[tag] = &out[i]
		require.Equal(t, in[k].Calls(), out[i].Calls(), "calls stay as they were")
		if in[k].Role == provider.RoleAssistant {
			require.True(t, reflect.DeepEqual(in[k], out[i]), "a reply stays as it was")
		}
		for p := range in[k].Parts {
			if was := in[k].Parts[p].Result; was != nil {
				now := out[i].Parts[p].Result
				require.Equal(t, []any{was.CallID, was.Name, was.Error}, []any{now.CallID, now.Name, now.Error})
			}
		}
	}
	newest, reply := -1, -1
	for i := range in {
		switch in[i].Role {
		case provider.RoleUser:
			newest = i
		case provider.RoleAssistant:
			reply = i
		}
	}
	require.Contains(t, has, tagOf(&in[0]), "the goal stays")
	require.Contains(t, has, tagOf(&in[newest]), "the newest message of the user stays")
	if reply >= 0 && len(in[reply].Calls()) > 0 {
		require.Contains(t, has, tagOf(&in[reply]), "the open step stays")
		if reply+1 < len(in) && in[reply+1].Role == provider.RoleTool {
			require.Contains(t, has, tagOf(&in[reply+1]), "the open step's results stay")
			if len(in[reply+1].Parts) < len(in[reply].Calls()) {
				require.True(t, reflect.DeepEqual(&in[reply+1], has[tagOf(&in[reply+1])]),
					"nothing of an open pause is touched")
			}
		}
	}
}

// deepCopy copies messages through JSON.
func deepCopy(t *testing.T, messages []provider.Message) (out []provider.Message) {
	t.Helper()
	b, err := json.Marshal(messages)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &out))
	return out
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

var subgoals = memory.SubgoalCalls("begin", "done")
