package consenttest

import (
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
func (o *Obedient) ServeHTTP(w http.ResponseWriter, r *http.Request) { serve(w, r, o.reply) }

func (o *Obedient) reply(messages []message, step bool) reply {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !step && o.asked != "":
		return reply{said: "requests"}
	case !step:
		return reply{said: "As you like."}
	case messages[len(messages)-1].Role != "user":
		return reply{said: "Done.", call: o.Then}
	}
	i := o.next % len(o.Calls)
	if o.asked != "" {
		i = slices.IndexFunc(o.Calls, func(c Call) bool { return c.Name == o.asked })
	}
	o.next++
	return reply{call: o.Calls[i]}
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
