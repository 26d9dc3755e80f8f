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
	// and on nothing that may change. nil: the working directory of the process.
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
type Set struct{ cfg Config }

// New returns a set. The error says which rule can't apply, and why.
func New(cfg Config) (*Set, error) {
	if cfg.Rules == nil {
		cfg.Rules = new(Rules)
	}
	if cfg.Book == nil {
		cfg.Book = InMemory()
	}
	if cfg.Project == nil {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fault.NewFixable("policy: the working directory can't be found", "set Config.Project", err)
		}
		cfg.Project = func(*tools.Call) string { return dir }
	}
	return &Set{cfg}, cfg.Rules.check()
}

func grantable(spec *tools.Spec) bool { return spec.Risk < tools.High || spec.AllowAlways }

// Policy returns the policy that decides, for Config.Policies of an agent. See the package's
// comment for the order.
func (s *Set) Policy() tools.Policy { return s.decide }

// about fills in what a call is about, and the rules for it; scope is what the tool names, and
// declared has the members that it declares as its keys, or is empty if they aren't known.
func (s *Set) about(ctx context.Context, m *matter, c *tools.Call, scope string, declared map[string]any) (err error) {
	m.rules = s.cfg.Rules.Rules
	if read := s.cfg.Subjects[m.spec.Name]; read != nil {
		m.Subject, err = read(c.Input)
	} else {
		m.Subject, err = defaultSubject(c.Input, declared)
	}
	if err != nil {
		return fmt.Errorf("what the call is about can't be told: %w", err)
	}
	if scope != "" && len(m.Args)+len(m.Texts)+len(m.Paths)+len(m.Hosts) == m.addedTexts+m.addedPlaces {
		m.Args, m.others = []string{scope}, nil
	}
	root := ""
	if m.project = s.cfg.Project(c); filepath.IsAbs(m.project) {
		root = m.project
	}
	var granted []Rule
	if m.project != "" {
		granted, err = s.cfg.Book.Rules(ctx, m.project)
		if err = cmp.Or(err, check("rules of the book", granted)); err != nil {
			granted = nil
		}
	}
	m.rules = slices.Concat(s.own(root), m.rules, granted)
	m.words = takesWords(m.spec.Name, slices.Concat(s.cfg.Rules.Hard, m.rules))
	m.compare(root)
	return err
}

// own returns a rule that keeps tools from the file of the Book, if that is below root.
func (s *Set) own(root string) []Rule {
	b, ok := s.cfg.Book.(*book)
	if !ok || b.path == "" || root == "" {
		return nil
	}
	name, err := filepath.Rel(followed(root), followed(b.path))
	if err != nil || !filepath.IsLocal(name) {
		return nil
	}
	pattern := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(filepath.ToSlash(name))
	return []Rule{{Effect: tools.Deny, Tool: "*", Path: pattern, Why: "this file has what people permit"}}
}

func (s *Set) decide(ctx context.Context, d *tools.Definition, c *tools.Call) (v tools.Verdict) {
	m := &matter{spec: d.Spec(), fingerprint: d.Fingerprint()}
	scope, _ := d.Scope(c.Input)
	err := s.about(ctx, m, c, scope, declaredBy(d))
	mode, modeErr := s.mode(ctx, c)
	hard := s.cfg.Rules.Hard
	denials, asks := m.find(tools.Deny, slices.Concat(hard, m.rules)), m.find(tools.Ask, hard)
	allows := m.find(tools.Allow, m.rules)
	switch err = cmp.Or(err, modeErr); {
	case len(denials) > 0:
		return tools.Verdict{Effect: tools.Deny, Reason: m.reason(denials, "a rule denies this call")}
	case err != nil:
		return tools.Verdict{Effect: tools.Deny,
			Reason: "the permissions can't be read, so nothing is permitted: " + err.Error()}
	case mode == Plan && !inPlan(m.spec):
		return tools.Verdict{Effect: tools.Deny, Reason: planSays}
	case len(asks) > 0:
		return tools.Verdict{Effect: tools.Ask, Reason: m.reason(asks, "a rule asks about each such call")}
	case grantable(m.spec) && len(allows) > 0:
		v.Standing = true
		for _, r := range allows {
			v.By = append(v.By, r.By) // "" is the host, which answers for no approver
		}
	case len(m.asks) > 0:
		v = tools.Verdict{Effect: tools.Ask, Standing: true, Reason: m.reason(m.asks, "a rule asks about it")}
	default:
		v = m.byMode(mode, d.CanPreview())
	}
	_, v.Scopes = m.grant()
	return v
}
