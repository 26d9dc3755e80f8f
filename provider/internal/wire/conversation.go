package wire

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Conversation returns the messages of a request's body in a normalized form, so that equivalent messages are equal: no system text, no cache
// marks, no empty or default values; content as a list of parts; arguments and results parsed; consecutive messages of one role joined if
// the format treats them as one; nothing under the keys in ignore.
func Conversation(wire string, body []byte, ignore ...string) ([]any, error) {
	form, ok := forms[wire]
	if !ok {
		return nil, fmt.Errorf("wire: requests of the format %q can't be compared", wire)
	}
	if form.camel {
		var err error
		if body, err = camelCase(body); err != nil {
			return nil, fmt.Errorf("wire: %w", err)
		}
	}
	var in map[string]any
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	list, ok := in[form.key].([]any)
	if text, isText := in[form.key].(string); isText {
		list, ok = []any{map[string]any{"role": "user", "content": text}}, true
	}
	if !ok {
		return nil, fmt.Errorf("wire: the body has no %s", form.key)
	}
	var out []any
	for _, one := range list {
		m, ok := one.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("wire: a message is a %T", one)
		}
		if m["role"] == "system" || m["role"] == "developer" {
			continue
		}
		form.message(m)
		if m, ok := tidy(m, slices.Concat(ignore, form.ignore)).(map[string]any); ok {
			out = form.append(out, m)
		}
	}
	return out, nil
}

// A form describes how a format encodes conversations.
type form struct {
	key     string // key of the list of messages
	camel   bool   // keys may be spelled in two ways
	parts   string // key of a message's parts if consecutive messages of a role are joined; else empty
	ignore  []string
	message func(m map[string]any) // normalizes a message
}

var forms = map[string]form{
	"anthropic-messages":      {key: "messages", parts: "content", ignore: []string{"cache_control", "caller", "citations"}, message: anthropicForm},
	"openai-chat":             {key: "messages", ignore: []string{"cache_control", "refusal", "annotations", "audio", "index"}, message: chatForm},
	"openai-responses":        {key: "input", ignore: []string{"status", "annotations", "logprobs"}, message: responsesForm},
	"gemini-generate-content": {key: "contents", camel: true, parts: "parts", message: geminiForm},
}

// append appends a message, or joins it to the previous one.
func (f *form) append(out []any, m map[string]any) []any {
	if f.parts != "" && len(out) > 0 {
		before, _ := out[len(out)-1].(map[string]any)
		a, okA := before[f.parts].([]any)
		b, okB := m[f.parts].([]any)
		if okA && okB && before["role"] == m["role"] {
			before[f.parts] = slices.Concat(a, b)
			return out
		}
	}
	return append(out, m)
}

// tidy removes empty values: null, false, empty lists, objects and texts, and ignored keys.
func tidy(v any, ignore []string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if slices.Contains(ignore, key) {
				continue
			}
			if value = tidy(value, ignore); value != nil {
				out[key] = value
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		var out []any
		for _, value := range v {
			if value = tidy(value, ignore); value != nil {
				out = append(out, value)
			}
		}
		if out == nil {
			return nil
		}
		return out
	case string:
		if v == "" {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return v
}

// listed converts content that is a text to a list of parts.
func listed(m map[string]any, key, kind string) {
	if text, ok := m[key].(string); ok {
		m[key] = nil
		if text != "" {
			m[key] = []any{map[string]any{"type": kind, "text": text}}
		}
	}
}

// parsed replaces a text that is JSON by its value.
func parsed(m map[string]any, key string) {
	var v any
	if text, ok := m[key].(string); ok && json.Unmarshal([]byte(text), &v) == nil {
		m[key] = v
	}
}

// each calls f for the objects of a list.
func each(list any, f func(map[string]any)) {
	items, _ := list.([]any)
	for _, one := range items {
		if m, ok := one.(map[string]any); ok {
			f(m)
		}
	}
}

func anthropicForm(m map[string]any) {
	listed(m, "content", "text")
	each(m["content"], func(block map[string]any) {
		if block["type"] == "tool_result" {
			listed(block, "content", "text")
		}
	})
}

func chatForm(m map[string]any) {
	listed(m, "content", "text")
	if m["role"] == "tool" {
		delete(m, "name")
	}
	each(m["tool_calls"], func(call map[string]any) {
		if f, ok := call["function"].(map[string]any); ok {
			parsed(f, "arguments")
		}
	})
}

func responsesForm(m map[string]any) {
	if m["type"] == nil {
		m["type"] = "message"
	}
	switch m["type"] {
	case "message":
		delete(m, "id")
		listed(m, "content", "text")
		each(m["content"], func(part map[string]any) {
			if part["type"] == "input_text" || part["type"] == "output_text" {
				part["type"] = "text"
			}
		})
	case "function_call":
		delete(m, "id")
		parsed(m, "arguments")
	case "function_call_output":
		delete(m, "id")
		listed(m, "output", "input_text")
	}
}

func geminiForm(m map[string]any) {
	if m["role"] == "function" || m["role"] == nil {
		m["role"] = "user"
	}
	each(m["parts"], func(part map[string]any) {
		if f, ok := part["functionResponse"].(map[string]any); ok {
			raw, err := json.Marshal(f["response"])
			if err == nil {
				f["response"] = unwrapped(raw)
				parsed(f, "response")
			}
		}
	})
}
