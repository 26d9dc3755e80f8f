package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// A turn is a message of the agent as useChat has it, with the input before it: a run, or what
// follows a message that was sent to the run while it was in progress.
type turn struct {
	id   string // of the agent's message
	run  string
	from uint64 // the number of the fact with which it begins; 0 if only its messages are left
	runs bool   // it begins with the run, so that another run can replace it
	key  string // of its input
}

// turns returns the turns of the session, in order.
func (g *grant) turns(r *http.Request) ([]turn, *problem) {
	facts, err := g.session.Facts(r.Context())
	if err != nil {
		return nil, failed(err)
	}
	return turnsOf(facts), nil
}

func turnsOf(facts []agent.Fact) (turns []turn) {
	before, rest := display.Current(facts)
	add := func(prefix string, messages []provider.Message) {
		for _, m := range fromMessages(prefix, messages) {
			if m.Role == "assistant" {
				turns = append(turns, turn{id: m.ID})
			}
		}
	}
	add("h", before)
	for _, f := range rest {
		switch f := f.(type) {
		case *agent.RunStarted:
			if f.ContextReset == nil {
				add(f.Run()+"-h", f.History)
				turns = append(turns, turn{id: f.Run(), run: f.Run(), from: f.Seq, runs: true, key: f.Key})
			}
		case *machine.Steered:
			turns = append(turns, turn{id: steeredID(f), run: f.Run(), from: f.Seq, key: f.Key})
		}
	}
	return turns
}

// steeredID returns the id of the agent's message that follows a message to the run in progress.
func steeredID(f *machine.Steered) string { return fmt.Sprintf("%s.%d", f.Run(), f.Seq) }

// newestTurn returns the newest turn. If it is the one whose message a client has, the log isn't
// read for that.
func (g *grant) newestTurn(r *http.Request, client string) (turn, *problem) {
	if t, ok := g.isNewest(r, client); ok {
		return t, nil
	}
	turns, p := g.turns(r)
	if p != nil || len(turns) == 0 {
		return turn{}, p
	}
	return turns[len(turns)-1], nil
}

// isNewest reports whether the newest run begins the turn with a message's id.
func (g *grant) isNewest(r *http.Request, id string) (turn, bool) {
	res, err := g.session.Result(r.Context())
	if err != nil || res.Run != id {
		return turn{}, false
	}
	return turn{id: id, run: id, from: res.Start, runs: true}, true
}

// A place is where a user's message belongs in a session.
type place struct {
	replaces uint64 // agent.Input.Replaces
	// content tells the input from others with the same message id: see message.version.
	content string
	answer  turn // the one that answers it already, if answered
	// answered says that the message has come before, in the same place with the same content.
	answered bool
}

// placeOf returns the place of a message. It replaces whatever the session has after the message
// that it follows: that is how useChat edits a message and asks for another answer. A client that
// posts only its newest message replaces the one with the same id.
func placeOf(req *uimessage.Request, turns []turn) (place, *problem) {
	pl := place{content: contentOf(req.Last)}
	own := known(uimessage.Earlier{ID: req.Last.ID})
	next := len(turns) // the first turn after the message that it follows
	if req.Alone {
		if i := slices.IndexFunc(turns, own); i >= 0 {
			next = i
		}
	} else {
		before := known(req.Before...)
		for next > 0 && !before(turns[next-1]) {
			next--
		}
		// the client may have the answers of runs that were pruned since
		if n := pruned(turns); next == 0 && answers(req.Before) >= n {
			next = n
		}
	}
	if next == len(turns) {
		return pl, nil
	}
	t := turns[next]
	if req.Trigger != regenerate && own(t) && (req.Alone || next == len(turns)-1) {
		if _, content, _ := strings.Cut(t.key, "."); strings.HasPrefix(content, pl.content) {
			pl.answer, pl.answered = t, true
			return pl, nil
		}
	}
	if !t.runs {
		return pl, fail(http.StatusUnprocessableEntity, CodeBad, fault.Invalid,
			"the conversation can't go back to this message; send a new one")
	}
	pl.replaces = t.from
	pl.content += fmt.Sprintf(".%d", t.from)
	return pl, nil
}

// regenerate is the trigger of a request for another answer.
const regenerate = "regenerate-message"

// known returns a function that reports whether a client has a turn: the agent's message, or the
// user's, which has the id that the client or the history gave it.
func known(messages ...uimessage.Earlier) func(turn) bool {
	has := make(map[string]bool)
	for _, m := range messages {
		if m.ID != "" {
			has[m.ID], has[shortKey(m.ID)] = true, true
		}
	}
	return func(t turn) bool {
		key, _, _ := strings.Cut(t.key, ".")
		return has[t.id] || t.run != "" && has["u-"+t.id] || key != "" && has[key]
	}
}

// answers returns how many of the messages are the agent's.
func answers(messages []uimessage.Earlier) (n int) {
	for _, m := range messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// pruned returns how many of the turns only messages are left of. They are the first ones.
func pruned(turns []turn) int {
	n := 0
	for n < len(turns) && turns[n].from == 0 {
		n++
	}
	return n
}

// contentOf returns a short hash of what a message says.
func contentOf(m *uimessage.Message) string {
	h := sha256.New()
	for i := range m.Parts {
		p := &m.Parts[i]
		fmt.Fprintf(h, "%s\x00%s\x00%s\x00", p.Type, p.Text, p.URL)
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}
