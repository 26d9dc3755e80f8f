package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A Pause is a call that waits for a decision.
type Pause struct {
	// ID names the call with this input. It is valid for one decision.
	ID   string            `json:"id"`
	Kind PauseKind         `json:"kind"`
	Call provider.ToolCall `json:"call"`
	// Title says in a few words what the call does, for people: the tool's own words (tools.Func),
	// else tools.TitleOf. It is one line of at most 200 bytes.
	Title string `json:"title,omitempty"`
	// Reason says why a person is asked.
	Reason string `json:"reason,omitempty"`
	Risk   string `json:"risk,omitempty"` // low, medium or high
	// For names who answers, such as another agent; empty for a person. See tools.Suspend.
	For string `json:"for,omitempty"`
	// Approvers are the roles of which one is needed to decide, and NotSelf says that who started
	// the run can't, as the tool's Spec had it when the call was suspended. The agent that takes a
	// decision asks for the roles that the Spec names then; these count if it names none.
	Approvers []string `json:"approvers,omitempty"`
	NotSelf   bool     `json:"not_self,omitempty"`
	// Schema is the JSON schema of the answer; empty if any JSON will do.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Fingerprint is the fingerprint of the tool's input schema and description. A standing
	// approval holds for these only.
	Fingerprint string    `json:"fingerprint,omitempty"`
	Expires     time.Time `json:"expires,omitzero"` // zero if it never expires
	// Always says that [AllowAlways] is possible. Scope is then what the standing approval is for:
	// see tools.Func.
	Always bool   `json:"always,omitempty"`
	Scope  string `json:"scope,omitempty"`
	// Scopes are how far [AllowAlways] may reach, if it is possible: the session comes first, and
	// then what policies offer. [Decision.For] chooses one.
	Scopes []tools.Scope `json:"scopes,omitempty"`
	// Preview is what the call would change, as a unified diff, if the tool says that: see
	// tools.Func. It is redacted, and cut at 64 KiB, which its last line says. PreviewHash is that
	// of the whole preview, and empty without one. The call doesn't run if the preview isn't the
	// same right before that: the pause opens again with the new one.
	Preview     string `json:"preview,omitempty"`
	PreviewHash string `json:"preview_hash,omitempty"`
	// Again says that the call runs again with its answer; otherwise the answer is the call's
	// result. See tools.Suspend.
	Again bool `json:"again,omitempty"`
	// IdempotencyKey is set for a call in doubt: the key that its tool was given, with which the
	// host can look up whether the call happened. It is the same if the call runs again.
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	// Replaces are the ids that the pause had before, oldest first. A decision was posted on each
	// of them and couldn't be accepted when the run took it, or was accepted, but the Preview
	// changed before the call ran. So the pause was opened again under another id. At most the
	// newest 16 are kept. Refused says what was wrong with the newest of these decisions.
	Replaces []string `json:"replaces,omitempty"`
	Refused  string   `json:"refused,omitempty"`
	// Path is set for the pause of a subagent: the ids of the calls that lead to that agent, the
	// outermost first.
	Path []string `json:"path,omitempty"`
	// Nested are, for a call of a subagent, the pauses of that agent. The host is shown these
	// instead.
	Nested []Pause `json:"nested,omitempty"`
}

