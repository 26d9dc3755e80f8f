package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/tools"
)

// A Rule is about calls of a tool. All of its conditions have to hold; what is empty is no
// condition.
type Rule struct {
	Effect tools.Effect `json:"-"` // "effect" in JSON
	// Tool is the tool's name, or a pattern such as "file.*": see [path.Match].
	Tool string `json:"tool"`
	// Args are the first words of the call, the program first. See [Subject].
	Args []string `json:"args,omitempty"`
	// Path is a pattern for files below the project's directory: *, ? and [a-z] within a name, **
	// for any directories. A rule that denies or asks is also for what is below.
	Path string `json:"path,omitempty"`
	// Host is a host's name in ASCII, or an address. "*.name" stands for all names below it.
	Host string `json:"host,omitempty"`
	// Exact, of a rule that allows, says that Args are all words of the call, and that Path is a
	// path and no pattern; without a Path the call names none.
	Exact bool `json:"exact,omitempty"`

	// Scope and Fingerprint bind a rule that allows to what the tool names as the scope of the
	// input, and to its schema and description ([tools.Definition]). Grants have them.
	Scope       string `json:"scope,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`

	Why   string    `json:"why,omitempty"`  // for the model that is denied, or the person who is asked
	By    string    `json:"by,omitempty"`   // who made the rule
	ID    string    `json:"id,omitempty"`   // of what the rule belongs to, such as a version of a plan
	Since time.Time `json:"since,omitzero"` // when it was made
	Until time.Time `json:"until,omitzero"` // from when on it no longer applies; zero: never
}

// plainRule is a Rule without its methods.
type plainRule Rule

type ruleJSON struct {
	Effect string `json:"effect"`
	plainRule
}

// MarshalJSON returns the rule as Parse reads it.
func (r Rule) MarshalJSON() ([]byte, error) {
	return json.Marshal(ruleJSON{r.Effect.String(), plainRule(r)})
}

// UnmarshalJSON reads a rule, and ignores unknown fields: see [Parse].
func (r *Rule) UnmarshalJSON(data []byte) error {
	var in ruleJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	effect := slices.Index([]string{"allow", "ask", "deny"}, in.Effect)
	if effect < 0 {
		return fmt.Errorf("policy: the effect %q isn't allow, ask or deny", in.Effect)
	}
	*r = Rule(in.plainRule)
	r.Effect = tools.Effect(effect)
	return nil
}

// Rules are what a host says. Each list may be in any order: what denies counts before what asks,
// and that before what allows.
type Rules struct {
	// Hard are rules that deny, or ask about each call. No grant answers them.
	Hard []Rule `json:"hard,omitempty"`
	// Rules deny, ask what a grant may answer, or allow, like a grant.
	Rules []Rule `json:"rules,omitempty"`
}

// maxText is how long a file of rules may be, in bytes.
const maxText = 1 << 20

var rulesSchema = must(schema.Parse(json.RawMessage(`{"type": "object", "additionalProperties": false, "properties": {
	"hard": {"type": "array", "items": {"$ref": "#/$defs/rule"}},
	"rules": {"type": "array", "items": {"$ref": "#/$defs/rule"}}},
"$defs": {"rule": {"type": "object", "additionalProperties": false, "required": ["effect", "tool"], "properties": {
	"effect": {"enum": ["allow", "ask", "deny"]},
	"tool": {"type": "string"}, "args": {"type": "array", "items": {"type": "string"}},
	"path": {"type": "string"}, "host": {"type": "string"}, "exact": {"type": "boolean"},
	"scope": {"type": "string"}, "fingerprint": {"type": "string"},
	"why": {"type": "string"}, "by": {"type": "string"}, "id": {"type": "string"},
	"since": {"type": "string", "format": "date-time"}, "until": {"type": "string", "format": "date-time"}}}}}`)))

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Parse reads rules in JSON: {"hard": [rule, …], "rules": [rule, …]}, where the fields of a rule
// are those of [Rule] in lower case, and the effect is "allow", "ask" or "deny". An unknown field,
// a field that is given twice, and a rule that can't apply are errors that say what would be right.
// The text has at most 1 MiB.
func Parse(data []byte) (*Rules, error) {
	if len(data) > maxText {
		return nil, fault.New(fault.Invalid, fmt.Sprintf("policy: the rules have %d bytes; give at most %d", len(data),
			maxText))
	}
	text, err := rulesSchema.Accept(data)
	if err != nil {
		return nil, fmt.Errorf("policy: the rules: %w", err)
	}
	r := new(Rules)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fault.Wrap(fault.Invalid, fmt.Errorf("policy: the rules: %w", err))
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	return r, nil
}

