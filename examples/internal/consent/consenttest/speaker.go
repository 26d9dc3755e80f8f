package consenttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// A Speaker is a server of chat completions that does what the turns of a [Talk] say. Asked what
// the person wants of a call, it says what the call's move says. It is safe for concurrent use.
type Speaker struct {
	// End is the tool with whose input {"message": …} the model ends a turn; empty: it says it.
	End string
	// Ref returns what a name in braces stands for in the input of a call.
	Ref func(name string) string
	// Write answers a request of a tool that has no Writes; nil: it gets a few words.
	Write func(system, prompt string) string

	mu     sync.Mutex // guards what follows
	moves  []*Move    // that are left
	now    *Move      // the last one
	calls  int
	judged int
	wrong  []error
	stuck  chan struct{}
}

// Begin has the server make the moves of a turn. The channel is closed when it is at work until the
// person stops it.
func (s *Speaker) Begin(turn *Turn) (stuck <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moves, s.now, s.stuck = turn.Moves, nil, make(chan struct{})
	if turn.Click && len(s.moves) > 0 { // what a button does
		s.now, s.moves = s.moves[0], s.moves[1:]
	}
	return s.stuck
}

// Now returns the move that was made last; nil: none.
func (s *Speaker) Now() *Move {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Over returns what went otherwise than the turn says, and how many calls the server has judged
// since the last turn.
func (s *Speaker) Over() (wrong []error, judged int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wrong, judged = s.wrong, s.judged
	for _, m := range s.moves {
		wrong = append(wrong, fmt.Errorf("the model isn't asked for %s%s", m.Call.Name, m.Say))
	}
	s.wrong, s.judged, s.moves = nil, 0, nil
	return wrong, judged
}

type chatMessage struct {
	Role    string
	Content json.RawMessage
}

func (m chatMessage) text() string {
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

// ServeHTTP answers a request.
func (s *Speaker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []chatMessage
		Tools    []any
	}
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &req) != nil || len(req.Messages) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	said, call, stop := s.reply(req.Messages, len(req.Tools) > 0)
	if stop {
		<-r.Context().Done()
		return
	}
	type object map[string]any
	delta, reason := object{"content": said}, "stop"
	if call.Name != "" {
		reason = "tool_calls"
		delta = object{"tool_calls": []object{{"index": 0, "id": said, "type": "function",
			"function": object{"name": call.Name, "arguments": call.Input}}}}
	}
	line, _ := json.Marshal(object{"choices": []object{{"delta": delta, "finish_reason": reason}}})
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", line)
}

// reply returns the answer to a request: what is said or the id of a call, and the call.
func (s *Speaker) reply(messages []chatMessage, step bool) (said string, call Call, stop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, last := messages[0].text(), messages[len(messages)-1].text()
	switch {
	case !step && strings.Contains(first, "What does the person want of this call?"):
		s.judged++
		if s.now == nil || s.now.Judge == "" {
			return "requests", call, false
		}
		return s.now.Judge, call, false
	case !step && s.now != nil && s.now.Writes != "":
		return s.now.Writes, call, false
	case !step && s.Write != nil:
		return s.Write(first, last), call, false
	case !step:
		return "As you like.", call, false
	}
	if s.now != nil && !strings.Contains(last, s.now.Gets) {
		s.wrong = append(s.wrong, fmt.Errorf("%s gets %q, without %q", s.now.Call.Name, last, s.now.Gets))
	}
	if len(s.moves) == 0 {
		s.wrong = append(s.wrong, fmt.Errorf("the model is asked once more, after %q", last))
		return s.say("Done.")
	}
	s.now, s.moves = s.moves[0], s.moves[1:]
	switch {
	case s.now.Stop:
		close(s.stuck)
		return "", call, true
	case s.now.Call.Name == "":
		return s.say(s.now.Say)
	}
	call = s.now.Call
	call.Input = Fill(call.Input, s.Ref)
	return s.id(), call, false
}

// say returns an answer in words.
func (s *Speaker) say(text string) (said string, call Call, stop bool) {
	if s.End == "" {
		return text, call, false
	}
	input, _ := json.Marshal(map[string]string{"message": text})
	return s.id(), Call{s.End, string(input)}, false
}

func (s *Speaker) id() string {
	s.calls++
	return fmt.Sprint("call-", s.calls)
}

var inBraces = regexp.MustCompile(`\{([\pL][^{}":,]*)\}`)

// Fill replaces the names in braces in a text by what ref returns.
func Fill(text string, ref func(name string) string) string {
	if ref == nil {
		return text
	}
	return inBraces.ReplaceAllStringFunc(text, func(name string) string { return ref(strings.Trim(name, "{}")) })
}
