package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
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
	if err := s.cfg.Rules.check(); err != nil {
		return nil, err
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
	return s, nil
}

// Check returns what the host should know about its tools: those of high risk without
// Spec.AllowAlways, which ask in every mode and can't be granted, and rules that are about none of
// the tools. Tools of sources aren't known before they are listed.
func (s *Set) Check(list ...tools.Tool) (notes []string) {
	names := make(map[string]bool)
	for _, t := range list {
		d, err := t.Define()
		if err != nil {
			notes = append(notes, err.Error())
			continue
		}
		names[d.Name()] = true
		if !mayBeGranted(d.Spec()) && !d.Spec().ReadOnly {
			notes = append(notes, fmt.Sprintf("%s is of high risk: it asks in every mode and can't be granted, unless its "+
				"Spec has AllowAlways", d.Name()))
		}
	}
	now := time.Now()
	unknown := func(list string, rules []Rule) {
		for i := range rules {
			known := false
			for name := range names {
				known = known || rules[i].about(name, now)
			}
			if !known {
				notes = append(notes, fmt.Sprintf("%s[%d] is about %q, and no tool has such a name", list, i, rules[i].Tool))
			}
		}
	}
	unknown("hard", s.cfg.Rules.Hard)
	unknown("rules", s.cfg.Rules.Rules)
	return notes
}

func mayBeGranted(spec *tools.Spec) bool { return spec.Risk < tools.High || spec.AllowAlways }

// Policy returns the policy that decides, for Config.Policies of an agent. See the package's
// comment for the order.
func (s *Set) Policy() tools.Policy { return s.decide }

// A matter is a call with what is known about it.
type matter struct {
	tool        string
	fingerprint string
	scope       string
	spec        *tools.Spec
	target      *target
	project     string
	inProject   bool // it belongs to a project
	asked       *Rule
}

// of collects what a call is about.
func (s *Set) of(spec *tools.Spec, fingerprint, scope string, c *tools.Call) (*matter, error) {
	m := &matter{tool: spec.Name, fingerprint: fingerprint, scope: scope, spec: spec, inProject: true}
	root := s.dir
	if s.cfg.Project != nil {
		m.project = s.cfg.Project(c)
		m.inProject = m.project != ""
		if filepath.IsAbs(m.project) {
			root = m.project
		}
	}
	read := s.cfg.Subjects[spec.Name]
	if read == nil {
		read = defaultSubject
	}
	subject, err := read(c.Input)
	if err != nil {
		return nil, err
	}
	m.target = newTarget(subject, root)
	return m, nil
}

func (s *Set) decide(ctx context.Context, d *tools.Definition, c *tools.Call) tools.Verdict {
	deny := func(why string) tools.Verdict { return tools.Verdict{Effect: tools.Deny, Reason: why} }
	scope, _ := d.Scope(c.Input)
	m, err := s.of(d.Spec(), d.Fingerprint(), scope, c)
	if err != nil {
		return deny("what this call is about can't be told: " + err.Error())
	}
	changes, now := !m.spec.ReadOnly, time.Now()
	covers := func(r *Rule) bool { return r.covers(m.target, changes) }
	if hard := selected(s.cfg.Rules.Hard, tools.Deny, m.tool, covers, now); len(hard) > 0 {
		return deny(why(hard[0], "a rule denies this call"))
	}
	if changes && s.holdsBook(m) {
		return deny("grants are kept in this file, which only people may change")
	}
	rules, err := s.rules(ctx, m)
	if err != nil {
		return deny("the permissions can't be read, so nothing is permitted: " + err.Error())
	}
	if denials := selected(rules, tools.Deny, m.tool, covers, now); len(denials) > 0 {
		return deny(why(denials[0], "a rule denies this call"))
	}
	mode, err := s.mode(ctx, c)
	if err != nil {
		return deny("the mode can't be read, so nothing is permitted: " + err.Error())
	}
	reads := !changes || mode == Plan
	if mode == Plan && !inPlan(m.spec) {
		return deny(planDenies)
	}
	if hard := selected(s.cfg.Rules.Hard, tools.Ask, m.tool, covers, now); len(hard) > 0 {
		return tools.Verdict{Effect: tools.Ask, Reason: why(hard[0], "a rule asks about each such call")}
	}
	m.asked = narrowest(selected(rules, tools.Ask, m.tool, covers, now))
	v := tools.Verdict{Scopes: m.scopes()}
	ask := func(why string) tools.Verdict {
		v.Effect, v.Standing, v.Reason = tools.Ask, true, why
		return v
	}
	v.Standing = m.granted(rules, now)
	switch grantable := mayBeGranted(m.spec); {
	case v.Standing && (grantable || reads):
		return v
	case m.asked != nil:
		return ask(why(m.asked, "a rule asks about this call"))
	case reads:
		v.Standing = mode == Auto
		return v
	case !grantable:
		return ask("this tool is of high risk")
	case m.target.sure() && (mode == Auto || mode == Edits && m.spec.Risk < tools.High && d.CanPreview()):
		v.Standing = true
		return v
	}
	return ask(fmt.Sprintf("the mode is %s", mode))
}

// why returns what a rule says to the model or the person.
func why(r *Rule, otherwise string) string { return cmp.Or(r.Why, otherwise) }

// rules returns the rules of the host, and those of the project of a call.
func (s *Set) rules(ctx context.Context, m *matter) ([]Rule, error) {
	rules := s.cfg.Rules.Rules
	if !m.inProject {
		return rules, nil
	}
	own, err := s.cfg.Book.Rules(ctx, m.project)
	return append(rules[:len(rules):len(rules)], own...), err
}

// granted reports whether rules allow a call, and the rule that asks, if there is one.
func (m *matter) granted(rules []Rule, now time.Time) bool {
	return len(selected(rules, tools.Allow, m.tool, func(r *Rule) bool {
		return r.permits(m.target, m.fingerprint, m.scope) && (m.asked == nil || r.answers(m.asked))
	}, now)) > 0
}

// holdsBook reports whether a call names the file of the Book, or a folder of it.
func (s *Set) holdsBook(m *matter) bool {
	f, ok := s.cfg.Book.(*file)
	root := cmp.Or(s.dir, m.project)
	if !ok || !filepath.IsAbs(root) {
		return false
	}
	rel, err := filepath.Rel(followed(root), followed(f.path))
	if err != nil || strings.HasPrefix(rel, "..") {
		return false
	}
	name := path.Clean(filepath.ToSlash(rel))
	guard := []Rule{{Path: escaped(name)}, {Path: escaped(name + lockSuffix)}}
	return len(m.target.Args) == 0 && (guard[0].covers(m.target, true) || guard[1].covers(m.target, true))
}

// escaped returns a pattern for a name.
func escaped(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}
