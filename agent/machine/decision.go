package machine

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Pause is a call that waits for a decision.
type Pause struct {
	// ID names the call with this very input. It is used once.
	ID   string            `json:"id"`
	Kind PauseKind         `json:"kind"`
	Call provider.ToolCall `json:"call"`
	// Reason says why somebody is asked.
	Reason string `json:"reason,omitempty"`
	Risk   string `json:"risk,omitempty"` // low, medium or high
	// Schema is that of the answer; empty: any JSON.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Tool is the fingerprint of the tool's input schema, to which a standing rule is bound.
	Tool    string    `json:"tool,omitempty"`
	Expires time.Time `json:"expires,omitzero"` // zero: never
	// Always says that "always allow" is possible.
	Always bool `json:"always,omitempty"`
	// Path are the ids of the calls of agents that are tools through which the pause is reached, from the outermost on; empty
	// for a call of the session's own agent.
	Path []string `json:"path,omitempty"`
	// Nested are, for a call of an agent that is a tool, the pauses of that agent. In what the host is shown they stand in
	// the place of this one.
	Nested []Pause `json:"nested,omitempty"`
}

// Flat returns the pauses that somebody can decide on: p itself, or those nested in it.
func (p *Pause) Flat() []Pause {
	if p.Kind != PauseAgent {
		out := *p
		out.Call.Input = slices.Clone(p.Call.Input) // callers get a copy: what runs is what is stored
		return []Pause{out}
	}
	var out []Pause
	for i := range p.Nested {
		for _, n := range p.Nested[i].Flat() {
			n.Path = append([]string{p.Call.ID}, n.Path...)
			out = append(out, n)
		}
	}
	return out
}

// Find returns the pause with that id that is nested in p, or nil.
func (p *Pause) Find(id string) *Pause {
	if p == nil || p.Kind != PauseAgent {
		return nil
	}
	for i := range p.Nested {
		if n := &p.Nested[i]; n.ID == id && n.Kind != PauseAgent {
			return n
		} else if n := n.Find(id); n != nil {
			return n
		}
	}
	return nil
}

// A PauseKind says what is waited for.
type PauseKind string

// The kinds of pauses. A tool that suspends names its own.
const (
	PauseApproval PauseKind = "approval"
	// PauseInDoubt is a call that was started, and nobody knows how it ended: approve runs it again, answer says what it
	// did, reject lets it be.
	PauseInDoubt PauseKind = "in_doubt"
	// PauseCorrection is a call whose input doesn't fit, after the model had its chances: edit puts it right.
	PauseCorrection PauseKind = "correction"
	// PauseAgent is a call of an agent that is a tool, which waits for decisions itself: see [Pause.Nested].
	PauseAgent PauseKind = "agent"
)

// PauseID makes the id of a pause: of the call and the input, so that another input has another id. The call's id holds
// the run's, which can't be guessed.
func PauseID(session string, call *provider.ToolCall, kind PauseKind, round int) string {
	h := sha256.New()
	for _, s := range []string{session, call.ID, call.Name, string(call.Input), call.Invalid, string(kind), fmt.Sprint(round)} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return "p-" + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:15]))
}

// A DecisionKind is one of the things that can be decided.
type DecisionKind string

// The decisions.
const (
	Approved    DecisionKind = "approve"
	Rejected    DecisionKind = "reject"
	Edited      DecisionKind = "edit"
	Suggested   DecisionKind = "suggest"
	AnswerGiven DecisionKind = "answer"
	AlwaysAllow DecisionKind = "always"
	Expired     DecisionKind = "expired"    // nobody decided in time
	Superseded  DecisionKind = "superseded" // another input came instead
)

