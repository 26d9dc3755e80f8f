package tools

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

// Options are what [Registry.Run] takes besides a call.
type Options struct {
	// Policies decide about the call. What needs approval by the tool's Spec, or by its Ask, is
	// asked without them, too.
	Policies []Policy
	// Approved is the Hash of the [Question] that a person has answered with yes; the call names
	// the person in By. Take it from where the host stores decisions, never from the client or the
	// model that makes the call. A host that lets a hash run one call once removes it there first,
	// and adds it again if the call suspends itself.
	Approved string
	// Breakers are the breakers of the tools; nil: they have none.
	Breakers *circuit.Set
}

// A Question is what a person decides on before a call runs.
type Question struct {
	Tool   string
	Input  json.RawMessage // what runs if it is approved: canonical, with defaults filled in
	Reason string          // why somebody is asked
	// Hash names what is approved: the tool with its schema and description, the input, and the
	// User, Labels, Session and ID of the call. It is a SHA-256 in hexadecimal, and no secret.
	Hash string
	// Scopes are what policies offer for a standing approval, if one may answer this question
	// (Standing).
	Scopes   []Scope
	Standing bool
}

// Run runs one call as an agent does, for hosts without one: [Registry.Admit], the question to a
// person, [Registry.Recheck], the breaker, [Execute]. c is a copy; Name and Input are all that it
// needs. What went wrong is in the Outcome, also for an unknown tool, an input that doesn't fit and
// a call that is denied.
//
// A call that needs approval doesn't run: the Outcome has a Question, and the status NotRun. When a
// person has approved, Run runs the same call with the Question's Hash in Options.Approved, by the
// policies of then. If anything that the Hash names has changed, the Outcome has a new Question. So
// it does for a tool with Spec.Approvers if c.MayApprove doesn't let c.By decide, and for one with
// Spec.NotSelf if c.By is c.User, or c.User is empty.
//
// Lazy tools can be run as others. A call that suspends itself with Again ([Suspend]) is run again
// with c.Resumed, and with Approved if it was asked about; the host checks the answer. Without
// Again, as with an [External] tool, the answer is the result, and the call isn't run again.
func (r *Registry) Run(ctx context.Context, c Call, o Options) Outcome {
	if ctx == nil {
		ctx = context.Background()
	}
	adm, err := r.Admit(ctx, &c, r.All(), nil, o.Policies)
	switch {
	case err != nil:
		return *refuse(Failed, classOf(err), "%v", err)
	case adm.Rejected != nil:
		return *adm.Rejected
	case adm.Verdict.Effect == Ask:
		if q := adm.question(&c, o.Approved); q != nil {
			out := refuse(NotRun, fault.None, "a person has to approve it first: %s", q.Reason)
			out.Question = q
			return *out
		}
	}
	if refused := r.Recheck(ctx, &c, o.Policies); refused != nil {
		return *refused
	}
	var pass Pass
	if refused := pass.Take(adm.Definition, o.Breakers); refused != nil {
		return *refused
	}
	return Execute(ctx, adm.Definition, &c, &pass)
}

// question returns what a person has to decide on; nil if that is approved.
func (a *Admission) question(c *Call, approved string) *Question {
	d := a.Definition
	q := &Question{Tool: d.spec.Name, Input: slices.Clone(c.Input), Reason: a.Verdict.Reason, Hash: d.hash(c),
		Scopes: a.Verdict.Scopes, Standing: a.Verdict.Standing}
	if approved != q.Hash {
		return q
	}
	s := &d.spec
	switch {
	case s.NotSelf && c.User == "":
		q.Reason = both("it isn't known who makes the call, so nobody can approve it", q.Reason)
		return q
	case len(s.Approvers) == 0 || !(s.NotSelf && c.By == c.User) && c.mayApprove(d, c.By):
		return nil
	}
	q.Reason = both("who approved it may not decide on it", q.Reason)
	return q
}

// hash returns what a [Question] is known by.
func (d *Definition) hash(c *Call) string {
	sum := sha256.New()
	for _, part := range []string{d.spec.Name, d.fingerprint, c.User, string(c.Labels), c.Session, c.ID,
		string(c.Input)} {
		_ = binary.Write(sum, binary.BigEndian, uint64(len(part))) // a hash takes all
		sum.Write([]byte(part))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
