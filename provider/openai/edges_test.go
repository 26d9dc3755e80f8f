package openai

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// streamed returns the result of a stream of these events.
func streamed(t *testing.T, api API, events ...string) (*provider.Response, error) {
	t.Helper()
	m := (&canned{body: "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"}).model(t,
		Config{BaseURL: "http://example.com/v1", API: api})
	return provider.Generate(t.Context(), m, hi())
}

func delta(message string) string { return `{"choices":[{"index":0,"delta":` + message + `}]}` }

func TestDoneAloneDoesNotCompleteACutAnswer(t *testing.T) {
	call := func(args string) string {
		return delta(`{"content":"Hi.","tool_calls":[{"index":0,"id":"c","function":{"name":"wipe","arguments":"` +
			args + `"}}]}`)
	}
	for name, events := range map[string][]string{
		"nothing":      {"[DONE]"},
		"an open call": {call(""), "[DONE]"},
		"a cut call":   {call(`{\"a\":\"}`), "[DONE]"},
		"in one piece": {`{"choices":[{"index":0,"message":{"content":""}}]}`, "[DONE]"},
	} {
		_, err := streamed(t, Chat, events...)
		require.ErrorIs(t, err, provider.ErrIncomplete, name)
	}
	res, err := streamed(t, Chat, call(`{\"a\":\"}\"}`), "[DONE]")
	require.NoError(t, err)
	require.Equal(t, provider.StopUnknown, res.Stop)
	require.Len(t, res.Calls(), 1)
}

func TestAResponseWithAnOpenCallOrWithoutAResponseIsCut(t *testing.T) {
	const added = `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"pay"}}`
	const completed = `{"type":"response.completed","response":{"status":"completed","output":[]}}`
	for _, events := range [][]string{
		{added, completed},
		{`{"type":"response.function_call_arguments.delta","item_id":"fc","delta":"{}"}`, completed},
		{`{"type":"response.completed","response":null}`},
	} {
		_, err := streamed(t, Responses, events...)
		require.ErrorIs(t, err, provider.ErrIncomplete)
	}
	res, err := streamed(t, Responses, added,
		`{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{}"}`, completed)
	require.NoError(t, err)
	require.JSONEq(t, "{}", string(res.Calls()[0].Input))
}

func TestItemsAreKnownByTheirIDsAndNotByTheirPlaceAlone(t *testing.T) {
	item := func(n, name string) string {
		return fmt.Sprintf(`{"type":"function_call","id":"fc%s","call_id":"c%s","name":"%s","arguments":"{}"}`, n, n,
			name)
	}
	done := func(place, item string) string {
		return `{"type":"response.output_item.done",` + place + `"item":` + item + `}`
	}
	completed := func(items ...string) string {
		return `{"type":"response.completed","response":{"status":"completed","output":[` + strings.Join(items, ",") +
			`]}}`
	}
	for name, c := range map[string]struct {
		want   string
		events []string
	}{
		"numbered anew": {"c1 pay ",
			[]string{done(`"output_index":1,`, item("1", "pay")), completed(item("1", "pay"))}},
		"the same place": {"c1 a c2 b ", []string{done("", item("1", "a")), done("", item("2", "b")), completed()}},
		"both": {"c1 a c2 a ",
			[]string{done("", item("1", "a")), done("", item("2", "a")), completed(item("2", "a"), item("1", "a"))}},
		"only in response": {"c1 a c2 b ",
			[]string{done("", item("1", "a")), completed(item("2", "b"), item("1", "a"))}},
	} {
		res, err := streamed(t, Responses, c.events...)
		require.NoError(t, err, name)
		got := ""
		for _, call := range res.Calls() {
			got += call.ID + " " + call.Name + " "
		}
		require.Equal(t, c.want, got, name)
	}
}

func TestCallsAreDistinguishedByTheirContent(t *testing.T) {
	call := func(head, name string, n int) string {
		return fmt.Sprintf(`{%s"function":{"name":"%s","arguments":"{\"n\":%d}"}}`, head, name, n)
	}
	for name, c := range map[string][2]string{
		"names at one index":     {call(`"index":0,`, "a", 1), call(`"index":0,`, "b", 2)},
		"names of one id":        {call(`"id":"z",`, "a", 1), call(`"id":"z",`, "b", 2)},
		"the same tool, no ids":  {call(`"index":0,`, "a", 1), call(`"index":0,`, "a", 2)},
		"the same tool, one id":  {call(`"index":0,`, "a", 1), call(`"index":0,"id":"z",`, "a", 2)},
		"the same tool, two ids": {call(`"index":0,"id":"y",`, "a", 1), call(`"index":0,"id":"z",`, "a", 2)},
	} {
		res, err := streamed(t, Chat, delta(`{"tool_calls":[`+c[0]+`]}`),
			delta(`{"tool_calls":[`+c[1]+`]},"finish_reason":"tool_calls"`), "[DONE]")
		require.NoError(t, err, name)
		require.Len(t, res.Calls(), 2, name)
		require.JSONEq(t, `{"n":1}`, string(res.Calls()[0].Input), name)
		require.JSONEq(t, `{"n":2}`, string(res.Calls()[1].Input), name)
	}
	res, err := streamed(t, Chat,
		delta(`{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"{\"s\":\"}"}}]}`),
		delta(`{"tool_calls":[{"index":0,"function":{"name":"a","arguments":"{\"}"}}]},"finish_reason":"tool_calls"`),
		"[DONE]")
	require.NoError(t, err)
	require.Len(t, res.Calls(), 1, "a bracket in a string closes nothing")
}