// Flat returns the pauses that can be decided on: p itself, or those nested in it, with their Path.
func (p *Pause) Flat() []Pause {
	if p.Kind != PauseAgent {
		out := *p
		out.Call.Input = slices.Clone(p.Call.Input) // callers may change their copy; the stored call is what runs
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

// find returns a copy of the pause with the id that is nested in p, or nil.
func (p *Pause) find(id string) *Pause {
	if p == nil || p.Kind != PauseAgent {
		return nil
	}
	for _, n := range p.Flat() {
		if n.ID == id {
			return &n
		}
	}
	return nil
}

// Expired reports whether the time to decide was over at the given time.
func (p *Pause) Expired(at time.Time) bool { return !p.Expires.IsZero() && !at.Before(p.Expires) }

// A PauseKind says what kind of decision a pause waits for.
type PauseKind string

// The kinds of pauses. A tool that suspends its call may name another kind; such a pause is a
// question.
const (
	// PauseApproval is a call that needs approval before it runs.
	PauseApproval PauseKind = "approval"
	// PauseInDoubt is a call that was started, and it is unknown how it ended. [Approve] runs it
	// again, [Answer] says what its result was, and [Reject] leaves it as it is.
	PauseInDoubt PauseKind = "in_doubt"
	// PauseCorrection is a call whose input still doesn't fit the schema after the model's own
	// corrections. [Edit] corrects it.
	PauseCorrection PauseKind = "correction"
	// PauseAgent is a call of a subagent and waits for decisions itself: see [Pause.Nested].
	PauseAgent PauseKind = "agent"
	// PauseSecret is a question whose answer isn't recorded: see Secret of tools.Suspend. Whoever
	// shows it hides the answer as it is typed.
	PauseSecret PauseKind = "secret"
)

// maxReplaces is how many earlier ids a pause keeps.
const maxReplaces = 16

// Reopened returns the pause that the call waits for under another id, because a decision on it
// can't be accepted: why says what is wrong with the decision. Everything else stays as it is,
// including the time at which the pause expires. The call must have a pause of its own that isn't
// of kind [PauseAgent].
func (c *CallState) Reopened(session, why string) Pause {
	p := c.Pause.Successor(why)
	p.ID = PauseID(session, c.Call, p.Kind, c.Pauses, p.PreviewHash)
	return p
}

// Successor returns a pause without an id that takes the place of p, because a decision on p
// doesn't count: why says what is wrong with it. All else is that of p.
func (p *Pause) Successor(why string) Pause {
	next := *p
	next.Replaces = append(slices.Clone(p.Replaces[max(len(p.Replaces)-maxReplaces+1, 0):]), p.ID)
	next.ID, next.Refused = "", why
	return next
}

// Replacement returns the pause that waits for a decision in place of the one with the id, or nil.
func (r *RunState) Replacement(id string) *Pause {
	for _, p := range r.Pending() {
		if slices.Contains(p.Replaces, id) {
			return &p
		}
	}
	return nil
}

// A DecisionKind says what was decided.
type DecisionKind string

// The kinds of decisions.
const (
	Approved    DecisionKind = "approve"    // see [Approve]
	Rejected    DecisionKind = "reject"     // see [Reject]
	Edited      DecisionKind = "edit"       // see [Edit]
	Suggested   DecisionKind = "suggest"    // see [Suggest]
	AnswerGiven DecisionKind = "answer"     // see [Answer]
	AlwaysAllow DecisionKind = "always"     // see [AllowAlways]
	Expired     DecisionKind = "expired"    // nobody decided in time
	Superseded  DecisionKind = "superseded" // another input took the run's place
)

// letsRun reports whether the decision lets the call run.
func (k DecisionKind) letsRun() bool { return k == Approved || k == Edited || k == AlwaysAllow }

// Fits reports whether a pause of the given kind can be decided in this way. A question was asked
// by the tool itself, so it can be answered or rejected, but not approved.
func (k DecisionKind) Fits(pause PauseKind) bool {
	if pause == PauseAgent { // the pauses nested in it are decided
		return k == Superseded
	}
	switch k {
	case Approved:
		return pause == PauseApproval || pause == PauseInDoubt
	case AlwaysAllow:
		return pause == PauseApproval
	case Edited:
		return pause == PauseApproval || pause == PauseCorrection
	case AnswerGiven:
		return pause != PauseApproval && pause != PauseCorrection
	case Rejected, Suggested, Expired, Superseded:
		return true
	}
	return false
}

// A Decision is a decision on a pause. Make one with [Approve], [Reject], [Edit], [Suggest],
// [Answer] or [AllowAlways]. It names the pause and says what was decided; the call that runs is
// always the stored one.
type Decision struct {
	ID     string          `json:"id"`
	Kind   DecisionKind    `json:"kind"`
	Reason string          `json:"reason,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"` // for Edited
	Value  json.RawMessage `json:"value,omitempty"` // for AnswerGiven
	// Scope is, for AlwaysAllow, the scope of the pause that was chosen: see [Decision.For]. It is
	// empty for the session.
	Scope string `json:"scope,omitempty"`
	User  string `json:"who,omitempty"`
	// Secret says that the value isn't recorded, because it answers a pause with Secret. Value is
	// the text "given" then. Those who decide leave it false.
	Secret bool `json:"secret,omitempty"`

	err error // from encoding Input or Value
}

// Approve lets the call run with the input that was shown.
func Approve(id string) Decision { return Decision{ID: id, Kind: Approved} }

// Reject keeps the call from running. The model reads the reason. A call that somebody else
// executes (tools.External) counts as failed.
func Reject(id, reason string) Decision { return Decision{ID: id, Kind: Rejected, Reason: reason} }

// Edit lets the call run with another input. The input is validated and checked against the policy
// again; if the policy denies it, the call doesn't run. The input is encoded as JSON; a
// json.RawMessage is used as it is.
func Edit(id string, input any) Decision {
	d := Decision{ID: id, Kind: Edited}
	d.Input, d.err = rawJSON(input)
	return d
}

// Suggest keeps the call from running. The model reads what to do instead.
func Suggest(id, alternative string) Decision {
	return Decision{ID: id, Kind: Suggested, Reason: alternative}
}

// Answer gives the result of the call; the tool doesn't run, unless it has asked to run again with
// the answer ([Pause.Again]). It is for questions, for jobs that have finished, and for calls in
// doubt that did happen. The value is encoded as JSON and validated against the schema of the
// pause; a json.RawMessage is used as it is.
func Answer(id string, value any) Decision {
	d := Decision{ID: id, Kind: AnswerGiven}
	d.Value, d.err = rawJSON(value)
	return d
}

// AllowAlways lets the call run, and approves later calls of the same tool with the same scope
// ([Pause].Scope) in the same session, as long as the tool's schema and description don't change.
// It isn't possible for tools of high risk unless the tool permits it, nor for what a policy or the
// tool's Ask asks about each call: see [Pause].Always. [Decision.For] lets it reach further.
func AllowAlways(id string) Decision { return Decision{ID: id, Kind: AlwaysAllow} }

// Err returns the error from encoding the input or the value, or nil.
func (d Decision) Err() error { return d.err }

// By returns the decision with the name of who made it.
func (d Decision) By(user string) Decision {
	d.User = user
	return d
}

// For makes an approval one that stands for later calls, and says how far it reaches: scope is the
// Name of one of [Pause].Scopes. For tools.ScopeSession that is [AllowAlways]. For another scope,
// this call is approved, and what becomes of later calls is up to the host: its hook AfterDecision
// stores what its policies then permit. A scope that the pause doesn't offer, and one for a
// decision that approves nothing, are refused with a *[DecisionError]. An empty scope leaves the
// decision as it is.
func (d Decision) For(scope string) Decision {
	if scope == "" {
		return d
	}
	if d.Kind == Approved {
		d.Kind = AlwaysAllow
	}
	if d.Scope = scope; scope == tools.ScopeSession && d.Kind == AlwaysAllow {
		d.Scope = ""
	}
	return d
}

// Offers reports whether the scope of a decision is one that can be chosen.
func (p *Pause) Offers(d *Decision) bool {
	return d.Scope == "" || d.Kind == AlwaysAllow && p.Always &&
		slices.ContainsFunc(p.Scopes, func(s tools.Scope) bool { return s.Name == d.Scope })
}

// A DecisionError is a decision that is refused. Nothing ran and nothing was recorded because of
// it, and the other decisions of the same input are refused with it.
type DecisionError struct {
	Session string
	ID      string
	Code    string // one of the codes below
	Problem string
	// NewID is the id under which the pause is open now, if Code is [DecisionReplaced].
	NewID string
	Err   error // the cause, or nil
}

// The codes of a [DecisionError].
const (
	DecisionUnknown  = "unknown"  // the session has no such pause
	DecisionUsed     = "used"     // the pause was decided before
	DecisionExpired  = "expired"  // the pause has expired
	DecisionRepeated = "repeated" // one input decides the pause twice
	// an earlier decision couldn't be accepted, and the pause is open again under another id
	DecisionReplaced = "replaced"
	DecisionBad      = "bad" // the pause can't be decided in this way, or the value isn't valid
	// who decides isn't known, or may not decide on calls of this tool: see Approvers of
	// tools.Spec. The pause waits for somebody else
	DecisionForbidden = "forbidden"
)

// Error returns the pause, the session and the problem.
func (e *DecisionError) Error() string {
	return fmt.Sprintf("agent: decision on %q in session %q: %s", e.ID, e.Session, e.Problem)
}

// Unwrap returns the cause.
func (e *DecisionError) Unwrap() error { return e.Err }

// Fault returns Denied for [DecisionForbidden], and Invalid for the other codes.
func (e *DecisionError) Fault() fault.Class {
	if e.Code == DecisionForbidden {
		return fault.Denied
	}
	return fault.Invalid
}

// A Rule is a standing approval: calls of the tool in this session need no approval as long as its
// input schema and its description don't change. It answers what the tool's Risk or Approval asks,
// and what a policy asks that permits it (tools.Verdict), not what the tool's Ask asks. For a tool
// with Approvers it answers as long as who gave it may decide on such a call.
type Rule struct {
	Tool        string `json:"tool"`
	Fingerprint string `json:"fingerprint"`
	// Scope limits the rule to calls for whose input the tool names this scope; empty for a tool
	// without scopes: see tools.Func.
	Scope string    `json:"scope,omitempty"`
	By    string    `json:"by,omitempty"`
	Since time.Time `json:"since"`
}

// Text says in words which calls the rule answers for: "all `go vet` here", "all calls of web.fetch
// on example.com", or without a scope "all calls of move", and "all files" for tools that are named
// as those of tools/file are. A long scope is cut.
func (r Rule) Text() string {
	scope := tools.CleanTitle(r.Scope)
	if len(scope) > 120 {
		scope = strings.ToValidUTF8(scope[:117], "") + "…"
	}
	first, _, more := strings.Cut(scope, " ")
	switch {
	case scope == "" && strings.HasPrefix(r.Tool, "file."):
		return "all calls of " + r.Tool + ", for all files"
	case scope == "":
		return "all calls of " + r.Tool
	case more && slices.Contains([]string{"in", "on", "at"}, first):
		return "all calls of " + r.Tool + " " + scope
	}
	return "all `" + scope + "` here"
}

// rawJSON returns v as JSON that can be stored.
func rawJSON(v any) (json.RawMessage, error) {
	raw, ok := v.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = Marshal(v); err != nil {
			return nil, err
		}
	}
	switch {
	case !json.Valid(raw):
		return nil, errors.New("the value isn't JSON")
	case !utf8.Valid(raw):
		return nil, errors.New("the value isn't valid UTF-8")
	case TooDeep(raw):
		return nil, fmt.Errorf("the value is nested deeper than %d levels", MaxDepth)
	}
	return raw, nil
}
