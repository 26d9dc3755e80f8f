package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Rules returns the standing approvals of the session, oldest first.
func (s *Session) Rules(ctx context.Context) ([]Rule, error) {
	m, err := s.machine(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Clone(m.State().Rules), nil
}

// A NoRuleError says that a session has no standing approval of a tool.
type NoRuleError struct{ Session, Tool string }

// Error says which.
func (e *NoRuleError) Error() string {
	return fmt.Sprintf("agent: session %q has no standing approval of %q; Rules lists those it has", e.Session, e.Tool)
}

// Revoke ends the standing approval of a tool: from then on its calls ask again. by says who revokes it. A run that is under
// way, here or in another process, acts on it at its next safe point, before it takes up other calls; if there is none, it is
// done before the session's next run begins. Without a standing approval to end, that is a *[NoRuleError]; for a run under way it
// is logged there.
func (s *Session) Revoke(ctx context.Context, tool, by string) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	_, err = s.agent.send(ctx, s.id, inboxItem{Kind: itemRevoke, Text: tool, By: by})
	var idle *NothingOpenError
	if !errors.As(err, &idle) {
		return err
	}
	l, err := s.agent.openKnown(ctx, s.id)
	if errors.As(err, &idle) {
		return &NoRuleError{Session: s.id, Tool: tool}
	}
	if err != nil {
		return err
	}
	defer l.close()
	return l.revoke(nil, tool, by)
}

// revoke appends that a rule is revoked. items is the inbox item that asks for it.
func (l *sessionLog) revoke(items []string, tool, by string) error {
	l.lock()
	defer l.mu.Unlock()
	if !slices.ContainsFunc(l.state().Rules, func(r Rule) bool { return r.Tool == tool }) {
		return &NoRuleError{Session: l.name, Tool: tool}
	}
	return l.appendLocked(items, redactedFact{RuleRevoked{Meta: Meta{By: by}, Tool: tool}})
}

// takeRevocation does what an inbox item asks for. It leaves the inbox in the same append.
func (l *sessionLog) takeRevocation(it *inboxItem) {
	err := l.revoke([]string{it.ID}, it.Text, it.By)
	var none *NoRuleError
	if errors.As(err, &none) {
		l.remove(it.ID)
	}
	if err != nil {
		l.agent.logger.WarnContext(l.ctx, "agent: revoking a rule", "session", l.name, "error", err)
	}
}

// revokePosted does what revocations ask for that were posted to a run too late for its last safe point.
func (l *sessionLog) revokePosted() {
	if len(l.state().Rules) == 0 {
		return
	}
	for _, it := range l.inbox() {
		if it.Kind == itemRevoke {
			l.takeRevocation(&it)
		}
	}
}
