package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A Config configures a [Set]. Its zero value has no rules, keeps grants in memory, and asks about
// every call that isn't read-only.
type Config struct {
	Rules *Rules // of the host
	Book  Book   // keeps grants; nil: [InMemory]

	// Project returns the project that a call belongs to: the absolute path of its directory, below
	// which its paths are resolved, or any other name, and then links in paths aren't followed.
	// Calls of a project share its grants. "" means that a call belongs to no project: it has no
	// grants and isn't offered any. It depends on the session, the user and the labels of the call,
	// and on nothing that may change. nil: all calls belong to the project "", and paths are below
	// the working directory of the process.
	Project func(c *tools.Call) string
	// Mode returns the mode of a session that wasn't switched, for agents whose modes are roles:
	// see [Set.Switch]. nil: the agent's modes are those of [Set.Modes]; in others, and without
	// modes, the mode is [Ask].
	Mode func(c *tools.Call) Mode
	// Subjects return what a call is about, by the names of their tools: see [Subject]. An error
	// denies the call.
	Subjects map[string]func(input json.RawMessage) (Subject, error)
}

// A Set decides about calls. It is safe for concurrent use.
type Set struct {
	cfg Config
	dir string // the working directory, if Project is nil
}

// New returns a set. The error says which rule can't apply, and why.
func New(cfg Config) (*Set, error) {
	s := &Set{cfg: cfg}
	if cfg.Rules == nil {
		s.cfg.Rules = new(Rules)
	}
	if cfg.Book == nil {
		s.cfg.Book = InMemory()
	}
	if cfg.Project == nil {
		var err error
		if s.dir, err = os.Getwd(); err != nil {
			return nil, fault.NewFixable("policy: the working directory can't be found", "set Config.Project", err)
		}
	}
	return s, s.cfg.Rules.check()
}

// Check returns what the host should know about its tools: those of high risk without
// Spec.AllowAlways, which ask in every mode and can't be granted, and rules that are about none of
// the tools. Tools of sources aren't known before they are listed.
func (s *Set) Check(list ...tools.Tool) (notes []string) {
	var names []string
	for _, t := range list {
		if r, err := tools.NewRegistry(t); err == nil { // agent.New says what is wrong with a tool
			d := r.All()[0]
			names = append(names, d.Name())
			if !d.Spec().ReadOnly && !grantable(d.Spec()) {
				notes = append(notes, d.Name()+" is of high risk, so it asks in every mode, and can't be granted without "+
					"Spec.AllowAlways")
			}
		}
	}
	for _, r := range slices.Concat(s.cfg.Rules.Hard, s.cfg.Rules.Rules) {
		if !slices.ContainsFunc(names, func(name string) bool { return r.about(name, time.Time{}) }) {
			notes = append(notes, fmt.Sprintf("a rule is about %q, and no tool has such a name", r.Tool))
		}
	}
	return notes
}

func grantable(spec *tools.Spec) bool { return spec.Risk < tools.High || spec.AllowAlways }

// Policy returns the policy that decides, for Config.Policies of an agent. See the package's
// comment for the order.
func (s *Set) Policy() tools.Policy { return s.decide }

// of collects what a call is about, and the rules that aren't hard: those of the host, and those of
// the call's project.
func (s *Set) of(ctx context.Context, m *matter, c *tools.Call) (rules []Rule, err error) {
	m.root, m.inProject = s.dir, true
	if s.cfg.Project != nil {
		m.project = s.cfg.Project(c)
		if m.inProject = m.project != ""; filepath.IsAbs(m.project) {
			m.root = m.project
		}
	}
	read := s.cfg.Subjects[m.spec.Name]
	if read == nil {
		read = defaultSubject
	}
	if m.Subject, err = read(c.Input); err != nil {
		return nil, fmt.Errorf("what the call is about can't be told: %w", err)
	}
	m.compare()
	if m.inProject {
		rules, err = s.cfg.Book.Rules(ctx, m.project)
	}
	return slices.Concat(s.cfg.Rules.Rules, rules), err
}

func (s *Set) decide(ctx context.Context, d *tools.Definition, c *tools.Call) (v tools.Verdict) {
	say := func(e tools.Effect, standing bool, r *Rule, otherwise string) tools.Verdict {
		return tools.Verdict{Effect: e, Standing: standing, Reason: cmp.Or(r.Why, otherwise)}
	}
	m := &matter{spec: d.Spec(), fingerprint: d.Fingerprint()}
	m.scope, _ = d.Scope(c.Input)
	rules, err := s.of(ctx, m, c)
	mode, modeErr := s.mode(ctx, c)
	hard := append(s.own(m), s.cfg.Rules.Hard...)
	if r := cmp.Or(m.find(tools.Deny, hard), m.find(tools.Deny, rules)); r != nil {
		return say(tools.Deny, false, r, "a rule denies this call")
	}
	if err := cmp.Or(err, modeErr); err != nil {
		return say(tools.Deny, false, &Rule{}, "the permissions can't be read, so nothing is permitted: "+err.Error())
	}
	if mode == Plan && !inPlan(m.spec) {
		return say(tools.Deny, false, &Rule{}, planDenies)
	}
	if r := m.find(tools.Ask, hard); r != nil {
		return say(tools.Ask, false, r, "a rule asks about each such call")
	}
	m.asked = m.find(tools.Ask, rules)
	reads := m.spec.ReadOnly || mode == Plan && grantable(m.spec)
	switch {
	case grantable(m.spec) && m.find(tools.Allow, rules) != nil:
		v.Standing = true
	case m.asked != nil:
		v = say(tools.Ask, true, m.asked, "a rule asks about this call")
	case reads:
		v.Standing = mode == Auto && m.sure
	case !grantable(m.spec):
		v = say(tools.Ask, true, &Rule{}, "this tool is of high risk")
	case m.sure && (mode == Auto || mode == Edits && m.spec.Risk < tools.High && d.CanPreview()):
		v.Standing = true
	default:
		v = say(tools.Ask, true, &Rule{}, "the mode is "+string(mode))
	}
	if _, text, ok := m.grant(); ok {
		v.Scopes = []tools.Scope{{Name: Project, Text: text}}
	}
	return v
}

// own returns a rule that keeps tools from the file of the Book.
func (s *Set) own(m *matter) []Rule {
	f, ok := s.cfg.Book.(*fileBook)
	if !ok || m.root == "" {
		return nil
	}
	name, err := filepath.Rel(followed(m.root), followed(f.path))
	if err != nil || !filepath.IsLocal(name) {
		return nil
	}
	pattern := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(filepath.ToSlash(name))
	return []Rule{{Effect: tools.Deny, Tool: "*", Path: pattern, Why: "this file has what people permit"}}
}
