package consenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// A message is one of a request.
type message struct {
	Role    string
	Content json.RawMessage
}

func (m message) text() string {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(m.Content, &parts) // it has no other contents
	for _, p := range parts {
		text += p.Text
	}
	return text
}

// judges reports whether a request without tools asks what the person wants of a call.
func judges(messages []message) bool {
	return strings.Contains(messages[0].text(), "What does the person want of this call?")
}

// A reply is a text, or a call. Without both, none comes.
type reply struct {
	hangs bool // nothing comes until the client has left
	said  string
	call  Call
}

// answered returns the reply that ends a turn: a text, or the call of a tool for that.
func answered(end, text string) reply {
	if end == "" {
		return reply{said: text}
	}
	input, _ := json.Marshal(map[string]string{"message": text})
	return reply{call: Call{end, string(input)}}
}

// serve answers a request of chat completions by what next returns. step says that there are tools.
func serve(w http.ResponseWriter, r *http.Request, next func(messages []message, step bool) reply) {
	var req struct {
		Messages []message
		Tools    []any
	}
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &req) != nil || len(req.Messages) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	out := next(req.Messages, len(req.Tools) > 0)
	if out.hangs {
		<-r.Context().Done()
		return
	}
	type object map[string]any
	delta, reason := object{"content": out.said}, "stop"
	if out.call.Name != "" {
		reason = "tool_calls"
		delta = object{"tool_calls": []object{{"index": 0, "id": fmt.Sprint("call-", len(req.Messages)),
			"type": "function", "function": object{"name": out.call.Name, "arguments": out.call.Input}}}}
	}
	line, _ := json.Marshal(object{"choices": []object{{"delta": delta, "finish_reason": reason}}})
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", line)
}
