package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/provider"
)

// An Effect is a policy's decision about a call. The greatest of several applies: deny overrides
// ask, and ask overrides allow. A value that is none of the constants denies. Allow leaves it to
// the tool whether to ask, unless the [Verdict] is Standing.
type Effect uint8

// The effects.
const (
	Allow Effect = iota
	Ask
	Deny
)

// String returns "allow", "ask" or "deny".
func (e Effect) String() string {
	switch e {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	}
	return "deny"
}

// MarshalText returns what String returns, for effects in JSON.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads "allow", "ask" or "deny".
func (e *Effect) UnmarshalText(text []byte) error {
	for *e = Allow; *e < Deny && e.String() != string(text); *e++ {
	}
	if e.String() != string(text) {
		return fault.New(fault.Invalid, fmt.Sprintf("tools: the effect %.60q isn't allow, ask or deny", text))
	}
	return nil
}

// A Verdict is the decision about a call, with its reason.
type Verdict struct {
	Effect Effect
	// Reason says why, for the person who is asked, or for the model that is denied.
	Reason string
	// Standing is about standing rules ("always allow"). With Ask it says that such a rule may
	// answer what the policy asks; without it, a person is asked about each call. Questions because
	// of a tool's Risk or Approval may be answered by a rule; those of its Ask only with
	// Spec.AllowAlways.
	//
	// With Allow it says that the policy permits the call as a standing rule would: what the tool
	// itself asks is answered, unless no rule may answer it. That is so for tools of high risk and
	// for what a tool's Ask asks, both without Spec.AllowAlways, and for an input whose scope isn't
	// known ([Definition.Scope]). It answers nothing that another policy asks.
	Standing bool
	// By are the people who have given what the policy permits, with Allow and Standing. For a tool
	// with Spec.Approvers it answers only if one of them may decide on such a call; without a name
	// it doesn't.
	By []string
	// Scopes are offered to the person who is asked, whoever asks, if a standing rule may answer:
	// how far "always" may reach, besides the session. The policy has to see to it that calls in a
	// scope that was chosen are permitted; a hook of package agent tells it of the choice.
	Scopes []Scope
}

// A Scope is how far a standing approval reaches: a session, a project, all that a user does.
type Scope struct {
	// Name is what a decision names, of at most 512 bytes: [ScopeSession], or a name that a policy
	// gives. Scopes without a name, or with a longer one, aren't offered.
	Name string `json:"name"`
	// Text completes "Always allow …" for people: "in the project shop". Empty means Name. It is
	// kept as [CleanTitle] returns it.
	Text string `json:"text,omitempty"`
}

// ScopeSession is the Name of the scope that agents offer by themselves. A policy can't offer it.
const ScopeSession = "session"

// maxScopes is how many scopes policies can offer for a call.
const maxScopes = 16

// addScopes adds those of more that may be offered and aren't in scopes.
func addScopes(scopes, more []Scope) []Scope {
	for _, s := range more {
		known := slices.ContainsFunc(scopes, func(o Scope) bool { return o.Name == s.Name })
		if known || s.Name == "" || s.Name == ScopeSession || len(s.Name) > maxScope || !utf8.ValidString(s.Name) ||
			len(scopes) == maxScopes {
			continue
		}
		s.Text = CleanTitle(cmp.Or(s.Text, s.Name))
		scopes = append(scopes, s)
	}
	return scopes
}

// A Policy decides about a call by its final input. The Call is a copy for the policy, but the
// bytes of its input mustn't be changed. A policy that panics, or is nil, denies.
type Policy func(ctx context.Context, d *Definition, c *Call) Verdict

// An Admission is the result of [Registry.Admit].
type Admission struct {
	Definition *Definition // nil for an unknown tool
	// Verdict is Allow or Ask if Rejected is nil. With Ask, Standing says whether a standing rule
	// may answer.
	Verdict  Verdict
	Rejected *Outcome // what the model reads if the call doesn't run
}

