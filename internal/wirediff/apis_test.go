package wirediff

import (
	"encoding/json"
	"net/http"
	"strings"
)

// An api is one of those that are compared.
type api struct {
	name       string // of its cases
	recordings string // their folder
	maker      func(h *http.Client) (client, error)
	reasons    bool // the maker's client knows reasoning

	ping, unknown frame // events that say nothing
	failures      []frame
	nulls         []null
	finishes      [][]any  // where its finish reasons are
	stops         []string // the finish reasons that it has
	piece         func(v *value) ([]any, bool)
	second        func(v *value) // removes what only the first of two pieces has
}

// A null is a member that may be null where it may be missing.
type null struct {
	path []any
	key  string
}

// ends reports whether the data of an event is the end of an answer.
func (a *api) ends(data string) bool {
	v := parse(data)
	switch a.name {
	case "chat":
		usage := v.at("usage") // it comes after the reason
		return strings.TrimSpace(data) == "[DONE]" || usage != nil && usage.kind == '{' && nothing(v.at("choices"))
	case "responses":
		return v.at("type").is("response.completed") || v.at("type").is("response.incomplete") ||
			v.at("type").is("response.failed")
	case "claude":
		return v.at("type").is("message_stop")
	}
	reason, _ := v.at("candidates", 0, "finishReason").string()
	return reason != ""
}

func nulls(path []any, keys ...string) []null {
	var all []null
	for _, key := range keys {
		all = append(all, null{path, key})
	}
	return all
}

func data(text string) frame { return frame{data: text, whole: true} }

// named returns an event whose name is its type.
func named(text string) frame {
	var typed struct{ Type string }
	_ = json.Unmarshal([]byte(text), &typed) // it is one of ours
	return frame{event: typed.Type, data: text, whole: true}
}

