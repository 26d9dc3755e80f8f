package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

// conversing returns a request that asks for caching: two replies, the last with calls.
func conversing() *provider.Request {
	return &provider.Request{
		System: "Be brief.", Cache: true,
		Tools: []provider.Tool{{Name: "list"}, {Name: "weather"}},
		Messages: []provider.Message{
			provider.User("Hi"), provider.Assistant("Hello."), provider.User("How cold is it?"),
			said(call("1", "", "weather", "{}"), call("2", "", "weather", "{}")),
			{Role: provider.RoleTool, Parts: []provider.Part{result("1", "5"), result("2", "6")}},
		},
	}
}

const mark = `,"cache_control":{"type":"ephemeral"}`

func TestARequestThatAsksForCachingIsMarked(t *testing.T) {
	req := conversing()
	body := sent(t, req)
	require.Equal(t, `[{"type":"text","text":"Be brief."`+mark+`}]`, string(body["system"]))
	require.Equal(t,
		`[{"name":"list","input_schema":{"type":"object","properties":{}}},{"name":"weather","input_schema":{"type":"object","properties":{}}`+mark+`}]`, string(body["tools"]))
	require.Equal(t,
		`[{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"assistant","content":[{"type":"text","text":"Hello."}]},`+
			// the newest of the call before
			`{"role":"user","content":[{"type":"text","text":"How cold is it?"`+mark+`}]},`+
			`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"weather","input":{}},{"type":"tool_use","id":"2","name":"weather","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"5"}]},`+
			`{"type":"tool_result","tool_use_id":"2","content":[{"type":"text","text":"6"}]`+mark+`}]}]`,
		string(body["messages"]))

	marked, err := sentText(t, req)
	require.NoError(t, err)
	req.Cache = false
	plain, err := sentText(t, req)
	require.NoError(t, err)
	require.NotContains(t, string(plain), "cache_control")
	require.Equal(t, string(plain), strings.ReplaceAll(string(marked), mark, ""), "nothing but the marks differs")
}

func TestAToolsOwnMarkIsOneOfTheFour(t *testing.T) {
	req := conversing()
	req.Tools = []provider.Tool{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}}
	for i := range req.Tools {
		req.Tools[i].Options = map[string]json.RawMessage{
			"anthropic": json.RawMessage(`{"cache_control":{"type":"ephemeral"}}`)}
	}
	req.Tools = req.Tools[:3]
	text, err := sentText(t, req)
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(text), "cache_control"))
	req.Tools = req.Tools[:5] // the API says what is wrong
	req.Messages[0].Parts[0].Cache = true
	text, err = sentText(t, req)
	require.NoError(t, err)
	require.Equal(t, 5, strings.Count(string(text), "cache_control"))

	req = conversing()
	req.Tools[1].Options = map[string]json.RawMessage{"anthropic": json.RawMessage(`{"defer_loading":true}`)}
	require.Equal(t, `[{"name":"list","input_schema":{"type":"object","properties":{}}`+mark+`},`+
		`{"defer_loading":true,"input_schema":{"type":"object","properties":{}},"name":"weather"}]`,
		string(sent(t, req)["tools"]), "the API rejects a mark on a tool that is loaded later")
	req.Tools[1].Options["anthropic"] = json.RawMessage(`{"cache_control":1}`)
	_, err = sentText(t, req)
	require.ErrorContains(t, err, `the tool "weather": cache_control can't be decoded`)
}

func TestOnlyWhatExistsAndCanBeMarkedIsMarked(t *testing.T) {
	body, err := sentText(t, &provider.Request{Cache: true, Messages: []provider.Message{provider.User("Hi")}})
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(body), "cache_control"))
	redacted := provider.Part{Kind: provider.PartOpaque,
		Opaque: &provider.Opaque{Provider: "anthropic", Kind: "redacted_thinking", Data: "abc"}}
	last := sent(t, &provider.Request{Cache: true, Messages: []provider.Message{provider.User("Hi"), said(redacted)}})
	require.Equal(t,
		`[{"role":"user","content":[{"type":"text","text":"Hi"`+mark+`}]},{"role":"assistant","content":[{"type":"redacted_thinking","data":"abc"}]}]`, string(last["messages"]))
}

func TestTheMarksOfTheRequestComeFirst(t *testing.T) {
	counts := func(req *provider.Request) (n [3]int) {
		body := sent(t, req)
		for i, field := range []string{"system", "tools", "messages"} {
			n[i] = strings.Count(string(body[field]), "cache_control")
		}
		return n
	}
	early := func(n int) *provider.Request { // with n marks of its own, none on a message that would be marked anyway
		req := conversing()
		var first []provider.Message
		for range n {
			first = append(first, user(marked(provider.TextPart("x"))), provider.Assistant("y"))
		}
		req.Messages = append(first, req.Messages...)
		return req
	}
	for own, want := range [][3]int{{1, 1, 2}, {1, 1, 2}, {1, 0, 3}, {0, 0, 4}, {0, 0, 4}, {0, 0, 4}} {
		require.Equal(t, want, counts(early(own)), "%d own marks", own)
	}
	require.NotContains(t, string(sent(t, early(4))["messages"]), `"6"}]`+mark, "the request has four of its own")

	option := func(req *provider.Request, raw string) *provider.Request {
		req.Options = map[string]json.RawMessage{"anthropic": json.RawMessage(raw)}
		return req
	}
	require.Equal(t, [3]int{1, 1, 2}, counts(option(early(0), `{"cache":{"system":true,"tools":true}}`)))
	require.Equal(t, [3]int{0, 1, 3}, counts(option(early(2), `{"cache":{"tools":true}}`)),
		"the newest message comes before the system text")
	require.Equal(t, [3]int{1, 1, 2}, counts(option(early(3), `{"cache":{"system":true,"tools":true}}`)))
	require.Equal(t, [3]int{0, 1, 0},
		counts(option(early(0),
			`{"tools":[{"type":"web_search_20250305","name":"web_search","cache_control":{"type":"ephemeral"}}]}`)))
	body := sent(t, option(early(0), `{"cache_control":{"type":"ephemeral","ttl":"1h"}}`))
	require.NotContains(t, string(body["messages"]), "cache_control", "the API rejects different times on one block")

	body = sent(t, option(conversing(), `{"cache":{"ttl":"1h"}}`))
	require.Contains(t, string(body["system"]), `"cache_control":{"type":"ephemeral","ttl":"1h"}`)
}
