package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/servers"
	"github.com/pawlkit/pawl/provider/internal/wire"
	"github.com/stretchr/testify/require"
)

const (
	openRouter = "https://openrouter.ai/api/v1"
	mark       = `"cache_control":{"type":"ephemeral"}`
)

// body makes a call and returns the body of its request.
func body(t testing.TB, cfg Config, req *provider.Request) string {
	t.Helper()
	server := &canned{
		body: `{"id":"1","model":"m","status":"completed","choices":[{"finish_reason":"stop","message":{"content":"Hi."}}]}`}
	_, err := provider.Generate(t.Context(), server.model(t, cfg), req)
	require.NoError(t, err)
	return server.bodies[0]
}

func TestOnlyOpenAIGetsACacheKeyAndOnlyIfItIsAskedFor(t *testing.T) {
	req := &provider.Request{Messages: []provider.Message{provider.User("Hi")},
		Labels: provider.Labels{Session: "ann's " + strings.Repeat("long ", 100)}, Cache: true}
	for _, api := range []API{Chat, Responses} {
		own := Config{API: api}
		key, _ := ask(t, own, req)["prompt_cache_key"].(string)
		require.Regexp(t, `^pawl-[0-9a-f]{32}$`, key)
		require.Equal(t, key, ask(t, own, req)["prompt_cache_key"], "a session has one key")
		require.NotContains(t, body(t, own, req), "ann")
		other := *req
		other.Labels.Session = "another"
		require.NotEqual(t, key, ask(t, own, &other)["prompt_cache_key"])
		other.Labels.Session = ""
		require.NotContains(t, body(t, own, &other), "prompt_cache_key")
		other = *req
		other.Cache = false
		require.NotContains(t, body(t, own, &other), "prompt_cache_key")
		for _, s := range servers.All {
			if s.Name != "openai" {
				require.NotContains(t, body(t, Config{API: api, Server: s.Name, BaseURL: s.URL}, req), "cache", s.Name)
			}
		}
		require.NotContains(t, body(t, Config{API: api, BaseURL: "http://localhost:11434/v1"}, req), "cache")
	}
}

// conversing returns a request that asks for caching: two replies, the last with calls.
func conversing() *provider.Request {
	call := func(id string) provider.Part {
		return provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: id, Name: "weather"}}
	}
	result := func(id, text string) provider.Part {
		return provider.ResultPart(provider.ToolResult{CallID: id, Name: "weather",
			Parts: []provider.Part{provider.TextPart(text)}})
	}
	return &provider.Request{
		Model: "anthropic/claude-sonnet-4.6", System: "Be brief.", Cache: true,
		Tools: []provider.Tool{{Name: "list"}, {Name: "weather"}},
		Messages: []provider.Message{
			provider.User("Hi"), provider.Assistant("Hello."), provider.User("How cold is it?"),
			{Role: provider.RoleAssistant, Parts: []provider.Part{call("1"), call("2")}},
			{Role: provider.RoleTool, Parts: []provider.Part{result("1", "5"), result("2", "6")}},
		},
	}
}

func TestOpenRouterGetsMarksForModelsOfAnthropic(t *testing.T) {
	req := conversing()
	var sent map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body(t, Config{BaseURL: openRouter}, req)), &sent))
	require.Equal(t, `[{"role":"system","content":[{"type":"text","text":"Be brief.",`+mark+`}]},`+
		`{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"assistant","content":"Hello."},`+
		// the newest of the call before
		`{"role":"user","content":[{"type":"text","text":"How cold is it?",`+mark+`}]},`+
		`{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"weather","arguments":"{}"}},{"id":"2","type":"function","function":{"name":"weather","arguments":"{}"}}]},`+
		`{"role":"tool","content":[{"type":"text","text":"5"}],"tool_call_id":"1"},{"role":"tool","content":[{"type":"text","text":"6",`+mark+`}],"tool_call_id":"2"}]`,
		string(sent["messages"]))
	require.Equal(t, 1, strings.Count(string(sent["tools"]), mark))
	require.True(t, strings.HasSuffix(string(sent["tools"]), mark+`}]`))

	req.Cache = false
	require.NotContains(t, body(t, Config{BaseURL: openRouter}, req), "cache_control")
	req.Cache, req.Model = true, "openai/gpt-5"
	require.NotContains(t, body(t, Config{BaseURL: openRouter}, req), "cache", "it caches without being asked")
}