// Admit checks whether a model's call may run. It looks the tool up among offered (nil: all that
// aren't lazy), brings the input into canonical form, lets change (may be nil) replace c.Input,
// validates the result and evaluates the policies. If the call is admitted, c.Input is the
// validated input.
//
// If the input isn't valid, change gets the model's original bytes and may correct them. If change
// returns a [DenyError], the call is denied and the model reads the reason; any other error, and a
// panic ([*PanicError]), is returned.
func (r *Registry) Admit(ctx context.Context, c *Call, offered []*Definition, change func() error,
	policies []Policy) (Admission, error) {
	if c == nil {
		return Admission{}, errNoCall
	}
	c.admitted = nil
	if offered == nil && r != nil {
		offered = r.loaded
	}
	d, ok := r.Lookup(c.Name)
	if !ok {
		name := cut.Start(c.Name, longestName)
		return Admission{Rejected: refuse(Unknown, fault.NotFound, "there is no tool %q%s", name,
			instead(name, offered))}, nil
	}
	if !slices.Contains(offered, d) {
		if d.howToLoad != "" && d.spec.InMode(c.Mode) {
			return Admission{Definition: d,
				Rejected: refuse(Denied, fault.Denied, "the tool %q isn't loaded; %s", c.Name, d.howToLoad)}, nil
		}
		return Admission{Definition: d,
			Rejected: refuse(Denied, fault.Denied, "the tool %q isn't available now%s", c.Name, known(offered))}, nil
	}
	input, err := d.input.Accept(c.Input)
	if change != nil {
		if err == nil {
			c.Input = input
		}
		if cerr := guarded("a function that changes a call", change); cerr != nil {
			var deny *DenyError
			if errors.As(cerr, &deny) {
				return Admission{Definition: d,
					Rejected: refuse(Denied, fault.Denied, "%s", cmp.Or(deny.Reason, "it was denied"))}, nil
			}
			return Admission{Definition: d}, cerr
		}
		input, err = d.input.Accept(c.Input) // even if it looks the same: the bytes may have been changed in place
	}
	if err != nil {
		return Admission{Definition: d, Rejected: refuse(Invalid, fault.Invalid, "%s", err)}, nil
	}
	c.Input = provider.EscapeSeparators(input) // as it is stored
	v := d.judge(ctx, c, policies, false)
	if v.Effect == Deny {
		return Admission{Definition: d, Rejected: refuse(Denied, fault.Denied, "%s", v.Reason)}, nil
	}
	ruled := d.mayHaveRule(c.Input)
	permitted := d.permits(c, &v) && ruled
	own := d.asks(ctx, c)
	if own.Effect == Ask && !(permitted && own.Standing) &&
		(v.Effect != Ask || v.Standing || !own.Standing) { // else a policy asks what no standing rule answers
		if own.Scopes = v.Scopes; v.Effect == Ask && !v.Standing {
			own.Reason = both(v.Reason, own.Reason)
		}
		v = own
	}
	c.unasked = v.Effect == Allow
	c.permitted = c.unasked && own.Effect == Ask
	v.Standing = v.Standing && ruled
	c.admit(d)
	return Admission{Definition: d, Verdict: v}, nil
}

// permits reports whether a policy permits a call as a standing rule would.
func (d *Definition) permits(c *Call, v *Verdict) bool {
	if v.Effect != Allow || !v.Standing || len(d.spec.Approvers) == 0 {
		return v.Effect == Allow && v.Standing
	}
	return slices.ContainsFunc(v.By, func(user string) bool { return c.mayApprove(d, user) })
}

// mayHaveRule reports whether a standing rule may answer for an input.
func (d *Definition) mayHaveRule(input json.RawMessage) bool {
	_, known := d.Scope(input)
	return known && (d.spec.Risk < High || d.spec.AllowAlways)
}

// Readmit admits a call that was admitted and approved before, perhaps by another process: it
// validates c.Input again, because the tool may have changed, and evaluates nothing else. c.Input
// stays as it was approved: defaults that are new aren't filled in. Readmit returns nil if the call
// may run, and otherwise what the model reads.
func (r *Registry) Readmit(c *Call) *Outcome {
	if c == nil {
		return refuse(Failed, fault.Invalid, "%v", errNoCall)
	}
	c.admitted = nil
	d, ok := r.Lookup(c.Name)
	if !ok {
		return refuse(Unknown, fault.NotFound, "there is no such tool any more")
	}
	if _, err := d.input.Accept(c.Input); err != nil {
		return refuse(Invalid, fault.Invalid, "%s", err)
	}
	c.Input = provider.EscapeSeparators(c.Input)
	c.admit(d)
	return nil
}

// Recheck evaluates an admitted call again, right before execution, and calls the tool's Check. It
// returns nil if the call may run. Approval was settled before: the tool's Approval and its Ask
// aren't evaluated again, and a policy that asks lets the call run. If nobody was asked, because
// Admit has returned Allow, a policy that asks now denies the call, and so does one that no longer
// permits what the tool asked.
func (r *Registry) Recheck(ctx context.Context, c *Call, policies []Policy) *Outcome {
	if c == nil {
		return refuse(Failed, fault.Invalid, "%v", errNoCall)
	}
	d, ok := r.Lookup(c.Name)
	if !ok {
		return refuse(Unknown, fault.NotFound, "there is no tool %q", cut.Start(c.Name, longestName))
	}
	switch v := d.judge(ctx, c, policies, true); {
	case v.Effect == Deny:
		return refuse(Denied, fault.Denied, "%s", v.Reason)
	case c.unasked && v.Effect == Ask, c.permitted && !d.permits(c, &v):
		return refuse(Denied, fault.Denied, "what permitted it was withdrawn before it began. Make the call again: a "+
			"person is asked then")
	}
	if d.check == nil {
		return nil
	}
	err := guarded(d.spec.Name, func() error { return d.check(ctx, c.Input) })
	if err == nil {
		return nil
	}
	out := d.fail(Denied, classOf(err), err, "The call wasn't run: "+reason(err))
	return &out
}

