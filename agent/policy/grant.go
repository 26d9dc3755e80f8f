package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// Project is the name of the scope that a pause offers beside the session: agent.Approve(id).For
// (policy.Project) lets a call run, and grants such calls in all sessions of the project.
const Project = "project"

// grant returns the rule that "always, in this project" makes of a call, and what it grants, in
// words. It returns false if there can be none, or if its words don't tell all of it.
func (m *matter) grant() (Rule, string, bool) {
	t := m.target
	r := Rule{Effect: tools.Allow, Tool: m.tool, Fingerprint: m.fingerprint}
	if !m.inProject || !mayBeGranted(m.spec) {
		return r, "", false
	}
	if a := m.asked; a != nil && len(a.Args)+len(a.Path)+len(a.Host) > 0 {
		r.Args, r.Path, r.Host = a.Args, a.Path, a.Host
	}
	if r.Args == nil && r.Path == "" && r.Host == "" || !r.permits(t, m.fingerprint, m.scope) {
		r.Args, r.Path, r.Host = t.Args, "", ""
		if len(t.places) == 1 && t.places[0].names != nil {
			r.Path = t.places[0].names[0]
		}
		if len(t.hosts) == 1 {
			r.Host = t.hosts[0]
		}
		if r.Exact = len(r.Args) > 0 || r.Path != ""; !r.Exact && r.Host == "" {
			r.Scope = m.scope
		}
		if len(t.places) > 1 || len(t.hosts) > 1 || !t.sure() {
			return r, "", false
		}
	}
	text := r.text() + " in this project"
	return r, text, r.problem() == "" && r.permits(t, m.fingerprint, m.scope) &&
		(m.asked == nil || r.answers(m.asked)) && tools.CleanTitle(text) == text
}

// text says in words what a rule is about.
func (r *Rule) text() string {
	var b strings.Builder
	if len(r.Args)+len(r.Path)+len(r.Host)+len(r.Scope) == 0 {
		return "all calls of " + r.Tool
	}
	b.WriteString(r.Tool)
	if len(r.Args) > 0 {
		b.WriteString(" `")
		for i, w := range r.Args {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(quoted(w))
		}
		if !r.Exact {
			b.WriteString(" …")
		}
		b.WriteByte('`')
	}
	if r.Path != "" {
		b.WriteString(" in " + quoted(r.Path))
	}
	if r.Host != "" {
		b.WriteString(" to " + r.Host)
	}
	if r.Scope != "" {
		b.WriteString(" for " + quoted(r.Scope))
	}
	return b.String()
}

// quoted quotes a word unless it is plain, so that a person sees where it ends and what is in it.
func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./=:,@%+*", r))
	}) {
		return s
	}
	return strconv.QuoteToGraphic(s)
}

// scopes returns what a pause offers beside the session.
func (m *matter) scopes() []tools.Scope {
	if _, text, ok := m.grant(); ok {
		return []tools.Scope{{Name: Project, Text: text}}
	}
	return nil
}

// Hooks returns the hooks that make a grant of a decision for the scope [Project]. A grant is made
// only if it is still the one that the person was shown; the error says so otherwise, and is
// logged.
func (s *Set) Hooks() agent.Hooks {
	return agent.Hooks{Name: "policy", AfterDecision: s.decided}
}

func (s *Set) decided(ctx context.Context, c *agent.ToolCall, p agent.Pause, d agent.Decision) error {
	if d.Kind != machine.AlwaysAllow || d.Scope != Project || c.Spec == nil {
		return nil
	}
	m, err := s.of(c.Spec, p.Fingerprint, p.Scope, &tools.Call{Session: c.Session, Run: c.Run, Step: c.Step,
		Index: c.Index, ID: c.ID, Name: c.Name, Input: c.Input, User: c.User, Labels: c.Labels})
	if err != nil {
		return err
	}
	rules, err := s.rules(ctx, m)
	if err != nil {
		return err
	}
	now := time.Now()
	m.asked = narrowest(selected(rules, tools.Ask, m.tool, func(r *Rule) bool {
		return r.covers(m.target, !m.spec.ReadOnly)
	}, now))
	r, text, ok := m.grant()
	if !ok || !slices.Contains(p.Scopes, tools.Scope{Name: Project, Text: text}) {
		return errors.New("policy: no grant was made, because it isn't the one that was shown any more")
	}
	r.By, r.Since = d.User, now.UTC().Round(0)
	return s.cfg.Book.Put(ctx, m.project, r)
}

// A Grant is a standing permission, as a page shows it: see [Set.Standing].
type Grant struct {
	ID    string // for [Set.Revoke]
	Scope string // [Project], or tools.ScopeSession
	Text  string // what is permitted, in words
	Rule  Rule
}

// Standing returns what was permitted for good: the standing rules of a session, which may be nil,
// and the grants of a project that haven't ended.
func (s *Set) Standing(ctx context.Context, session *agent.Session, project string) (list []Grant, err error) {
	var own []agent.Rule
	if session != nil {
		if own, err = session.Rules(ctx); err != nil {
			return nil, err
		}
	}
	for _, o := range own {
		r := Rule{Effect: tools.Allow, Tool: o.Tool, Fingerprint: o.Fingerprint, Scope: o.Scope, By: o.By,
			Since: o.Since}
		list = append(list, Grant{ID: tools.ScopeSession + ":" + o.Tool, Scope: tools.ScopeSession,
			Text: r.text() + " in this session", Rule: r})
	}
	granted, err := s.cfg.Book.Rules(ctx, project)
	if err != nil {
		return nil, err
	}
	for _, r := range granted {
		if r.Effect == tools.Allow && r.about(r.Tool, time.Now()) {
			list = append(list, Grant{ID: r.key(), Scope: Project, Text: r.text() + " in this project", Rule: r})
		}
	}
	return list, nil
}

// key identifies a rule in a list.
func (r Rule) key() string {
	r.Why, r.By, r.Since, r.Until = "", "", time.Time{}, time.Time{}
	text, _ := json.Marshal(r) // of texts
	sum := sha256.Sum256(text)
	return Project + ":" + hex.EncodeToString(sum[:12])
}

// Revoke ends what [Set.Standing] lists under an ID; by says who revokes it. All standing rules of
// a session for one tool have the same ID and end together. It takes effect at the next call; a
// call that was permitted and hasn't begun is denied. An unknown ID is an error of class NotFound.
func (s *Set) Revoke(ctx context.Context, session *agent.Session, project, id, by string) error {
	if tool, ok := strings.CutPrefix(id, tools.ScopeSession+":"); ok && session != nil {
		return session.Revoke(ctx, tool, by)
	}
	list, err := s.Standing(ctx, nil, project)
	if err != nil {
		return err
	}
	for _, g := range list {
		if g.ID == id {
			return s.cfg.Book.Drop(ctx, project, g.Rule)
		}
	}
	return fault.New(fault.NotFound, fmt.Sprintf("policy: there is no grant %q; it may have been revoked", id))
}