func TestTheMarksOfTheRequestComeFirst(t *testing.T) {
	for own, want := range []int{4, 4, 4, 4, 4, 5} { // more than four are the host's own fault
		req := conversing()
		var first []provider.Message
		for range own {
			first = append(first, provider.Message{Role: provider.RoleUser,
				Parts: []provider.Part{{Kind: provider.PartText, Text: "x", Cache: true}}}, provider.Assistant("y"))
		}
		req.Messages = append(first, req.Messages...)
		got := body(t, Config{BaseURL: openRouter}, req)
		require.Equal(t, want, strings.Count(got, mark), "%d own marks", own)
		require.Equal(t, own, strings.Count(got, `"text":"x",`+mark))
		require.Equal(t, own < 4, strings.Contains(got, `"text":"6",`+mark),
			"the newest message is the first that gets one")
	}
	for _, key := range []string{"openai", "openrouter.ai"} {
		req := conversing()
		req.Options = map[string]json.RawMessage{key: json.RawMessage(`{"cache_control":{"type":"ephemeral"}}`)}
		require.Equal(t, 1, strings.Count(body(t, Config{BaseURL: openRouter}, req), mark))
	}
}

func TestARequestWithoutMuchIsMarkedAsFarAsItGoes(t *testing.T) {
	req := &provider.Request{Model: "anthropic/claude-sonnet-4.6", Cache: true,
		Messages: []provider.Message{provider.User("Hi")}}
	require.Contains(t, body(t, Config{BaseURL: openRouter}, req),
		`"messages":[{"role":"user","content":[{"type":"text","text":"Hi",`+mark+`}]}]`)
	req.Messages = []provider.Message{provider.Assistant("Go on")}
	require.NotContains(t, body(t, Config{BaseURL: openRouter}, req), mark)
}

// TestMarksAreWhereARecordedRequestHasThem compares with requests to OpenRouter that were answered,
// the second from the cache.
func TestMarksAreWhereARecordedRequestHasThem(t *testing.T) {
	compared := 0
	for _, c := range wire.Cases(t, "openrouter") {
		if c.Name != "openrouter-pydantic-cache-openrouter-cache-all-settings-real-api" {
			continue
		}
		for i := range c.Exchanges {
			recorded := []byte(c.Exchanges[i].Request.Body)
			// the recorded request in other words
			req := &provider.Request{Model: c.Model, Cache: true, System: "Be exact.",
				Tools:    []provider.Tool{{Name: "calculator"}},
				Messages: []provider.Message{provider.User("How many lamps are there?")}}
			if i == 1 {
				call := provider.ToolCall{ID: "call_1", Name: "calculator", Input: json.RawMessage(`{}`)}
				req.Messages = append(req.Messages,
					provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{provider.TextPart("I count."),
						{Kind: provider.PartToolCall, Call: &call}}},
					provider.Message{Role: provider.RoleTool,
						Parts: []provider.Part{
							provider.ResultPart(provider.ToolResult{CallID: "call_1", Name: "calculator",
								Parts: []provider.Part{provider.TextPart("7")}})}})
			}
			theirs, ours := marksIn(t, recorded), marksIn(t, []byte(body(t, Config{BaseURL: openRouter}, req)))
			require.Len(t, theirs, 3)
			require.Subset(t, ours, theirs, "request %d", i)
			require.LessOrEqual(t, len(ours), mostMarks)
			compared++
		}
	}
	require.Equal(t, 3, compared)
}

// marksIn returns the paths of the cache marks in a body.
func marksIn(t testing.TB, body []byte) (paths []string) {
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				if key == "cache_control" {
					paths = append(paths, path)
				}
				walk(path+"/"+key, value)
			}
		case []any:
			for i, value := range v {
				walk(path+"/"+string(rune('0'+i)), value)
			}
		}
	}
	var v any
	require.NoError(t, json.Unmarshal(body, &v))
	walk("", v)
	return paths
}