// every returns all of several lists.
func every[T any](lists ...[]T) []T {
	var all []T
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

var apis = []*api{
	{name: "chat", recordings: "openai-chat", maker: chatClient,
		ping:    frame{line: ": ping"},
		unknown: data(`{"id":"$ID","object":"chat.completion.unknown","choices":[],"x":{"text":"no"}}`),
		failures: []frame{data(`{"error":{"message":"boom","type":"server_error","code":500}}`),
			data(`{"error":"boom"}`), data(`{"error":{"message":"boom","code":429},"choices":[]}`)},
		nulls: every(nulls([]any{"choices", 0, "delta"}, "content", "refusal", "tool_calls", "function_call", "audio",
			"annotations", "reasoning_content"), nulls([]any{"choices", 0}, "finish_reason", "logprobs"),
			nulls(nil, "usage", "service_tier", "x_groq")),
		finishes: [][]any{{"choices", 0, "finish_reason"}},
		stops:    []string{"stop", "length", "tool_calls", "content_filter", "function_call", "", "error", "other"},
		piece:    chatPiece, second: chatSecond},
	{name: "responses", recordings: "openai-responses", maker: responsesClient, reasons: true,
		ping:    named(`{"type":"keepalive","sequence_number":9}`),
		unknown: named(`{"type":"response.unknown.delta","sequence_number":9,"output_index":0,"delta":"no"}`),
		failures: []frame{named(`{"type":"error","code":"server_error","message":"boom","sequence_number":9}`),
			named(`{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"server_error",` +
				`"message":"boom"},"output":[]}}`)},
		nulls: every(nulls(nil, "logprobs", "obfuscation"), nulls([]any{"response"}, "error", "incomplete_details",
			"usage", "instructions"), nulls([]any{"item"}, "phase", "namespace", "caller")),
		finishes: [][]any{{"response", "status"}},
		stops:    []string{"completed", "incomplete", "failed", "cancelled", "in_progress", "", "other"},
		piece: func(v *value) ([]any, bool) {
			kind, _ := v.at("type").string()
			return []any{"delta"}, strings.HasPrefix(kind, "response.") && strings.HasSuffix(kind, ".delta")
		}},
	{name: "claude", recordings: "anthropic", maker: claudeClient, reasons: true,
		ping:     named(`{"type":"ping"}`),
		unknown:  named(`{"type":"unknown_event","index":0,"delta":{"type":"text_delta","text":"no"}}`),
		failures: []frame{named(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)},
		nulls: every(nulls([]any{"message"}, "stop_reason", "stop_sequence", "container"), nulls([]any{"delta"},
			"stop_details", "container"), nulls([]any{"content_block"}, "citations", "caller"), nulls([]any{"usage"},
			"server_tool_use", "cache_read_input_tokens"), nulls(nil, "usage", "message")),
		finishes: [][]any{{"delta", "stop_reason"}},
		stops:    []string{"end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal", "", "other"},
		piece: func(v *value) ([]any, bool) {
			key := map[string]string{`"text_delta"`: "text", `"thinking_delta"`: "thinking",
				`"input_json_delta"`: "partial_json"}
			kind := v.at("delta", "type")
			if kind == nil || !v.at("type").is("content_block_delta") || key[kind.raw] == "" {
				return nil, false
			}
			return []any{"delta", key[kind.raw]}, true
		}},
	{name: "gemini", recordings: "gemini", maker: geminiClient, reasons: true,
		ping:    frame{line: ": ping"},
		unknown: data(`{"unknown":{"text":"no"}}`),
		failures: []frame{data(`{"error":{"code":503,"message":"boom","status":"UNAVAILABLE"}}`),
			{line: `{"error":{"code":503,"message":"boom","status":"UNAVAILABLE"}}`}},
		nulls: every(nulls([]any{"candidates", 0}, "finishReason", "finishMessage", "citationMetadata",
			"groundingMetadata"), nulls(nil, "promptFeedback", "usageMetadata"), nulls([]any{"usageMetadata"},
			"thoughtsTokenCount"), nulls([]any{"candidates", 0, "content", "parts", 0}, "thought", "thoughtSignature",
			"functionCall", "inlineData")),
		finishes: [][]any{{"candidates", 0, "finishReason"}},
		stops: []string{"STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "OTHER", "CONTINUATION",
			"FINISH_REASON_UNSPECIFIED", "UNKNOWN"},
		piece: func(v *value) ([]any, bool) {
			parts := v.at("candidates", 0, "content", "parts")
			if parts == nil || len(parts.vals) != 1 || v.at("candidates", 0, "finishReason") != nil {
				return nil, false
			}
			for _, key := range parts.vals[0].keys {
				if key != `"text"` && key != `"thought"` {
					return nil, false
				}
			}
			return []any{"candidates", 0, "content", "parts", 0, "text"}, true
		}},
}

// chatPiece returns where the text or the arguments of a chunk are that has nothing else.
func chatPiece(v *value) ([]any, bool) {
	choices := v.at("choices")
	if choices == nil || len(choices.vals) != 1 || !nothing(v.at("choices", 0, "finish_reason")) ||
		!nothing(v.at("usage")) {
		return nil, false
	}
	delta := v.at("choices", 0, "delta")
	if delta == nil {
		return nil, false
	}
	has := ""
	for i, key := range delta.keys {
		if key != `"role"` && !nothing(delta.vals[i]) {
			has += key
		}
	}
	call := delta.at("tool_calls", 0)
	switch {
	case has == `"content"`:
		return []any{"choices", 0, "delta", "content"}, true
	case has == `"tool_calls"` && len(delta.at("tool_calls").vals) == 1 && call.at("index") != nil &&
		call.at("function", "arguments") != nil && call.at("extra_content") == nil:
		return []any{"choices", 0, "delta", "tool_calls", 0, "function", "arguments"}, true
	}
	return nil, false
}

// nothing reports whether a value is missing, null or empty.
func nothing(v *value) bool {
	return v == nil || v.raw == "null" || v.raw == `""` || v.raw == "" && len(v.vals) == 0
}

// chatSecond removes the id and the name of a call.
func chatSecond(v *value) {
	if c := v.at("choices", 0, "delta", "tool_calls", 0); c != nil {
		c.drop("id", "type")
		c.at("function").drop("name")
	}
}

// drop removes members of an object.
func (v *value) drop(keys ...string) {
	for _, key := range keys {
		for i := range v.keys {
			if v.keys[i] == `"`+key+`"` {
				v.remove(i)
				break
			}
		}
	}
}
