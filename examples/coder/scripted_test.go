package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A turn is what the model of a test answers.
type turn struct {
	text  string
	calls []toolCall
	// held, if it isn't nil, is called after half of the text, or before a turn without text. The
	// rest follows once it returns true.
	held   func(*http.Request) bool
	refuse bool // the request is too long
}

type toolCall struct{ name, input string }

func say1(text string) turn { return turn{text: text} }

func use(name string, input any) turn {
	text, ok := input.(string)
	if !ok {
		raw, err := json.Marshal(input)
		if err != nil {
			panic(err)
		}
		text = string(raw)
	}
	return turn{calls: []toolCall{{name, text}}}
}

// A said is one message of a request.
type said struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Calls   []struct {
		ID string `json:"id"`
	} `json:"tool_calls"`
}

func (s said) text() string {
	var text string
	if json.Unmarshal(s.Content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(s.Content, &parts)
	for _, p := range parts {
		text += p.Text
	}
	return text
}

// A scripted is a server of OpenAI's chat completions. It keeps no state of a conversation: what it
// answers depends on the request alone.
type scripted struct {
	*httptest.Server
	answer func(messages []said) turn

	mu       sync.Mutex // guards what follows
	requests []string
}

func newScripted(t *testing.T, answer func(messages []said) turn) *scripted {
	t.Helper()
	s := &scripted{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// script answers each request of a person's with the turns, one for each reply since.
func script(turns map[string][]turn) func(messages []said) turn {
	return func(messages []said) turn {
		for i := len(messages) - 1; i >= 0; i-- {
			for prompt, list := range turns {
				if messages[i].Role != "user" || !strings.Contains(messages[i].text(), prompt) {
					continue
				}
				at := 0
				for _, m := range messages[i:] {
					if m.Role == "assistant" {
						at++
					}
				}
				if at < len(list) {
					return list[at]
				}
				return say1("There is no more.")
			}
		}
		return say1("What?")
	}
}

func (s *scripted) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

// encoded returns a name as the provider sends it.
func encoded(name string) string { return strings.ReplaceAll(name, ".", "_") }

func (s *scripted) serve(w http.ResponseWriter, r *http.Request) {
	var raw json.RawMessage
	var in struct{ Messages []said }
	if json.NewDecoder(r.Body).Decode(&raw) != nil || json.Unmarshal(raw, &in) != nil {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, string(raw))
	s.mu.Unlock()
	t := s.answer(in.Messages)
	if t.text == "" && t.held != nil && !t.held(r) {
		panic(http.ErrAbortHandler)
	}
	if t.refuse {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":{"message":"This model's maximum context length is 16000 tokens. However, your messages `+
			`resulted in 19000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(choice map[string]any) {
		line, _ := json.Marshal(map[string]any{"id": "1", "model": "m", "choices": []any{choice}})
		fmt.Fprintf(w, "data: %s\n\n", line)
		w.(http.Flusher).Flush()
	}
	half := len(t.text) / 2
	if t.text != "" {
		send(map[string]any{"index": 0, "delta": map[string]any{"content": t.text[:half]}})
		if t.held != nil && !t.held(r) {
			panic(http.ErrAbortHandler)
		}
		send(map[string]any{"index": 0, "delta": map[string]any{"content": t.text[half:]}})
	}
	reason := "stop"
	if len(t.calls) > 0 {
		reason = "tool_calls"
	}
	for i, c := range t.calls {
		send(map[string]any{"index": 0, "delta": map[string]any{"tool_calls": []any{map[string]any{"index": i,
			"id": fmt.Sprintf("call_%d_%d", len(in.Messages), i), "type": "function",
			"function": map[string]any{"name": encoded(c.name), "arguments": c.input}}}}})
	}
	send(map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason})
	fmt.Fprint(w, "data: {\"id\":\"1\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":5}}\n\n"+
		"data: [DONE]\n\n")
}
