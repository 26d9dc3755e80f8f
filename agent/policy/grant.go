package policy

import (
	"context"
	"regexp"
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
	r := Rule{Effect: tools.Allow, Tool: m.spec.Name, Fingerprint: m.fingerprint}
	if m.asked != nil && (len(m.asked.Args) > 0) == (len(m.Args) > 0) {
		r.Args, r.Path, r.Host = m.asked.Args, m.asked.Path, m.asked.Host
	}
	if len(r.Args)+len(r.Path)+len(r.Host) == 0 || !r.permits(m) {
		r.Args, r.Path, r.Host = m.Args, "", ""
		if len(m.places) > 0 && m.sure {
			r.Path = m.places[0].names[0] // if there are others, it doesn't permit the call
		}
		if len(m.hosts) > 0 {
			r.Host = m.hosts[0]
		}
		if r.Exact = len(r.Args)+len(r.Path) > 0; !r.Exact && r.Host == "" {
			r.Scope = m.scope
		}
	}
	text := r.text() + " in this project"
	return r, text, m.inProject && grantable(m.spec) && m.sure && r.problem() == "" && r.permits(m) &&
		tools.CleanTitle(text) == text
}

// text says in words what a rule is about.
func (r *Rule) text() string {
	text := ""
	if len(r.Args) > 0 {
		var words []string
		for _, w := range r.Args {
			words = append(words, quoted(w))
		}
		if !r.Exact {
			words = append(words, "…")
		}
		text = " `" + strings.Join(words, " ") + "`"
	}
	for _, c := range [][2]string{{" in ", r.Path}, {" to ", r.Host}, {" for ", r.Scope}} {
		if c[1] != "" {
			text += c[0] + quoted(c[1])
		}
	}
	if text == "" {
		return "all calls of " + r.Tool
	}
	return r.Tool + text
}

var plain = regexp.MustCompile(`^[\w./=:,@%+*-]+$`)

// quoted quotes a word unless it is plain, so that a person sees where it ends and what is in it.
func quoted(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
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
	m := &matter{spec: c.Spec, fingerprint: p.Fingerprint, scope: p.Scope}
	rules, err := s.of(ctx, m, &tools.Call{Session: c.Session, Run: c.Run, Step: c.Step, Index: c.Index, ID: c.ID,
		Name: c.Name, Input: c.Input, User: c.User, Labels: c.Labels})
	if err != nil {
		return err
	}
	m.asked = m.find(tools.Ask, rules)
	r, text, ok := m.grant()
	if !ok || !slices.Contains(p.Scopes, tools.Scope{Name: Project, Text: text}) {
		return fault.New(fault.Denied, "policy: no grant was made, because it isn't the one that was shown any more")
	}
	r.By, r.Since = d.User, time.Now().UTC().Round(0)
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
	if session != nil {
		own, err := session.Rules(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range own {
			r := Rule{Tool: o.Tool, Fingerprint: o.Fingerprint, Scope: o.Scope, By: o.By, Since: o.Since}
			list = append(list, Grant{tools.ScopeSession + ":" + o.Tool, tools.ScopeSession,
				r.text() + " in this session", r})
		}
	}
	granted, err := s.cfg.Book.Rules(ctx, project)
	for _, r := range granted {
		if r.Effect == tools.Allow {
			list = append(list, Grant{Project + ":" + r.key(), Project, r.text() + " in this project", r})
		}
	}
	return list, err
}

// Revoke ends what [Set.Standing] lists under an ID; by says who revokes it. All standing rules of
// a session for one tool have the same ID and end together. It takes effect at the next call; a
// call that was permitted and hasn't begun is denied. An unknown ID is an error of class NotFound.
func (s *Set) Revoke(ctx context.Context, session *agent.Session, project, id, by string) error {
	list, err := s.Standing(ctx, session, project)
	if err != nil {
		return err
	}
	for _, g := range list {
		switch {
		case g.ID == id && g.Scope == Project:
			return s.cfg.Book.Drop(ctx, project, g.Rule)
		case g.ID == id:
			return session.Revoke(ctx, g.Rule.Tool, by)
		}
	}
	return fault.New(fault.NotFound, "policy: there is no such grant; it may have been revoked")
}
