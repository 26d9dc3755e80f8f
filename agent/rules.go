package agent

import (
	"slices"

	"github.com/pawlkit/pawl/tools"
)

// ruled reports whether a standing approval answers a question about a call. If not, the call is
// suspended. A standing approval answers only for the scope that it was given for.
func (w *workers) ruled(cr *callRun, v *tools.Verdict) bool {
	s := cr.d.Spec()
	scope, _ := cr.d.Scope(cr.call.Input)
	// two scopes that are redacted to the same text aren't the same
	always := v.Standing && w.agent.redact.Text(scope) == scope
	applies := func(r Rule) bool {
		return r.Tool == s.Name && r.Fingerprint == cr.d.Fingerprint() && r.Scope == scope
	}
	if always && (slices.ContainsFunc(w.State().Rules, applies) || slices.ContainsFunc(w.agent.cfg.Rules, applies)) {
		return true
	}
	p := Pause{Kind: PauseApproval, Reason: v.Reason, Always: always}
	if always {
		p.Scope = scope
	}
	w.suspend(cr, p, s.Expires)
	return false
}
