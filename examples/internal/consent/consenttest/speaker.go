package consenttest

import (
	"fmt"
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

// ServeHTTP answers a request.
func (s *Speaker) ServeHTTP(w http.ResponseWriter, r *http.Request) { serve(w, r, s.reply) }

func (s *Speaker) reply(messages []message, step bool) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, last := messages[0].text(), messages[len(messages)-1].text()
	switch {
	case !step && judges(messages):
		s.judged++
		if s.now == nil || s.now.Judge == "" {
			return reply{said: "requests"}
		}
		return reply{said: s.now.Judge}
	case !step && s.now != nil && s.now.Writes != "":
		return reply{said: s.now.Writes}
	case !step && s.Write != nil:
		return reply{said: s.Write(first, last)}
	case !step:
		return reply{said: "As you like."}
	}
	if s.now != nil && !strings.Contains(last, s.now.Gets) {
		s.wrong = append(s.wrong, fmt.Errorf("%s gets %q, without %q", s.now.Call.Name, last, s.now.Gets))
	}
	if len(s.moves) == 0 {
		s.wrong = append(s.wrong, fmt.Errorf("the model is asked once more, after %q", last))
		return answered(s.End, "Done.")
	}
	s.now, s.moves = s.moves[0], s.moves[1:]
	switch {
	case s.now.Stop:
		close(s.stuck)
		return reply{hangs: true}
	case s.now.Call.Name == "":
		return answered(s.End, s.now.Say)
	}
	return reply{call: Call{s.now.Call.Name, Fill(s.now.Call.Input, s.Ref)}}
}

var inBraces = regexp.MustCompile(`\{([\pL][^{}":,]*)\}`)

// Fill replaces the names in braces in a text by what ref returns.
func Fill(text string, ref func(name string) string) string {
	if ref == nil {
		return text
	}
	return inBraces.ReplaceAllStringFunc(text, func(name string) string { return ref(strings.Trim(name, "{}")) })
}
