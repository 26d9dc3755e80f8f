package policy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/tools"
)

// A Rule is about calls of a tool. All of its conditions have to hold; what is empty is no
// condition.
type Rule struct {
	Effect tools.Effect `json:"effect"`
	// Tool is the tool's name, or a pattern such as "file.*": see [path.Match].
	Tool string `json:"tool"`
	// Args are the first words of the call, the program first. See [Subject].
	Args []string `json:"args,omitempty"`
	// Path is a pattern for files below the project's directory: *, ? and [a-z] within a name, **
	// for any directories. A rule that denies or asks is also for what is below.
	Path string `json:"path,omitempty"`
	// Host is a host's name in ASCII, or an address. "*.name" stands for all names below it.
	Host string `json:"host,omitempty"`
	// Exact, of a rule that allows, says that the call has no other words, paths and hosts than
	// these, and that Path is no pattern.
	Exact bool `json:"exact,omitempty"`
	// Fingerprint binds a rule that allows to the tool's schema and description
	// ([tools.Definition.Fingerprint]). Grants have it.
	Fingerprint string `json:"fingerprint,omitempty"`

	Why   string    `json:"why,omitempty"`  // for the model that is denied, or the person who is asked
	By    string    `json:"by,omitempty"`   // who made the rule, or what it belongs to
	Until time.Time `json:"until,omitzero"` // from when on it no longer applies; zero: never
}

// Rules are what a host says. Each list may be in any order: what denies counts before what asks,
// and that before what allows.
type Rules struct {
	// Hard are rules that deny, or ask about each call. No grant answers them.
	Hard []Rule `json:"hard,omitempty"`
	// Rules deny, ask what a grant may answer, or allow, like a grant. One that allows answers one
	// that asks only if that asks about all that it permits: "allow" for all tools doesn't answer
	// "ask" for one.
	Rules []Rule `json:"rules,omitempty"`
}

// Parse reads rules in JSON: {"hard": [rule, …], "rules": [rule, …]}, where the fields of a rule
// are those of [Rule] in lower case, and the effect is "allow", "ask" or "deny". An unknown field,
// a field that is given twice, and a rule that can't apply are errors that say what would be right.
func Parse(data []byte) (*Rules, error) {
	r := new(Rules)
	if err := decode(data, r); err != nil {
		return nil, invalid("the rules can't be read: %w", err)
	}
	return r, r.check()
}

// decode reads a JSON text that has to be exactly what T is written as.
func decode[T any](data []byte, to *T) error {
	s, err := schema.For[T](nil)
	if err == nil {
		err = s.Validate(data)
	}
	return cmp.Or(err, json.Unmarshal(data, to))
}

// Narrow adds the rules of a project's own file, as [Parse] reads it. Such a file comes with the
// project's files, from anybody, so it may only narrow what is permitted: a rule that allows is an
// error, and then nothing is added.
func (r *Rules) Narrow(data []byte) error {
	own, err := Parse(data)
	if err != nil {
		return err
	}
	for i, rule := range own.Rules {
		if rule.Effect == tools.Allow {
			return invalid("rules[%d] allows something, and a project's own rules may only deny or ask", i)
		}
	}
	r.Hard, r.Rules = slices.Concat(r.Hard, own.Hard), slices.Concat(r.Rules, own.Rules)
	return nil
}

func (r *Rules) check() error { return cmp.Or(check("hard", r.Hard), check("rules", r.Rules)) }

// check returns an error for the first rule of a list that can't apply.
func check(list string, rules []Rule) error {
	for i, r := range rules {
		problem := r.problem()
		if list == "hard" && r.Effect == tools.Allow {
			problem = cmp.Or(problem, "it allows something; put it under rules, because hard rules deny or ask")
		}
		if problem != "" {
			return invalid("%s[%d]: %s", list, i, problem)
		}
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fault.Wrap(fault.Invalid, fmt.Errorf("policy: "+format, args...))
}

// problem returns what is wrong with a rule, or "".
func (r *Rule) problem() string {
	_, badTool := path.Match(r.Tool, "")
	_, badPath := path.Match(r.Path, "")
	name := strings.TrimPrefix(r.Host, "*.")
	host, _ := hostOf(name)
	switch {
	case r.Effect > tools.Deny:
		return fmt.Sprintf("the effect is %d; give allow, ask or deny", r.Effect)
	case r.Tool == "" || badTool != nil:
		return fmt.Sprintf(`the tool is %q; give its name, or a pattern such as "file.*"`, r.Tool)
	case len(r.Args) > 0 && r.Args[0] == "":
		return "the first of args is empty; give the program"
	case r.Path != "" && (badPath != nil || path.Clean(r.Path) != r.Path || !filepath.IsLocal(r.Path)):
		return fmt.Sprintf(`the path is %q; give one below the project's directory, such as "docs/*.md"`, r.Path)
	case r.Host != "" && (name == "" || host != name):
		return fmt.Sprintf(`the host is %q; give a name in lower case and ASCII, such as "*.example.com"`, r.Host)
	case r.Effect != tools.Allow && (r.Exact || r.Fingerprint != ""):
		return "exact and fingerprint are for rules that allow"
	}
	return ""
}

// conditional reports whether a rule isn't about all calls of its tools.
func (r *Rule) conditional() bool { return r.Exact || len(r.Args) > 0 || r.Path != "" || r.Host != "" }

// same reports whether two rules say the same, by the same.
func (r Rule) same(o Rule) bool {
	r.Why, r.Until = o.Why, o.Until
	return r.Tool == o.Tool && reflect.DeepEqual(r, o)
}
