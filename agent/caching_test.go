package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/openai"
	"github.com/pawlkit/pawl/tools"
)

// A modelServer answers the requests of a client without a network, one reply after the other, and
// keeps their bodies.
type modelServer struct {
	encode func(id int, text string, calls []string) any
	bodies []map[string]json.RawMessage
}

// conversations are the replies of three runs: a text, and the tools that are called.
var conversations = []struct {
	text  string
	calls []string
}{
	{"I look.", []string{"get", "put"}}, {"And again.", []string{"get"}}, {"It is 5 <°C>.", nil},
	{"Once more.", []string{"put"}}, {"Done.", nil},
	{"You're welcome.", nil},
}

func (s *modelServer) RoundTrip(req *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, err
	}
	reply := conversations[len(s.bodies)]
	s.bodies = append(s.bodies, body)
	answer, err := json.Marshal(s.encode(len(s.bodies), reply.text, reply.calls))
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(answer))), Request: req}, err
}

type object = map[string]any

func anthropicReply(id int, text string, calls []string) any {
	content, stop := []any{object{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
		object{"type": "text", "text": text}}, "end_turn"
	for i, name := range calls {
		content, stop = append(content, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", id, i),
			"name": name, "input": object{"n": id}}), "tool_use"
	}
	return object{"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
		"stop_reason": stop, "usage": object{"input_tokens": 10, "output_tokens": 5}}
}

func chatReply(id int, text string, calls []string) any {
	message, stop := object{"role": "assistant", "content": text, "reasoning_content": "Hm."}, "stop"
	var list []any
	for i, name := range calls {
		list, stop = append(list, object{"id": fmt.Sprintf("call_%d_%d", id, i), "type": "function",
			"function": object{"name": name, "arguments": fmt.Sprintf(`{"n": %d}`, id)}}), "tool_calls"
	}
	if message["tool_calls"] = list; list == nil {
		delete(message, "tool_calls")
	}
	return object{"id": "m", "model": "m", "choices": []any{object{"finish_reason": stop, "message": message}},
		"usage": object{"prompt_tokens": 10, "completion_tokens": 5}}
}

func responsesReply(id int, text string, calls []string) any {
	output := []any{object{"type": "reasoning", "id": fmt.Sprint("rs_", id),
		"summary": []any{object{"type": "summary_text", "text": "Hm."}}, "encrypted_content": "c2Vj"},
		object{"type": "message", "id": fmt.Sprint("msg_", id), "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": text, "annotations": []any{}}}}}
	for i, name := range calls {
		output = append(output,
			object{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", id, i), "call_id": fmt.Sprintf("call_%d_%d",
				id, i), "name": name, "arguments": fmt.Sprintf(`{"n": %d}`, id), "status": "completed"})
	}
	return object{"id": "m", "model": "m", "status": "completed", "output": output,
		"usage": object{"input_tokens": 10, "output_tokens": 5}}
}

