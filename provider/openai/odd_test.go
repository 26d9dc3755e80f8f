package openai

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

// A canned is a server that gives the same answer to every request, and stores the last request.
type canned struct {
	status int
	header http.Header
	body   string
	asked  []*http.Request
	bodies []string
}

// RoundTrip answers.
func (c *canned) RoundTrip(req *http.Request) (*http.Response, error) {
	body := ""
	if req.Body != nil {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		body = string(raw)
	}
	c.asked, c.bodies = append(c.asked, req), append(c.bodies, body)
	header := c.header
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: max(c.status, 200), Header: header, Body: io.NopCloser(strings.NewReader(c.body)),
		Request: req}, nil
}

// model returns a Model that calls the server.
func (c *canned) model(t testing.TB, cfg Config) *Model {
	t.Helper()
	cfg.HTTPClient = &http.Client{Transport: c}
	if cfg.Model == "" {
		cfg.Model = "test-model"
	}
	if cfg.APIKey == "" && cfg.Key == nil {
		cfg.APIKey = "sk-test-0123456789"
	}
	m, err := New(cfg)
	require.NoError(t, err)
	return m
}

// told returns the result of a call, one line for each part.
func told(res *provider.Response, err error) string {
	var b strings.Builder
	for i := range res.Parts {
		p := &res.Parts[i]
		switch p.Kind {
		case provider.PartToolCall, provider.PartProviderCall:
			fmt.Fprintf(&b, "%s %q %s %s%s", p.Kind, p.Call.ID, p.Call.Name, string(p.Call.Input), p.Call.Invalid)
		case provider.PartProviderResult:
			fmt.Fprintf(&b, "%s %q %q error=%t", p.Kind, p.Result.CallID, p.Result.Text(), p.Result.Error)
		case provider.PartMedia:
			fmt.Fprintf(&b, "%s %s %v %s", p.Kind, p.Media.Type, p.Media.Data, p.Media.URL)
		case provider.PartSource:
			fmt.Fprintf(&b, "%s %s %q %d-%d", p.Kind, p.Source.URL, p.Source.Title, p.Source.Start, p.Source.End)
		default:
			fmt.Fprintf(&b, "%s %q", p.Kind, p.Text)
		}
		if o := p.Opaque; o != nil {
			fmt.Fprintf(&b, " <%s %s>", o.Kind, o.Data)
		}
		b.WriteByte('\n')
	}
	if err != nil {
		var e *provider.Error
		if !errors.As(err, &e) {
			return b.String() + "another error: " + err.Error()
		}
		fmt.Fprintf(&b, "error %v %d %q %q", fault.Of(err), e.Status, e.Type+"/"+e.Code, e.Message)
		return b.String()
	}
	u := res.Usage
	fmt.Fprintf(&b, "%s (%s) %d+%d", res.Stop, res.StopRaw, u.Input, u.Output)
	if u.CacheRead+u.CacheWrite+u.Reasoning > 0 {
		fmt.Fprintf(&b, " read %d written %d reasoning %d", u.CacheRead, u.CacheWrite, u.Reasoning)
	}
	return b.String()
}

