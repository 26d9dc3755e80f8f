package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// An Effect is what a policy says of a call. Of several, the greatest holds.
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

// A Verdict is the judgement of a call.
type Verdict struct {
	Effect Effect
	// Reason says why, for the person who is asked, or for the model that is denied.
	Reason string
}

// A Policy judges a call by its final input. It must not change the call.
type Policy func(ctx context.Context, d *Definition, c *Call) Verdict

// An Admission is what [Registry.Admit] makes of a call.
type Admission struct {
	Definition *Definition // nil for an unknown tool
	Verdict    Verdict     // if Refused is nil: Allow or Ask
	Refused    *Outcome    // what the model is told if the call doesn't run
}

// Admit takes a call from a model's wish to something that may run: the tool is looked up among offered (nil: all), the
// input is brought into canonical form, change (may be nil) may replace c.Input, and what came of it is validated and
// judged. An error of change is a denial whose message the model reads, if it says so ([DenyError]), else it is returned.
func (r *Registry) Admit(ctx context.Context, c *Call, offered []*Definition, change func() error, policies []Policy) (Admission, error) {
	d, ok := r.byName[c.Name]
	if !ok {
		return Admission{Refused: refuse(Unknown, fault.NotFound, "there is no tool %q%s%s", c.Name, r.suggest(c.Name), r.known(offered))}, nil
	}
	if offered != nil && !slices.Contains(offered, d) {
		return Admission{Definition: d, Refused: refuse(Denied, fault.Denied, "the tool %q isn't available now%s", c.Name, r.known(offered))}, nil
	}
	input, err := d.input.Accept(c.Input)
	if change != nil {
		if err == nil {
			c.Input = input
		}
		before := c.Input
		if cerr := guarded(change); cerr != nil {
			var deny *DenyError
			if errors.As(cerr, &deny) {
				return Admission{Definition: d, Refused: refuse(Denied, fault.Denied, "%s", deny.Reason)}, nil
			}
			return Admission{Definition: d}, cerr
		}
		if string(before) != string(c.Input) {
			input, err = d.input.Accept(c.Input)
		}
	}
	if err != nil {
		return Admission{Definition: d, Refused: refuse(Invalid, fault.Invalid, "%s", err)}, nil
	}
	c.Input = input
	v := r.judge(ctx, d, c, policies)
	if v.Effect == Deny {
		return Admission{Definition: d, Refused: refuse(Denied, fault.Denied, "%s", v.Reason)}, nil
	}
	return Admission{Definition: d, Verdict: v}, nil
}

// Recheck judges an admitted call again, right before execution, and asks the tool's Check. It returns nil if the call may
// run; an ask was answered before and doesn't count.
func (r *Registry) Recheck(ctx context.Context, c *Call, policies []Policy) *Outcome {
	d, ok := r.byName[c.Name]
	if !ok {
		return refuse(Unknown, fault.NotFound, "there is no tool %q", c.Name)
	}
	if v := r.judge(ctx, d, c, policies); v.Effect == Deny {
		return refuse(Denied, fault.Denied, "%s", v.Reason)
	}
	if d.check == nil {
		return nil
	}
	err := guarded(func() error { return d.check(ctx, c.Input) })
	if err == nil {
		return nil
	}
	return &Outcome{Status: Denied, Class: classOf(err), Err: err, Parts: textParts("The call wasn't run: " + forModel(err))}
}

// judge asks everybody who has a say. Deny beats ask beats allow; of equals the first gives the reason.
func (r *Registry) judge(ctx context.Context, d *Definition, c *Call, policies []Policy) Verdict {
	s := &d.spec
	for _, need := range s.Needs {
		if c.Succeeded == nil || !c.Succeeded(need) {
			return Verdict{Deny, fmt.Sprintf("%q has to succeed before %q may be called", need, s.Name)}
		}
	}
	if !s.InMode(c.Mode) {
		return Verdict{Deny, fmt.Sprintf("%q may not be called in mode %q, only in %s", s.Name, c.Mode, strings.Join(s.Modes, ", "))}
	}
	var v Verdict
	switch {
	case s.Approval == AskAlways:
		v = Verdict{Ask, "this tool always asks"}
	case s.Approval == AskIfHigh && s.Risk == High:
		v = Verdict{Ask, "this tool is of high risk"}
	}
	if d.ask != nil {
		var reason string
		err := guarded(func() (err error) {
			reason, err = d.ask(ctx, c.Input)
			return err
		})
		switch {
		case err != nil: // a question that can't be decided is put to a person
			v = Verdict{Ask, "the tool couldn't decide whether to ask: " + forModel(err)}
		case reason != "":
			v = Verdict{Ask, reason}
		}
	}
	for _, p := range policies {
		if p == nil {
			continue
		}
		said := Verdict{Deny, "a policy failed"}
		if err := guarded(func() error { said = p(ctx, d, c); return nil }); err != nil {
			said = Verdict{Deny, "a policy failed; the call is denied to be safe"}
		}
		if said.Effect > v.Effect {
			v = said
		}
	}
	if v.Effect > Deny {
		v.Effect = Deny
	}
	if v.Effect == Deny && v.Reason == "" {
		v.Reason = "a policy denies this call"
	}
	return v
}

// A DenyError keeps a call from running; the model reads the reason.
type DenyError struct{ Reason string }

// Error returns the reason.
func (e *DenyError) Error() string { return "tools: denied: " + e.Reason }

// Fault returns Denied.
func (e *DenyError) Fault() fault.Class { return fault.Denied }

// known lists the names of the offered tools for a model that asked for another.
func (r *Registry) known(offered []*Definition) string {
	if offered == nil {
		offered = r.list
	}
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

// Fit returns input as c's tool may take it, for a caller that changes the input of a stored call.
func (r *Registry) Fit(name string, input json.RawMessage) (json.RawMessage, error) {
	d, ok := r.byName[name]
	if !ok {
		return nil, specError(name, "there is no such tool%s", r.suggest(name))
	}
	return d.input.Accept(input)
}