// Narrow returns these rules with those of a project's own file, as [Parse] reads it. Such a file
// comes with the project's files, from anybody, so it may only narrow what is permitted: a rule
// that allows is an error. r may be nil.
func (r *Rules) Narrow(data []byte) (*Rules, error) {
	own, err := Parse(data)
	if err != nil {
		return nil, err
	}
	for i, rule := range own.Rules {
		if rule.Effect == tools.Allow {
			return nil, ruleError("rules", i, "it allows something, and a project's own rules may only deny or ask")
		}
	}
	if r != nil {
		own.Hard, own.Rules = slices.Concat(r.Hard, own.Hard), slices.Concat(r.Rules, own.Rules)
	}
	return own, nil
}

// check returns an error for the first rule that can't apply.
func (r *Rules) check() error {
	for i := range r.Hard {
		problem := r.Hard[i].problem()
		if problem == "" && r.Hard[i].Effect == tools.Allow {
			problem = "it allows something; put it under rules, because hard rules deny or ask"
		}
		if problem != "" {
			return ruleError("hard", i, problem)
		}
	}
	for i := range r.Rules {
		if problem := r.Rules[i].problem(); problem != "" {
			return ruleError("rules", i, problem)
		}
	}
	return nil
}

func ruleError(list string, i int, problem string) error {
	return fault.Wrap(fault.Invalid, fmt.Errorf("policy: %s[%d]: %w", list, i, errors.New(problem)))
}

// maxWords and maxField bound a rule, so that what it matches can be told.
const (
	maxWords = 64
	maxField = 4096
)

// problem returns what is wrong with a rule, or "".
func (r *Rule) problem() string {
	limits := r.Effect == tools.Allow
	all := append([]string{r.Tool, r.Path, r.Host, r.Scope, r.Fingerprint, r.Why, r.By, r.ID}, r.Args...)
	long := func(s string) bool { return len(s) > maxField || !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 }
	_, badTool := path.Match(r.Tool, "")
	_, badPath := path.Match(r.Path, "")
	host := strings.TrimPrefix(r.Host, "*.")
	switch {
	case r.Effect > tools.Deny:
		return fmt.Sprintf("the effect is %d; give allow, ask or deny", r.Effect)
	case len(r.Args) > maxWords || slices.ContainsFunc(all, long):
		return fmt.Sprintf("a field isn't valid UTF-8, has a NUL or more than %d bytes, or there are more than %d args",
			maxField, maxWords)
	case r.Tool == "" || badTool != nil:
		return fmt.Sprintf(`the tool is %q; give its name, or a pattern such as "file.*"`, r.Tool)
	case len(r.Args) > 0 && r.Args[0] == "":
		return "the first of args is empty; give the program"
	case r.Path != "" && (badPath != nil && !r.Exact || path.IsAbs(r.Path) || path.Clean(r.Path) != r.Path ||
		r.Path == ".." || strings.HasPrefix(r.Path, "../") || strings.Contains(r.Path, `\`)):
		return fmt.Sprintf(`the path is %q; give one below the project's directory, such as "docs/*.md" or "secrets/**"`,
			r.Path)
	case r.Host != "" && hostOf("https://"+bracketed(host)) != host:
		return fmt.Sprintf(`the host is %q; give a name in lower case and ASCII, such as "example.com" or "*.example.com"`,
			r.Host)
	case !limits && (r.Exact || r.Scope != "" || r.Fingerprint != ""):
		return "exact, scope and fingerprint are for rules that allow"
	case r.Exact && len(r.Args) == 0 && r.Path == "":
		return "it is exact and has no args and no path"
	}
	return ""
}

// same reports whether two rules say the same, whoever made them and when.
func (r Rule) same(o Rule) bool {
	return r.Effect == o.Effect && r.Tool == o.Tool && slices.Equal(r.Args, o.Args) && r.Path == o.Path &&
		r.Host == o.Host && r.Exact == o.Exact && r.Scope == o.Scope && r.Fingerprint == o.Fingerprint && r.ID == o.ID
}