// odd are unusual answers of servers, and the expected results.
var odd = map[string]string{
	"chat-no-index.sse": "tool_call \"abc123def\" weather {\"city\":\"Oslo\"}\ntool_call \"abc123deg\" " +
		"weather {}\ntool_calls (tool_calls) 0+0",
	"chat-same-index.sse": "tool_call \"a\" weather {\"city\":\"Oslo\"}\ntool_call \"b\" weather " +
		"{\"city\":\"Bergen\"}\ntool_calls (stop) 0+0",
	"chat-repeated-head.sse": "tool_call \"a\" weather {\"city\":\"Oslo\"}\ntool_calls (tool_calls) 0+0",
	"chat-name-late.sse":     "tool_call \"a\" weather {\"city\":\"Oslo\"}\ntool_calls (tool_calls) 0+0",
	"chat-arguments-object.json": "tool_call \"a\" weather {\"city\":\"Oslo\"}\ntool_call \"\" weather \ntool_calls " +
		"(tool_calls) 0+0",
	"chat-no-done.sse":        "text \"Hi.\"\ndone (stop) 3+2",
	"chat-no-finish.sse":      "text \"Hi.\"\nunknown () 0+0",
	"chat-crlf.sse":           "text \"Hi.\"\ndone (stop) 0+0",
	"chat-cr-and-mark.sse":    "text \"Hi.\"\ndone (stop) 0+0",
	"chat-delta-null.sse":     "text \"Hi.\"\ndone (stop) 0+0",
	"chat-finish-twice.sse":   "text \"Hi.\"\nlength (length) 3+1",
	"chat-choices.sse":        "text \"Hi.\"\ndone (stop) 0+0",
	"chat-thinking-parts.sse": "reasoning \"Hm.\" <chat.reasoning_field thinking>\ntext \"Hi.\"\ndone (stop) 0+0",
	"chat-reasoning-twice.sse": "reasoning \"Hm.\" <chat.reasoning_field reasoning>\ntext \"Hi.\"\n" +
		`opaque "" <chat.reasoning_details [{"format":"f","index":0,"signature":"sig","text":"Hm.","type":"reasoning.text"},{"data":"c2Vj","id":"rs_1","index":1,"type":"reasoning.encrypted"}]>` +
		"\ndone (stop) 0+0",
	"chat-usage-groq.sse": "text \"Hi.\"\ndone (stop) 3+1",
	"chat-usage-outside.json": "reasoning \"Hm.\" <chat.reasoning_field reasoning_content>\ntext \"Hi.\"\ndone " +
		"(stop) 10+9 read 4 written 0 reasoning 7",
	"chat-usage-places.json": "text \"Hi.\"\ndone (stop) 10+2 read 4 written 3 reasoning 0",
	"chat-refusal.json":      "refusal \"No.\"\nfiltered (stop) 0+0",
	"chat-legacy.json":       "tool_call \"\" weather {\"city\":\"Oslo\"}\ntool_calls (function_call) 0+0",
	"chat-empty-legacy.json": "text \"Hi.\"\ndone (stop) 0+0",
	"chat-custom.json":       "tool_call \"a\" calc \"4 + \\\"4\\\"\" <custom_call {}>\ntool_calls (tool_calls) 0+0",
	"chat-citations.json":    "text \"Zoë hi.\"\nsource https://example.com \"Hi\" 5-7\ndone (stop) 0+0",
	"chat-search.sse":        "text \"Hi.\"\nsource https://example.com \"Hi\" 0-0\ndone (stop) 0+0",
	"chat-image.json":        "text \"Hi.\"\nmedia image/png [1 2 3] \ndone (stop) 0+0",
	"chat-audio.json":        "text \"Hi.\"\nmedia audio/wav [82 73 70 70]  <chat.audio audio_1>\ndone (stop) 0+0",
	"chat-error-event.sse": "text \"Hi\"\nerror permanent 200 \"invalid_request_error/tool_use_failed\" \"the " +
		"call is malformed\"",
	"chat-error-in-choice.sse": "error degraded 200 \"/502\" \"upstream is down\"",
	"chat-error-200.json":      "error permanent 200 \"/content_filter\" \"filtered\"",
	"chat-error-rate.sse": "text \"Hi\"\nerror rate_limited 200 \"requests/rate_limit_exceeded\" \"slower, " +
		"please\"",
	"chat-finish-error.sse": "text \"Hi\"\nerror degraded 200 \"/insufficient_system_resource\" \"the server says " +
		"that it couldn't finish the answer\"",
	"chat-cut.sse": "text \"Hi\"\nerror transient 0 \"/\" \"the stream ended before the answer was " +
		"complete\"",
	"chat-no-name.sse":        "error transient 200 \"/\" \"the server sent a tool call without a name\"",
	"chat-nothing.json":       "error transient 0 \"/\" \"the stream ended before the answer was complete\"",
	"responses-nothing.json":  "error transient 0 \"/\" \"the stream ended before the answer was complete\"",
	"responses-no-status.sse": "text \"Hi.\"\ndone (completed) 0+0",
	"page.json":               "error permanent 200 \"/\" \"the server answered with a web page\"",

	"responses-no-deltas.sse": "text \"Hi.\" <responses.message {\"id\":\"msg_1\"}>\ntool_call \"a\" weather " +
		"{\"city\":\"Oslo\"} <responses.call {\"id\":\"fc_1\"}>\ntool_calls (completed) 3+2",
	"responses-id-changes.sse": "text \"Hi.\" <responses.message {\"id\":\"x3\",\"phase\":\"final_answer\"}>\ndone (completed) 0+0",
	"responses-server-tools.sse": `provider_call "ws_1" web_search_call {"type":"search","query":"hi"} <responses.item {"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"hi"}}>` +
		"\nprovider_result \"ws_1\" \"\" error=false\n" +
		`provider_call "mcp_1" mcp_call {"q":"hi"} <responses.item {"type":"mcp_call","id":"mcp_1","name":"ask","arguments":"{\"q\":\"hi\"}","output":"hello","error":null}>` +
		"\nprovider_result \"mcp_1\" \"hello\" error=false\n" +
		`provider_call "ci_1" code_interpreter_call {"code":"1+1"} <responses.item {"type":"code_interpreter_call","id":"ci_1","code":"1+1","outputs":[{"type":"logs","logs":"2"}]}>` +
		"\nprovider_result \"ci_1\" \"2\" error=false\n" +
		`provider_call "ig_1" image_generation_call  <responses.item {"type":"image_generation_call","id":"ig_1","status":"completed","output_format":"webp","result":"AQID"}>` +
		"\nprovider_result \"ig_1\" \"\" error=false\nmedia image/webp [1 2 3] \n" +
		`opaque "" <responses.item {"type":"mcp_approval_request","id":"mcpr_1","name":"shorten","arguments":"{}"}>` +
		"\ndone (completed) 0+0",
	"responses-refusal.sse": "refusal \"No.\" <responses.message {\"id\":\"msg_1\"}>\nfiltered (completed) 0+0",
	"responses-incomplete.json": `reasoning "Hm." <responses.item {"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}>` +
		"\ntext \"Hi\" <responses.message {\"id\":\"msg_1\"}>\nlength (incomplete:max_output_tokens) 3+2 read 1 " +
		"written 1 reasoning 1",
	"responses-filtered.json": "filtered (incomplete:content_filter) 0+0",
	"responses-custom.sse": "tool_call \"a\" calc \"4 + \\\"4\\\"\" <custom_call {\"id\":\"ct_1\"}>\ntool_calls " +
		"(completed) 0+0",
	"responses-error.sse":  "error user_fixable 200 \"/insufficient_quota\" \"You exceeded your current quota.\"",
	"responses-failed.sse": "provider_call \"mcp_1\" mcp_call {}\nerror degraded 200 \"/server_error\" \"Sorry.\"",
	"responses-cut.sse":    "text \"Hi\"\nerror transient 0 \"/\" \"the stream ended before the answer was complete\"",
}

func TestUnusualAnswersAreDecoded(t *testing.T) {
	files, err := filepath.Glob("testdata/odd/*")
	require.NoError(t, err)
	require.Len(t, files, len(odd), "every exchange has its expectation")
	for name, want := range odd {
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("testdata/odd", name))
			require.NoError(t, err)
			server, api := &canned{body: string(body)}, Chat
			if strings.HasPrefix(name, "responses") {
				api = Responses
			}
			m := server.model(t, Config{BaseURL: "http://example.com/v1", API: api})
			require.Equal(t, want,
				told(provider.Generate(t.Context(), m,
					&provider.Request{Messages: []provider.Message{provider.User("Hi")}})))
		})
	}
}
