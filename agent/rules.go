package agent

import (
	"errors"
	"slices"

	"github.com/pawlkit/pawl/tools"
)

// ruled reports whether a standing approval answers a question about a call. If not, the call is
// suspended. A standing approval answers only for the scope that it was given for, and, of a tool
// with approvers, as long as who gave it is one.
func (w *workers) ruled(cr *callRun, v *tools.Verdict) bool {
	s := cr.d.Spec()
	scope, _ := cr.d.Scope(cr.call.Input)
	// two scopes that are redacted to the same text aren't the same
	always := v.Standing && w.agent.redact.Text(scope) == scope
	applies := func(r Rule) bool {
		return r.Tool == s.Name && r.Fingerprint == cr.d.Fingerprint() && r.Scope == scope &&
			(len(s.Approvers) == 0 || w.mayApprove(s, r.By))
	}
	if always && (slices.ContainsFunc(w.log.State().Rules, applies) || slices.ContainsFunc(w.agent.cfg.Rules, applies)) {
		return true
	}
	p := Pause{Kind: PauseApproval, Reason: v.Reason, Always: always}
	if always {
		p.Scope, p.Scopes = scope, w.scopes(Rule{Tool: s.Name, Scope: scope}, v.Scopes)
	}
	if cr.d.CanPreview() {
		var refused *tools.Outcome
		if p.Preview, p.PreviewHash, refused = w.preview(cr, cr.call.Input); refused != nil {
			return w.refuseWith(cr, refused)
		}
	}
	w.suspend(cr, p, s.Expires)
	return false
}

// scopes returns the scopes that a pause offers: own in the session, and those of the policies. One
// whose name would be redacted couldn't be chosen.
func (w *workers) scopes(own Rule, more []tools.Scope) []tools.Scope {
	all := []tools.Scope{{Name: tools.ScopeSession, Text: own.Text() + ", in this session"}}
	for _, s := range more {
		if w.agent.redact.Text(s.Name) == s.Name {
			all = append(all, tools.Scope{Name: s.Name, Text: tools.CleanTitle(w.agent.redact.Text(s.Text))})
		}
	}
	return all
}

// mayApprove is mayDecide for a call that is about to run without a question, because of what a
// user has given before. What isn't known now doesn't answer: a person is asked.
func (w *workers) mayApprove(spec *tools.Spec, user string) bool {
	w.log.Lock()
	session, self := w.log.State().Outermost(), w.log.State().StartedBy(user)
	w.log.Unlock()
	err := w.agent.mayDecide(w.log.ctx, session, spec, user, self)
	if _, unknown := errors.AsType[*RolesError](err); unknown {
		w.log.warn("agent: an approval that was given before doesn't answer", err, "tool", spec.Name)
	}
	return err == nil
}

// approverLetsRun reports whether who has let a call run may decide on it now. The decision may
// have been recorded when its tool had other approvers, or none, and so may an answer to a question
// of the tool. A call that has begun, and may be repeated, goes on.
func (w *workers) approverLetsRun(cr *callRun) bool {
	s, c := cr.d.Spec(), cr.state
	return len(s.Approvers) == 0 || c.Started && c.Repeat && s.Repeatable() || w.mayApprove(s, c.By)
}
