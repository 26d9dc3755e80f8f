package policy

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// Project is the name of the scope that a pause offers beside the session: agent.Approve(id).For
// (policy.Project) lets a call run, and grants such calls in all sessions of the project.
const Project = "project"

const (
	inProject = " in this project"
	inSession = ", in this session"
)

// grant returns the rule that "always, in this project" makes of a call, and the scope that says
// so: for what a rule that asks names, or for exactly what the call is about. There is no scope if
// there can be no grant, or if its text wouldn't tell all of it.
func (m *matter) grant() (r Rule, scopes []tools.Scope) {
	if m.project == "" || !m.sure || !grantable(m.spec) {
		return r, nil
	}
	exact := Rule{Args: m.Args, Exact: true}
	if len(m.places) > 0 {
		exact.Path = m.places[0].names[0]
	}
	if len(m.hosts) > 0 {
		exact.Host = m.hosts[0]
	}
	for _, like := range append(m.asks[:len(m.asks):len(m.asks)], &exact) {
		r = Rule{Tool: m.spec.Name, Args: like.Args, Path: like.Path, Host: like.Host, Exact: like.Exact,
			Fingerprint: m.fingerprint}
		text := r.text() + inProject
		if r.conditional() && (len(r.Args) > 0) == (len(m.Args) > 0) && r.problem() == "" && r.permits(m) &&
			tools.CleanTitle(text) == text {
			return r, []tools.Scope{{Name: Project, Text: text}}
		}
	}
	return r, nil
}

// text says in words what a rule is about.
func (r *Rule) text() string {
	if !r.conditional() {
		return "all calls of " + r.Tool
	}
	text := r.Tool
	if len(r.Args) > 0 {
		var words []string
		for _, w := range r.Args {
			words = append(words, quoted(w))
		}
		if !r.Exact {
			words = append(words, "…")
		}
		text += " `" + strings.Join(words, " ") + "`"
	}
	if r.Path != "" {
		text += " in " + quoted(r.Path)
	}
	if r.Host != "" {
		text += " to " + quoted(r.Host)
	}
	return text
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
	m := &matter{spec: c.Spec, fingerprint: p.Fingerprint}
	// No grant was shown for a call with members that the tool doesn't declare.
	err := s.about(ctx, m, &tools.Call{Session: c.Session, Run: c.Run, ID: c.ID, Name: c.Name, Input: c.Input,
		User: c.User, Labels: c.Labels}, p.Scope, nil)
	if err != nil {
		return err
	}
	r, scopes := m.grant()
	if len(scopes) == 0 || !slices.Contains(p.Scopes, scopes[0]) {
		return fault.New(fault.Denied, "policy: no grant was made, because it isn't the one that was shown any more")
	}
	r.By = d.User
	return s.cfg.Book.Put(ctx, m.project, r)
}

// A Grant is a standing permission, as a page shows it: see [Set.Standing].
type Grant struct {
	Text string // what is permitted, in words, for [Set.Revoke], too
	Rule Rule
}

// Standing returns what was permitted for good: the standing rules of a session, which may be nil,
// and the grants of a project that haven't ended. The project is named as Config.Project does it;
// by default it is the working directory.
func (s *Set) Standing(ctx context.Context, session *agent.Session, project string) (list []Grant, err error) {
	if session != nil {
		rules, err := session.Rules(ctx)
		if err != nil {
			return nil, err
		}
		for _, of := range rules {
			r := Rule{Tool: of.Tool, Fingerprint: of.Fingerprint, By: of.By}
			if of.Scope != "" {
				r.Args, r.Exact = []string{of.Scope}, true
			}
			list = append(list, Grant{of.Text() + inSession, r})
		}
	}
	rules, err := s.cfg.Book.Rules(ctx, project)
	for _, r := range rules {
		if r.Effect == tools.Allow {
			list = append(list, Grant{r.text() + inProject, r})
		}
	}
	return list, err
}

// Revoke ends all that [Set.Standing] lists with a text; by says who revokes it. All standing rules
// of a session for one tool end together. It takes effect at the next call; a call that was
// permitted and hasn't begun is denied. An unknown text is an error of class NotFound.
func (s *Set) Revoke(ctx context.Context, session *agent.Session, project, text, by string) error {
	list, err := s.Standing(ctx, session, project)
	if err != nil {
		return err
	}
	err = fault.New(fault.NotFound, "policy: there is no such grant; it may have been revoked")
	for _, g := range list {
		if g.Text != text {
			continue
		}
		if strings.HasSuffix(text, inSession) {
			return session.Revoke(ctx, g.Rule.Tool, by)
		}
		if err = s.cfg.Book.Drop(ctx, project, g.Rule); err != nil {
			return err
		}
	}
	return err
}
