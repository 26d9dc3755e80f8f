package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/journal"
)

// Rules returns the standing approvals of a session, oldest first.
func (a *Agent) Rules(ctx context.Context, session string) ([]Rule, error) {
	var rules []Rule
	err := a.look(ctx, session, func(m *Machine) { rules = slices.Clone(m.s.Rules) })
	return rules, err
}

// A NoRuleError says that a session has no standing approval of a tool.
type NoRuleError struct{ Session, Tool string }

// Error says which.
func (e *NoRuleError) Error() string {
	return fmt.Sprintf("agent: session %q has no standing approval of %q; Rules lists those it has", e.Session, e.Tool)
}

// Revoke ends the standing approval of a tool in a session: from then on its calls ask again. by says
// who revokes it. A run that is under way, here or in another process, applies it at its next safe point: before it takes up
// other calls; if there is none, before its session's next run begins. Without a standing approval to end, that is a *[NoRuleError]; only for a run under way elsewhere it is logged there.
func (a *Agent) Revoke(ctx context.Context, session, tool, by string) error {
	ctx = orBackground(ctx)
	_, err := a.send(ctx, session, steerMessage{id: newID("m-"), what: steerRevoke, text: tool, by: by})
	var idle *NothingOpenError
	if !errors.As(err, &idle) {
		return err
	}
	x := a.open(ctx)
	defer x.cancel(nil)
	if a.cfg.Journal != nil {
		if _, err := a.cfg.Journal.Head(ctx, session); errors.Is(err, journal.ErrNoSession) {
			return &NoRuleError{Session: session, Tool: tool}
		}
	}
	if err := x.enter(&Input{Session: session}); err != nil {
		return err
	}
	defer x.leave()
	return x.revoke(nil, tool, by)
}

// revoke records that a rule is revoked. taken is the inbox item that asks for it.
func (x *exec) revoke(taken []string, tool, by string) error {
	x.lock()
	defer x.mu.Unlock()
	if !slices.ContainsFunc(x.m.s.Rules, func(r Rule) bool { return r.Tool == tool }) {
		return &NoRuleError{Session: x.s.name, Tool: tool}
	}
	f := RuleRevoked{Meta: x.besides(), Tool: tool}
	f.Meta.By = valid(by)
	return x.recordLocked(taken, f)
}

// takeRevocation ends the rule that a message is about. One from the inbox leaves it in the same append.
func (x *exec) takeRevocation(m *steerMessage) {
	var taken []string
	if m.posted {
		taken = []string{m.id}
	}
	err := x.revoke(taken, m.text, m.by)
	var none *NoRuleError
	if errors.As(err, &none) && m.posted {
		x.acknowledge(m.id)
	}
	if err != nil {
		x.a.log.WarnContext(x.ctx, "agent: revoking a rule", "session", x.s.name, "error", err)
	}
}

func (m *Machine) revoked(f *RuleRevoked) string {
	n := len(m.s.Rules)
	m.s.Rules = slices.DeleteFunc(m.s.Rules, func(r Rule) bool { return r.Tool == f.Tool })
	if len(m.s.Rules) == n {
		return fmt.Sprintf("there is no standing approval of %q", f.Tool)
	}
	return ""
}
