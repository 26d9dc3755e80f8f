package wire

import (
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

const (
	askedFirst = `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"How cold is it?"}]}`
	askedThen  = `{"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"How cold is it?"}]},
 {"role":"assistant","content":"It is cold, Zoë.","refusal":null,"tool_calls":[
  {"id":"c1","type":"function","function":{"name":"weather","arguments":"{ \"city\": \"Oslo\" }"}},
  {"id":"c2","type":"function","function":{"name":"weather","arguments":"{}"}}]},
 {"role":"tool","tool_call_id":"c1","content":"-3"},{"role":"tool","tool_call_id":"c2","content":"4"}]}`
)

// loop returns a tool loop that was recorded in the chat format, with answers in the toy's format.
func loop(t *testing.T) *Case {
	t.Helper()
	c := handWritten(t, 200, answered)
	c.Wire = "openai-chat"
	c.Exchanges = append(c.Exchanges, c.Exchanges[0])
	c.Exchanges[0].Request.Body, c.Exchanges[0].Request.Known = askedFirst, nil
	c.Exchanges[1].Request.Body, c.Exchanges[1].Request.Known = askedThen, nil
	c.Expect = append(c.Expect, c.Expect[0])
	return c
}

func TestAnAdapterThatSendsTheRecordedIDsBackPasses(t *testing.T) {
	c := loop(t)
	cfg := Config{New: newToyLoop, Cases: []*Case{c}}
	s, ok := cfg.step(c, 0)
	require.True(t, ok)
	require.Empty(t, s.judge(t, &cfg))
	Loops(t, cfg)
}

func TestAnAdapterThatSendsTheAgentsIDsBackIsWrong(t *testing.T) {
	c := loop(t)
	cfg := Config{New: newToy}
	s, _ := cfg.step(c, 0)
	require.Contains(t, s.judge(t, &cfg), `[1].tool_calls[0].id: got "\"run.1.0\"", want "\"c1\""`)
	require.Contains(t, s.judge(t, &cfg), `[3].tool_call_id: got "\"run.1.1\"", want "\"c2\""`)
}

func TestAnExchangeThatStartsAgainIsNoStep(t *testing.T) {
	c := loop(t)
	c.Exchanges[1].Request.Body = askedFirst
	_, ok := (&Config{}).step(c, 0)
	require.False(t, ok)
}

func TestEquivalentConversationsAreEqual(t *testing.T) {
	for wire, pair := range map[string][2]string{
		"anthropic-messages": {
			`{"messages":[{"role":"user","content":"a"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x","is_error":false}]}]}`,
			`{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"x"}]}]}]}`,
		},
		"openai-responses": {
			`{"input":"a"}`,
			`{"input":[{"role":"developer","content":"b"},{"type":"message","id":"m","status":"completed","role":"user","content":[{"type":"input_text","text":"a"}]}]}`,
		},
		"gemini-generate-content": {
			`{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a_b":1}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"result":"{\"x\":1}"}}}]}]}`,
			`{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"function_call":{"name":"f","args":{"a_b":1}}}]},{"role":"function","parts":[{"function_response":{"name":"f","response":{"output":{"x":1}}}}]}]}`,
		},
	} {
		a, err := Conversation(wire, []byte(pair[0]))
		require.NoError(t, err, wire)
		b, err := Conversation(wire, []byte(pair[1]))
		require.NoError(t, err, wire)
		require.Empty(t, compareLists(a, b), wire)
	}
}

func TestDifferentConversationsDiffer(t *testing.T) {
	a, err := Conversation("openai-chat", []byte(askedThen))
	require.NoError(t, err)
	b, err := Conversation("openai-chat", []byte(askedFirst))
	require.NoError(t, err)
	require.Len(t, compareLists(a, b), 3)
	_, err = Conversation("openai-chat", []byte(`{"input":"a"}`))
	require.EqualError(t, err, "wire: the body has no messages")
}

func TestARequestIsRebuiltFromItsRecording(t *testing.T) {
	c := loop(t)
	req, err := RequestFrom(c, 1)
	require.NoError(t, err)
	require.Equal(t, "Be brief.", req.System)
	require.Len(t, req.Messages, 3)
	require.Equal(t, "How cold is it?", req.Messages[0].Text())
	require.Equal(t, provider.ToolResult{CallID: "c2", Name: "weather", Parts: []provider.Part{provider.TextPart("4")}}, *req.Messages[2].Parts[1].Result)

	c.Wire = "morse"
	_, err = RequestFrom(c, 1)
	require.ErrorContains(t, err, `"morse" can't be read`)
	_, err = RequestFrom(c, 2)
	require.ErrorContains(t, err, "has no exchange 2")
}