// asks returns Ask if the tool itself needs approval. The reason of its Ask is about this input,
// and therefore takes precedence over that of its Approval.
func (d *Definition) asks(ctx context.Context, c *Call) Verdict {
	s := &d.spec
	if d.ask != nil {
		var why string
		err := guarded(s.Name, func() (err error) {
			why, err = d.ask(ctx, c.Input)
			return err
		})
		switch {
		case err != nil: // if the tool can't decide, a person is asked
			return Verdict{Effect: Ask, Reason: "the tool couldn't decide whether to ask: " + reason(err)}
		case why != "":
			return Verdict{Effect: Ask, Reason: why, Standing: s.AllowAlways}
		}
	}
	switch {
	case len(s.Approvers) > 0:
		return Verdict{Effect: Ask, Standing: true,
			Reason: "this tool needs approval by somebody with the role " + strings.Join(s.Approvers, " or ")}
	case s.Approval == AskAlways:
		return Verdict{Effect: Ask, Reason: "this tool always asks", Standing: true}
	case s.Approval == AskIfHigh && s.Risk == High:
		return Verdict{Effect: Ask, Reason: "this tool is of high risk", Standing: true}
	}
	return Verdict{}
}

// judge evaluates prerequisites, the mode and the policies. The greatest effect applies; among
// equals, the first gives the reason, but a question that no standing rule answers comes before one
// that it does, and a policy that permits the call before one that says nothing. Questions that are
// alike in this have all their reasons.
func (d *Definition) judge(ctx context.Context, c *Call, policies []Policy, starting bool) Verdict {
	s := &d.spec
	for _, need := range s.Requires {
		if c.succeeded(need) == 0 {
			return Verdict{Effect: Deny, Reason: fmt.Sprintf("%q has to succeed before %q may be called", need, s.Name)}
		}
	}
	if !s.InMode(c.Mode) {
		return Verdict{Effect: Deny, Reason: fmt.Sprintf("%q may not be called in mode %q, only in %s", s.Name, c.Mode,
			strings.Join(s.Modes, ", "))}
	}
	if len(policies) == 0 {
		return Verdict{}
	}
	var (
		v      Verdict
		scopes []Scope
		givers []string
	)
	own := new(Call)
	for _, p := range policies {
		*own = *c // a copy, so that a policy can't change the call for others
		own.Starting = starting
		said := Verdict{}
		err := guarded("a policy", func() error {
			said = p(ctx, d, own)
			return nil
		})
		if err != nil {
			said = Verdict{Effect: Deny, Reason: "a policy failed; the call is denied to be safe"}
		}
		said.Effect = min(said.Effect, Deny)
		scopes = addScopes(scopes, said.Scopes)
		if said.Effect == Allow && said.Standing {
			givers = append(givers, said.By...)
		}
		switch {
		case said.Effect == Ask && v.Effect == Ask && said.Standing == v.Standing:
			v.Reason = both(v.Reason, said.Reason)
		case said.Effect > v.Effect, said.Effect == Ask && v.Effect == Ask && v.Standing && !said.Standing,
			said.Effect == Allow && v.Effect == Allow && said.Standing && !v.Standing:
			v = said
		}
	}
	v.Scopes, v.By = scopes, givers
	switch v.Effect {
	case Deny:
		v.Reason = cmp.Or(v.Reason, "a policy denies this call")
	case Ask:
		v.Reason = cmp.Or(v.Reason, "a policy asks")
	}
	return v
}

// both returns the reasons of two questions, for the person who is asked both.
func both(first, second string) string {
	if first == second || second == "" {
		return first
	}
	if first != "" {
		first += "; "
	}
	return first + second
}

// ErrDenied is what each [DenyError] matches with errors.Is, however it is wrapped.
var ErrDenied = errors.New("tools: denied")

// A DenyError denies a call; the model reads the reason.
type DenyError struct{ Reason string }

// Error returns the reason, after "tools: denied: ".
func (e *DenyError) Error() string { return "tools: denied: " + e.Reason }

// Is reports whether target is [ErrDenied].
func (e *DenyError) Is(target error) bool { return target == ErrDenied }

// Fault returns Denied.
func (e *DenyError) Fault() fault.Class { return fault.Denied }

// instead returns a clause that names the tools to call instead of one that doesn't exist.
func instead(name string, offered []*Definition) string {
	near := suggest(name, offered)
	if near != "" && len(offered) == 1 {
		return near
	}
	return near + known(offered)
}

// known lists the names of the offered tools, for a model that named an unknown one.
func known(offered []*Definition) string {
	if len(offered) == 0 {
		return "; no tools are available"
	}
	const most = 30
	var b strings.Builder
	b.WriteString("; the tools are ")
	for i, d := range offered {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(offered)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(d.spec.Name)
	}
	return b.String()
}

// Fit validates input for the named tool and returns its canonical form, for callers that change
// the input of a stored call.
func (r *Registry) Fit(name string, input json.RawMessage) (json.RawMessage, error) {
	d, ok := r.Lookup(name)
	if !ok {
		return nil, specError(name, "there is no such tool%s", suggest(name, r.All()))
	}
	return d.input.Accept(input)
}

// errNoCall is the error of a nil Call.
var errNoCall = fault.New(fault.Invalid, "tools: the Call is nil")