func TestErrorsOfOthersAreNotChanged(t *testing.T) {
	shared := fault.NewFixable("log in with "+key, "log in", nil)
	m, err := New(Config{Model: "m", APIKey: key, HTTPClient: &http.Client{Transport: failing{shared}}})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, hi())
	require.NotContains(t, err.Error(), key)
	require.Equal(t, "log in with "+key, shared.Message)

	words := fault.NewFixable("log in", "log in", nil)
	m, err = New(Config{Model: "m", APIKey: "in", HTTPClient: &http.Client{Transport: failing{words}}})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, hi())
	require.ErrorContains(t, err, "log in", "what is so short is no secret")
}

func TestSecretsAreHiddenWhereverAServerRepeatsThem(t *testing.T) {
	for _, body := range []string{strings.Repeat("x", 480) + " " + key, `{"error":{"message":"bad","type":"t ` + key +
		`","code":"` + key + `"}}`} {
		for _, cfg := range []Config{
			{APIKey: key},
			{Key: func(context.Context) (string, error) { return key, nil }},
			{Header: http.Header{"X-Gateway-Key": {key}}},
			{Header: http.Header{"Authorization": {"Bearer " + key}}},
		} {
			server := &canned{status: 400, body: body,
				header: http.Header{"Request-Id": {strings.Repeat("i", 110) + key}}}
			cfg.BaseURL = "http://example.com/v1"
			_, err := provider.Generate(t.Context(), server.model(t, cfg), hi())
			require.Error(t, err)
			require.NotContains(t, fmt.Sprintf("%+v %#v", err, err), key[:10])
		}
	}
}

func TestAnAddressIsDroppedHoweverDeepItIs(t *testing.T) {
	deep := &url.Error{Op: "Get", URL: "http://example.com?x=hush", Err: io.ErrUnexpectedEOF}
	m, err := New(Config{Model: "m", APIKey: key,
		HTTPClient: &http.Client{Transport: failing{fmt.Errorf("proxy: %w", deep)}}})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, hi())
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotContains(t, err.Error(), "hush")
}

func TestAnAuthorizationInTheHeadersIsAKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "from-the-environment")
	t.Setenv("OPENAI_BASE_URL", "")
	server := &canned{status: 500}
	m, err := New(Config{Header: http.Header{"authorization": {"Bearer mine"}},
		HTTPClient: &http.Client{Transport: server}})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, hi())
	require.Error(t, err)
	require.Equal(t, "Bearer mine", server.asked[0].Header.Get("Authorization"))
}

func TestUsageFiguresAreWholeAndNotNegative(t *testing.T) {
	u := chatUsage([]byte(`{"prompt_tokens":12.0,"completion_tokens":1e1,"total_tokens":-5}`))
	require.Equal(t, [2]int64{12, 10}, [2]int64{u.Input, u.Output})
	u = chatUsage(
		[]byte(
			`{"prompt_tokens":-12,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":0},"prompt_cache_hit_tokens":64}`))
	require.Equal(t, [3]int64{0, 5, 64}, [3]int64{u.Input, u.Output, u.CacheRead})
	u = responsesUsage([]byte(`{"input_tokens":3.0,"output_tokens":-1}`))
	require.Equal(t, [2]int64{3, 0}, [2]int64{u.Input, u.Output})
}

func TestCallsWithTheSameIDKeepTheirOwnResults(t *testing.T) {
	call := func(name string) provider.Part {
		return provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "z", Name: name}}
	}
	res := func(name string) provider.Part {
		return provider.Part{Kind: provider.PartToolResult, Result: &provider.ToolResult{CallID: "z", Name: name,
			Parts: []provider.Part{provider.TextPart("of " + name)}}}
	}
	req := &provider.Request{Messages: []provider.Message{provider.User("Hi"),
		{Role: provider.RoleAssistant, Parts: []provider.Part{call("a"), call("b")}},
		{Role: provider.RoleTool, Parts: []provider.Part{res("b"), res("a")}},
		{Role: provider.RoleAssistant, Parts: []provider.Part{call("a")}},
		{Role: provider.RoleTool, Parts: []provider.Part{res("a")}}}}
	for _, base := range []string{"http://example.com/v1", "https://api.mistral.ai/v1"} {
		m := (&canned{}).model(t, Config{BaseURL: base})
		c, ids := newConversation(m, "m", req), map[string]bool{}
		for i := range c.turns {
			for _, r := range c.turns[i].Calls {
				require.Equal(t, "of "+r.Part.Call.Name, r.Result.Result.Text())
				ids[r.ID] = true
			}
		}
		require.Len(t, ids, 3)
	}
}

// A stream may end after its stop reason without the usage that was asked for. That isn't 0.
func TestUsageThatDoesNotComeIsUnknown(t *testing.T) {
	stop := `{"choices":[{"index":0,"delta":{"content":"Hi."},"finish_reason":"stop"}]}`
	for name, c := range map[string]struct {
		last string
		want bool
	}{
		"nothing":   {"[DONE]", false},
		"null":      {`{"choices":[],"usage":null}`, false},
		"empty":     {`{"choices":[],"usage":{}}`, false},
		"zeros":     {`{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}`, false},
		"the usage": {`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}`, true},
	} {
		m := (&canned{body: "data: " + stop + "\n\ndata: " + c.last + "\n\n"}).model(t,
			Config{BaseURL: "http://example.com/v1", API: Chat})
		var end provider.Chunk
		for chunk, err := range m.Stream(t.Context(), hi()) {
			require.NoError(t, err, name)
			end = chunk
		}
		require.Equal(t, provider.KindEnd, end.Kind, name)
		require.Equal(t, c.want, end.Extra.Usage != nil, name)
	}
}