func geminiReply(id int, text string, calls []string) any {
	parts := []any{object{"text": "Hm.", "thought": true}, object{"text": text}}
	for _, name := range calls {
		parts = append(parts,
			object{"functionCall": object{"name": name, "args": object{"n": id}}, "thoughtSignature": "c2ln"})
	}
	return object{"candidates": []any{object{"content": object{"role": "model", "parts": parts},
		"finishReason": "STOP"}}, "usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5}}
}

// A wireAPI is an API with its adapter.
type wireAPI struct {
	name   string
	model  func(client *http.Client) (provider.Provider, error)
	encode func(id int, text string, calls []string) any
	// the fields of a request that are the prompt, in the order in which the model reads them; the
	// last is the conversation
	prompt  []string
	marks   bool   // the prompt is marked
	key     bool   // a key is sent
	options string // the key of its options
}

func openAI(model, url string, api openai.API) func(*http.Client) (provider.Provider, error) {
	return func(client *http.Client) (provider.Provider, error) {
		return openai.New(openai.Config{Model: model, BaseURL: url, API: api, APIKey: "sk-test", HTTPClient: client})
	}
}

var wireAPIs = []wireAPI{
	{name: "anthropic", encode: anthropicReply, prompt: []string{"tools", "system", "messages"}, marks: true,
		options: "anthropic",
		model: func(client *http.Client) (provider.Provider, error) {
			return anthropic.New(anthropic.Config{Model: "claude-sonnet-5-5", APIKey: "sk-test", HTTPClient: client})
		}},
	{name: "responses", encode: responsesReply, prompt: []string{"tools", "instructions", "input"}, key: true,
		options: "openai", model: openAI("gpt-5", "", openai.Responses)},
	{name: "chat", encode: chatReply, prompt: []string{"tools", "messages"}, key: true, options: "openai",
		model: openAI("gpt-5", "", openai.Chat)},
	{name: "openrouter", encode: chatReply, prompt: []string{"tools", "messages"}, marks: true, options: "openai",
		model: openAI("anthropic/claude-sonnet-4.6", "https://openrouter.ai/api/v1", openai.Chat)},
	{name: "compatible", encode: chatReply, prompt: []string{"tools", "messages"}, options: "openai",
		model: openAI("llama", "https://api.groq.com/openai/v1", openai.Chat)},
	{name: "gemini", encode: geminiReply, prompt: []string{"tools", "systemInstruction", "contents"}, options: "gemini",
		model: func(client *http.Client) (provider.Provider, error) {
			return gemini.New(gemini.Config{Model: "gemini-3-pro-preview", APIKey: "sk-test", HTTPClient: client})
		}},
}

// converse lets an agent make the three runs of conversations in one session, the second in another
// process, and returns the requests.
func (w *wireAPI) converse(t *testing.T, change func(*agent.Config)) []map[string]json.RawMessage {
	t.Helper()
	server := &modelServer{encode: w.encode}
	model, err := w.model(&http.Client{Transport: server})
	require.NoError(t, err)
	store := &journal.MapStore{}
	process := func() *agent.Agent {
		var made effects
		cfg := agent.Config{Provider: model, Journal: store, Instructions: "Be brief.",
			Tools: []tools.Tool{made.tool(tools.Spec{Name: "put", Description: "Puts <n>."}),
				made.tool(tools.Spec{Name: "get", ReadOnly: true})}}
		if change != nil {
			change(&cfg)
		}
		a, err := agent.New(cfg)
		require.NoError(t, err)
		return a
	}
	first, second := process(), process()
	for i, a := range []*agent.Agent{first, second, first} {
		res, err := a.Run(t.Context(),
			agent.Input{Session: "the session of Ann", Prompt: fmt.Sprintf("Question %d, & more?", i)})
		require.NoError(t, err)
		require.Equal(t, agent.Completed, res.Status)
	}
	require.Len(t, server.bodies, len(conversations))
	return server.bodies
}

const cacheMark = `"cache_control":{"type":"ephemeral"}`

// promptOf returns the bytes of a prompt, without the marks and the end of the conversation.
func (w *wireAPI) promptOf(body map[string]json.RawMessage) string {
	var b strings.Builder
	for _, field := range w.prompt {
		b.WriteString(strings.NewReplacer(","+cacheMark, "").Replace(string(body[field])))
	}
	return strings.TrimSuffix(b.String(), "]")
}

func (w *wireAPI) messages(t *testing.T, body map[string]json.RawMessage) (list []string) {
	t.Helper()
	var raw []json.RawMessage
	require.NoError(t, json.Unmarshal(body[w.prompt[len(w.prompt)-1]], &raw))
	for _, m := range raw {
		list = append(list, string(m))
	}
	return list
}

// A flickeringSource lists its tools in another order each time.
type flickeringSource struct{ listed int }

func (*flickeringSource) Name() string             { return "flickering" }
func (*flickeringSource) Changed() <-chan struct{} { return nil }

func (s *flickeringSource) List(context.Context) ([]tools.Tool, error) {
	var made effects
	list := []tools.Tool{made.tool(tools.Spec{Name: "b"}), made.tool(tools.Spec{Name: "a"}),
		made.tool(tools.Spec{Name: "c"})}
	if s.listed++; s.listed%2 == 0 {
		slices.Reverse(list)
	}
	return list, nil
}

// cachingConfigs are what might change the beginning of a prompt.
var cachingConfigs = map[string]func(*agent.Config){
	"plain":   nil,
	"sources": func(c *agent.Config) { c.Sources = []tools.Source{&flickeringSource{}} },
	"memory": func(c *agent.Config) {
		c.Memory = &agent.Memory{NoAsk: true,
			Context: func(context.Context, agent.ContextInput) (memory.Context, error) {
				return memory.Context{User: "The user is Ann."}, nil
			}}
	},
	"composed": func(c *agent.Config) {
		c.Compose = func(context.Context, agent.ComposeInput) (string, error) { return "Be brief, composed.", nil }
	},
	"hooked and redacted": func(c *agent.Config) {
		c.Redact = func(s string) string { return strings.ReplaceAll(s, "Question", "[redacted]") }
		c.Hooks = []agent.Hooks{{BeforeStep: func(ctx context.Context, step *agent.Step) error { return nil }}}
	},
	"options": func(c *agent.Config) {
		raw := json.RawMessage(`{"metadata":{"z":1,"a":2}}`)
		c.Params.Options = map[string]json.RawMessage{"anthropic": raw, "openai": raw, "gemini": raw}
	},
}

// TestARequestBeginsLikeTheOneBeforeAndIsMarked compares the prompts of a session's requests, over
// steps, runs and processes: all bytes of the tools, the system text and the messages of each are
// at the beginning of the next, apart from the marks. The mark of the newest message moves with it,
// and stays where it was for one more request.
func TestARequestBeginsLikeTheOneBeforeAndIsMarked(t *testing.T) {
	for name, change := range cachingConfigs {
		for _, w := range wireAPIs {
			t.Run(name+"/"+w.name, func(t *testing.T) {
				bodies := w.converse(t, change)
				for i, body := range bodies {
					if i > 0 {
						require.True(t, strings.HasPrefix(w.promptOf(body), w.promptOf(bodies[i-1])),
							"request %d:\n%s\nafter:\n%s", i, w.promptOf(body), w.promptOf(bodies[i-1]))
						require.Greater(t, len(w.promptOf(body)), len(w.promptOf(bodies[i-1])))
					}
					require.Equal(t, string(bodies[0]["prompt_cache_key"]), string(body["prompt_cache_key"]))
					require.Equal(t, w.key, body["prompt_cache_key"] != nil)
					all, err := json.Marshal(body)
					require.NoError(t, err)
					require.NotContains(t, string(body["prompt_cache_key"]), "Ann")
					if !w.marks {
						require.NotContains(t, string(all), "cache_control")
						continue
					}
					messages := w.messages(t, body)
					require.Contains(t, messages[len(messages)-1], cacheMark, "the newest message is marked")
					require.True(t, strings.HasSuffix(string(body["tools"]), cacheMark+"}]"), "the last tool is marked")
					require.Contains(t, string(body["system"])+messages[0], cacheMark, "the system text is marked")
					want := 3
					if i > 0 {
						want = 4
						require.Contains(t, messages[len(w.messages(t, bodies[i-1]))-1], cacheMark,
							"what the request before put into the cache is marked")
					}
					require.Equal(t, want, strings.Count(string(all), cacheMark))
				}
			})
		}
	}
}

func TestPromptCachingCanBeTurnedOff(t *testing.T) {
	for _, w := range wireAPIs {
		for _, body := range w.converse(t, func(c *agent.Config) { c.NoPromptCache = true }) {
			all, err := json.Marshal(body)
			require.NoError(t, err)
			require.NotContains(t, string(all), "cache", w.name)
		}
	}
	marked := wireAPIs[0].converse(t, func(c *agent.Config) {
		c.NoPromptCache = true
		c.Params.Options = map[string]json.RawMessage{"anthropic": json.RawMessage(`{"cache":{"system":true}}`)}
	})
	for _, body := range marked {
		require.Contains(t, string(body["system"]), cacheMark, "what the host marks stays marked")
		require.NotContains(t, string(body["tools"])+string(body["messages"]), "cache_control")
	}
}
