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

// A reply is what a scripted model writes: a text, or a call of a tool.
type reply struct {
	text, tool string
	input      any
}

// A message is one of a request to a model.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

func (m message) text() string {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(m.Content, &parts)
	for _, p := range parts {
		text += p.Text
	}
	return text
}

// A scripted is a server of OpenAI's chat completions on this computer. What it answers depends on
// the request alone, so that it serves several processes.
type scripted struct {
	*httptest.Server

	mu       sync.Mutex         // guards what follows
	replies  map[string][]reply // by a text in the request of a person: one reply a step
	requests [][]message
	offers   [][]offered
}

// An offered is a tool in a request to a model.
type offered struct {
	Function struct {
		Name, Description string
		Parameters        json.RawMessage
	} `json:"function"`
}

func newScripted(t *testing.T, replies map[string][]reply) *scripted {
	t.Helper()
	s := &scripted{replies: replies}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// env is the environment of a program whose model is s.
func (s *scripted) env(name string) string {
	return map[string]string{"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": s.URL + "/v1",
		"OPENAI_MODEL": "scripted"}[name]
}

// script adds replies.
func (s *scripted) script(prompt string, replies ...reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies[prompt] = replies
}

// asked returns the requests so far.
func (s *scripted) asked() [][]message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]message(nil), s.requests...)
}

// next returns what comes after the messages.
func (s *scripted) next(messages []message) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(messages[0].text(), "What does the person want of this call?") { // package consent asks
		return reply{text: "requests"}
	}
	s.requests = append(s.requests, messages)
	steps := 0
	for i := len(messages) - 1; i >= 0; i-- {
		for prompt, list := range s.replies {
			if messages[i].Role == "user" && strings.Contains(messages[i].text(), prompt) && steps < len(list) {
				return list[steps]
			}
		}
		if messages[i].Role == "assistant" {
			steps++
		}
	}
	return reply{text: "Done."}
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages []message
		Tools    []offered
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/chat/completions" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	type object map[string]any
	s.mu.Lock()
	s.offers = append(s.offers, in.Tools)
	s.mu.Unlock()
	said, delta, reason := s.next(in.Messages), object{}, "stop"
	if said.tool == "" {
		delta["content"] = said.text
	} else {
		input, _ := json.Marshal(said.input)
		reason = "tool_calls"
		delta["tool_calls"] = []object{{"index": 0, "id": fmt.Sprint("call-", len(in.Messages)), "type": "function",
			"function": object{"name": strings.ReplaceAll(said.tool, ".", "_"), "arguments": string(input)}}}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []object{{"index": 0, "delta": delta},
		{"index": 0, "delta": object{}, "finish_reason": reason}} {
		line, _ := json.Marshal(object{"id": "1", "model": "scripted", "choices": []object{choice}})
		fmt.Fprintf(w, "data: %s\n\n", line)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
