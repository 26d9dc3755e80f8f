package replay

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/internal/wire"
	"github.com/pawlkit/pawl/provider/openai"
	"github.com/pawlkit/pawl/tools"
)

// A conversation is answers of one provider, each decoded by its adapter. It is a
// [provider.Provider] that gives them in order: which one, it knows by the messages of the request,
// so that a call that is made again gets the same answer. The last one is a text.
type conversation struct {
	name    string
	answers []provider.Provider
	tools   []tools.Tool
	offered map[string]bool // names of the tools
}

// Stream gives the answer to the request. An answer without content leaves no message, and one that
// paused is followed by none.
func (c *conversation) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	answered, asked := 0, 0
	for i := range req.Messages {
		if req.Messages[i].Role == provider.RoleAssistant {
			answered++
		} else {
			asked++
		}
	}
	return c.answers[min(max(answered, asked-1), len(c.answers)-1)].Stream(ctx, req)
}

// adapters make the adapter for a format of answers, with its last answer.
var adapters = map[string]struct {
	connect func(client *http.Client) (provider.Provider, error)
	last    string // a text, as an answer
}{
	"openai-chat": {func(client *http.Client) (provider.Provider, error) {
		return openai.New(openai.Config{Model: "test-model", BaseURL: "http://wire.test/v1", HTTPClient: client})
	},
		`{"id":"last","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"That is all."},"finish_reason":"stop"}]}`},
	"openai-responses": {func(client *http.Client) (provider.Provider, error) {
		return openai.New(openai.Config{Model: "test-model", BaseURL: "http://wire.test/v1", HTTPClient: client,
			API: openai.Responses})
	},
		`{"id":"last","model":"m","status":"completed","output":[{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"That is all."}]}]}`},
	"anthropic-messages": {func(client *http.Client) (provider.Provider, error) {
		return anthropic.New(anthropic.Config{Model: "test-model", APIKey: "test-key", BaseURL: "http://wire.test",
			HTTPClient: client})
	},
		`{"type":"message","id":"last","model":"m","role":"assistant","content":[{"type":"text","text":"That is all."}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`},
	"gemini-generate-content": {func(client *http.Client) (provider.Provider, error) {
		return gemini.New(gemini.Config{Model: "test-model", APIKey: "test-key", BaseURL: "http://wire.test",
			HTTPClient: client})
	},
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"That is all."}]},"finishReason":"STOP"}],"responseId":"last"}`},
}

// newConversation returns the conversation of a case, with its answers that aren't errors; ok is
// false if there are none.
func newConversation(t *testing.T, c *wire.Case) (_ *conversation, ok bool) {
	t.Helper()
	a, ok := adapters[c.Wire]
	if !ok {
		return nil, false
	}
	conv := &conversation{name: c.Name, offered: map[string]bool{}}
	add := func(status int, header http.Header, body string) {
		tr := &wire.Offline{Reply: func(*http.Request) *http.Response {
			res := wire.Reply(status, strings.NewReader(body))
			res.Header = header.Clone()
			return res
		}}
		m, err := a.connect(&http.Client{Transport: tr})
		require.NoError(t, err)
		res, err := provider.Generate(t.Context(), m,
			&provider.Request{Messages: []provider.Message{provider.User("Hello.")}})
		if err != nil {
			return // an agent doesn't go on after it
		}
		for _, call := range res.Calls() {
			conv.offer(call.Name)
		}
		conv.answers = append(conv.answers, m)
	}
	for i := range c.Exchanges {
		r := &c.Exchanges[i].Response
		body, err := r.Bytes()
		require.NoError(t, err)
		add(r.Status, r.Header(), string(body))
	}
	ok = len(conv.answers) > 0
	add(http.StatusOK, http.Header{"Content-Type": {"application/json"}}, a.last)
	return conv, ok
}

// offer adds a tool of that name, whose result is always the same. A name that no tool may have
// stays without one.
func (c *conversation) offer(name string) {
	tool := tools.Raw{
		Spec: tools.Spec{Name: name, Description: "Does it.", Schema: []byte(`{"type":"object"}`), Idempotent: true},
		Run: func(context.Context, json.RawMessage) (tools.Result, error) {
			return tools.Text(name + " is done"), nil
		},
	}
	if _, err := tool.Define(); err == nil && !c.offered[name] {
		c.tools = append(c.tools, tool)
		c.offered[name] = true
	}
}

// formats are the formats of the hand-written exchanges, by the adapter's folder and the beginning
// of the file's name.
var formats = []struct{ folder, prefix, format string }{
	{"openai", "chat-", "openai-chat"}, {"openai", "responses-", "openai-responses"},
	{"anthropic", "", "anthropic-messages"}, {"gemini", "", "gemini-generate-content"},
}

// own returns the hand-written conversations.
func own(t *testing.T) (all []*conversation) {
	for _, f := range formats {
		files, err := filepath.Glob(filepath.Join("..", "..", f.folder, "testdata", "quirks", f.prefix+"*"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			if ext := filepath.Ext(file); ext != ".sse" && ext != ".json" {
				continue
			}
			c := wire.File(f.format, file)
			c.Name = f.folder + "/" + filepath.Base(file)
			if conv, ok := newConversation(t, c); ok {
				all = append(all, conv)
			}
		}
	}
	return all
}

// recorded returns the recorded conversations, and skips the test if there are no recordings.
func recorded(t *testing.T) (all []*conversation) {
	for _, c := range wire.Cases(t) {
		if conv, ok := newConversation(t, c); ok {
			all = append(all, conv)
		}
	}
	if len(all) == 0 {
		t.Fatal(os.Getenv(wire.Variable) + " has no recorded conversations")
	}
	return all
}
