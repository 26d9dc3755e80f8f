package consenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Call is a call of a tool, by its name on the wire, with its input as JSON.
type Call struct{ Name, Input string }

// An Obedient is a server of chat completions. After each message of a person it makes one of
// Calls, in turn, whatever the message says, and after a result it makes the call Then, or says
// Done.
//
// Asked what a message does, it doesn't know, unless Asked is set.
type Obedient struct {
	Calls []Call
	Then  Call // empty: a text

	mu    sync.Mutex
	asked string // the name of the only call
	next  int
}

// Asked says that the next messages ask for a change, and that name is the only call. Empty: they
// don't, and all calls are made.
func (o *Obedient) Asked(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = name
}

// ServeHTTP answers a request.
func (o *Obedient) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct{ Role string }
		Tools    []any
	}
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &req) != nil || len(req.Messages) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	said, call := "Done.", o.Then
	switch {
	case len(req.Tools) == 0 && o.asked != "":
		said, call = "requests", Call{}
	case len(req.Tools) == 0:
		said, call = "As you like.", Call{}
	case req.Messages[len(req.Messages)-1].Role == "user":
		i := o.next % len(o.Calls)
		if o.asked != "" {
			i = slices.IndexFunc(o.Calls, func(c Call) bool { return c.Name == o.asked })
		}
		call = o.Calls[i]
		o.next++
	}
	type object map[string]any
	delta, reason := object{"content": said}, "stop"
	if call.Name != "" {
		reason = "tool_calls"
		delta = object{"tool_calls": []object{{"index": 0, "id": fmt.Sprint("call-", o.next), "type": "function",
			"function": object{"name": call.Name, "arguments": call.Input}}}}
	}
	line, _ := json.Marshal(object{"choices": []object{{"delta": delta, "finish_reason": reason}}})
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", line)
}

// A Conversation is what a person says. Ask says that nothing may happen after the last message
// without a decision.
type Conversation struct {
	Ask      bool
	Messages []string
}

// Conversations returns those of lists. A block of a list has "ask" or "act" and a kind in its
// first line, and a message in each of the others.
func Conversations(t testing.TB, paths ...string) (all []Conversation) {
	t.Helper()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for block := range strings.SplitSeq(string(text), "\n\n") {
			lines := strings.Split(strings.TrimSpace(block), "\n")
			kind, _, _ := strings.Cut(lines[0], " ")
			switch {
			case strings.HasPrefix(lines[0], "#"):
			case kind != "ask" && kind != "act" || len(lines) < 2:
				t.Fatalf("%s: %q has neither ask nor act, or no message", path, lines)
			default:
				all = append(all, Conversation{kind == "ask", lines[1:]})
			}
		}
	}
	return all
}