// A Decision is what somebody decided on a pause. Make one with [Approve], [Reject], [Edit], [Suggest], [Answer] or
// [AllowAlways]. Only the id and the decision are taken from it: what runs is the call as it was stored.
type Decision struct {
	ID     string          `json:"id"`
	Kind   DecisionKind    `json:"kind"`
	Reason string          `json:"reason,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"` // for Edited
	Value  json.RawMessage `json:"value,omitempty"` // for AnswerGiven
	Who    string          `json:"who,omitempty"`

	err error // of encoding what it was made of
}

// Approve lets the call run as it was shown.
func Approve(id string) Decision { return Decision{ID: id, Kind: Approved} }

// Reject keeps the call from running; the model reads the reason.
func Reject(id, reason string) Decision { return Decision{ID: id, Kind: Rejected, Reason: reason} }

// Edit lets the call run with another input, which is validated and judged anew: a policy that denies it stops it. The
// input is encoded as JSON; a json.RawMessage is taken as it is.
func Edit(id string, input any) Decision {
	d := Decision{ID: id, Kind: Edited}
	d.Input, d.err = rawJSON(input)
	return d
}

// Suggest keeps the call from running; the model reads what to do instead.
func Suggest(id, alternative string) Decision {
	return Decision{ID: id, Kind: Suggested, Reason: alternative}
}

// Answer gives the call's result in the tool's place, which isn't run: for questions, for jobs that have finished, and for
// calls in doubt that did happen. The value is encoded as JSON and checked against the schema of the pause.
func Answer(id string, value any) Decision {
	d := Decision{ID: id, Kind: AnswerGiven}
	d.Value, d.err = rawJSON(value)
	return d
}

// AllowAlways lets the call run, and later calls of the same tool in the same session without asking, as long as the
// tool's schema stays what it is. It isn't possible for tools of high risk, unless the tool says so: see [Pause.Always].
func AllowAlways(id string) Decision { return Decision{ID: id, Kind: AlwaysAllow} }

// Err returns what went wrong when the value or the input of the decision was encoded.
func (d Decision) Err() error { return d.err }

// By returns the decision with who made it.
func (d Decision) By(who string) Decision {
	d.Who = who
	return d
}

// A DecisionError is a decision that can't be taken. Nothing was run and nothing recorded because of it; the other
// decisions of the same input weren't taken either.
type DecisionError struct {
	Session string
	ID      string
	Code    string // see the Decision constants
	Problem string
	Err     error
}

// Codes of a DecisionError.
const (
	DecisionUnknown  = "unknown"  // no such pause in this session
	DecisionUsed     = "used"     // decided before
	DecisionExpired  = "expired"  // too late
	DecisionRepeated = "repeated" // twice in one input
	DecisionBad      = "bad"      // not possible for this pause, or not valid
)

// Error says which decision it is and what is wrong with it.
func (e *DecisionError) Error() string {
	return fmt.Sprintf("agent: decision on %q in session %q: %s", e.ID, e.Session, e.Problem)
}

// Unwrap returns the cause.
func (e *DecisionError) Unwrap() error { return e.Err }

// Fault returns Invalid.
func (e *DecisionError) Fault() fault.Class { return fault.Invalid }

// A Rule is a standing approval: calls of the tool in this session don't ask as long as its schema stays the same.
type Rule struct {
	Tool   string    `json:"tool"`
	Schema string    `json:"schema"` // fingerprint
	By     string    `json:"by,omitempty"`
	Since  time.Time `json:"since"`
}

func rawJSON(v any) (json.RawMessage, error) {
	raw, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = Marshal(v); err != nil {
			return nil, err
		}
	}
	if !json.Valid(raw) {
		return nil, errors.New("the value is no JSON")
	}
	if !utf8.Valid(raw) {
		return nil, errors.New("the value is no valid UTF-8")
	}
	if TooDeep(raw) {
		return nil, fmt.Errorf("the value is nested deeper than %d levels", MaxDepth)
	}
	return raw, nil
}

// Expired reports whether the time to decide on a pause was over at some instant.
func (p *Pause) Expired(at time.Time) bool { return !p.Expires.IsZero() && !at.Before(p.Expires) }
