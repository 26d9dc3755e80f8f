package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/tools"
)

// The limits of a plan.
const (
	maxNodes  = 200     // nodes of a plan
	maxPlan   = 1 << 20 // bytes of its JSON
	maxID     = 64
	maxText   = 64 << 10 // bytes of a title, a reason or a prompt
	maxRounds = 20
	maxTries  = 20
)

// A CheckError names everything that is wrong with a plan. Its class is invalid.
type CheckError struct {
	Plan   string // the plan's ID
	Faults []Fault
}

// A Fault is one thing that is wrong with a plan.
type Fault struct {
	Node    string `json:"node,omitempty"` // empty: the plan as a whole
	Problem string `json:"problem"`
}

func (f *Fault) text() string {
	if f.Node == "" {
		return f.Problem
	}
	return fmt.Sprintf("node %q: %s", f.Node, f.Problem)
}

// Error lists the faults, one per line.
func (e *CheckError) Error() string {
	text := "plan: the plan"
	if e.Plan != "" {
		text += fmt.Sprintf(" %q", e.Plan)
	}
	if len(e.Faults) == 1 {
		return text + " can't run: " + e.Faults[0].text()
	}
	lines := make([]string, len(e.Faults))
	for i := range e.Faults {
		lines[i] = "\n- " + e.Faults[i].text()
	}
	return text + " can't run:" + strings.Join(lines, "")
}

// Fault returns invalid.
func (e *CheckError) Fault() fault.Class { return fault.Invalid }

// Check returns nil if the plan can run with the tools, or a *[CheckError] with everything that is
// wrong: ids that are missing, used twice or unknown, cycles, unknown tools and workers, inputs
// that don't fit the tools' schemas, and limits. What stands behind a reference is known only when
// the plan runs, so an input is checked again then. Without names of workers, those of the nodes
// aren't checked.
func (p *Plan) Check(registry *tools.Registry, workers ...string) error {
	if p == nil {
		return errNil
	}
	c := checker{plan: p, registry: registry, workers: workers}
	return c.err()
}

// errNil is what is wrong with a plan that is nil.
var errNil error = &CheckError{Faults: []Fault{{Problem: "it is nil"}}}

type checker struct {
	plan     *Plan
	registry *tools.Registry
	workers  []string
	checks   []string
	strict   bool // names of workers and checks have to be known
	faults   []Fault
}

func (c *checker) add(node, format string, args ...any) {
	c.faults = append(c.faults, Fault{Node: node, Problem: fmt.Sprintf(format, args...)})
}

// err returns what is wrong with the plan.
func (c *checker) err() error {
	id := c.plan.ID
	if c.all(); len(c.faults) > 0 {
		return &CheckError{Plan: id, Faults: c.faults}
	}
	return nil
}

func (c *checker) all() {
	p := c.plan
	text, err := json.Marshal(p)
	switch {
	case err != nil:
		c.add("", "it can't be encoded as JSON: %v", err)
		return
	case len(p.Nodes) == 0:
		c.add("", "it has no nodes")
		return
	case len(p.Nodes) > maxNodes:
		c.add("", "it has %d nodes; at most %d are permitted", len(p.Nodes), maxNodes)
		return
	case len(text) > maxPlan:
		c.add("", "its JSON takes %d bytes; at most %d are permitted", len(text), maxPlan)
		return
	}
	if strings.TrimSpace(p.Title) == "" {
		c.add("", "it has no title")
	}
	if len(p.Title) > maxText || len(p.Why) > maxText {
		c.add("", "its title or its reason is longer than %d bytes", maxText)
	}
	if p.Version < 0 {
		c.add("", "its version is below 0")
	}
	q, err := p.copied() // as a journal returns it: numbers, slices and maps of the types that JSON has
	if err != nil {
		c.add("", "its JSON can't be read back: %v", err)
		return
	}
	c.plan = q
	for i := range q.Nodes {
		c.node(&q.Nodes[i])
	}
	_, faults := graphOf(q.Nodes)
	c.faults = append(c.faults, faults...)
}

func (c *checker) node(n *Node) {
	if !validID(n.ID) {
		c.add(n.ID, "its id isn't 1 to %d letters, digits, '-' and '_'", maxID)
	}
	switch {
	case n.Tool == "" && n.Worker == "":
		c.add(n.ID, "it has neither a tool nor a worker")
	case n.Tool != "" && n.Worker != "":
		c.add(n.ID, "it has a tool and a worker; it can have one of them")
	case n.Tool != "":
		c.tool(n)
	default:
		c.worker(n)
	}
	if r := n.retry(); r.Max < 0 || r.Max > maxTries || r.Wait < 0 {
		c.add(n.ID, "its retry isn't 0 to %d tries with a wait of 0 or more", maxTries)
	}
	if n.Timeout < 0 {
		c.add(n.ID, "its timeout is below 0")
	}
	if n.Review != nil {
		if len(n.Review.Checks) == 0 {
			c.add(n.ID, "its review has no checks")
		}
		if n.Review.Rounds < 0 || n.Review.Rounds > maxRounds {
			c.add(n.ID, "its review isn't limited to 1 to %d rounds", maxRounds)
		}
		for i, name := range n.Review.Checks {
			if slices.Contains(n.Review.Checks[:i], name) {
				c.add(n.ID, "its review has the check %q twice", name)
			}
			if c.strict && !slices.Contains(c.checks, name) {
				c.add(n.ID, "there is no check %q%s", name, didYouMean(name, c.checks))
			}
		}
	}
}

func validID(id string) bool {
	if id == "" || len(id) > maxID {
		return false
	}
	for _, r := range id {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && r != '-' && r != '_' {
			return false
		}
	}
	return true
}

func (c *checker) worker(n *Node) {
	if strings.TrimSpace(n.Prompt) == "" {
		c.add(n.ID, "it has a worker and no prompt")
	}
	if len(n.Prompt) > maxText {
		c.add(n.ID, "its prompt is longer than %d bytes", maxText)
	}
	if len(n.Input) > 0 {
		c.add(n.ID,
			"it has an input, which is for tools; a worker gets its prompt and the outputs of the nodes in after")
	}
	if (c.strict || len(c.workers) > 0) && !slices.Contains(c.workers, n.Worker) {
		c.add(n.ID, "there is no worker %q%s", n.Worker, didYouMean(n.Worker, c.workers))
	}
}

func (c *checker) tool(n *Node) {
	if n.Prompt != "" {
		c.add(n.ID, "it has a prompt, which is for workers")
	}
	if c.registry == nil {
		c.add(n.ID, "there are no tools")
		return
	}
	d, ok := c.registry.Lookup(n.Tool)
	if !ok {
		c.add(n.ID, "there is no tool %q%s", n.Tool, didYouMean(n.Tool, c.registry.Names()))
		return
	}
	var refs [][]string // where parts of outputs go
	input, wrong := replace(n.Input, func(r *reference) (any, error) {
		refs = append(refs, r.at)
		return nil, nil
	})
	for _, err := range wrong {
		c.add(n.ID, "%v", err)
	}
	if len(wrong) > 0 {
		return
	}
	text, err := json.Marshal(input)
	if err == nil {
		_, err = d.Accept(text)
	}
	if invalid, ok := errors.AsType[*schema.InvalidError](err); ok {
		// A condition on the whole input may depend on what the references stand for.
		open := len(refs) > 0 && hasCondition(d.Tool().Schema)
		for _, p := range invalid.Problems {
			if !unknown(p.Path, refs) && !(open && p.Path == "") {
				c.add(n.ID, "its input: %s", p)
			}
		}
	} else if err != nil {
		c.add(n.ID, "its input: %v", err)
	}
}

// unknown reports whether a problem of an input is about a value that is known only when the plan
// runs, or about one below the input that contains it, whose schema may be a choice.
func unknown(path string, refs [][]string) bool {
	keys := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	return slices.ContainsFunc(refs, func(at []string) bool {
		n := min(len(keys), len(at))
		return n > 0 && slices.Equal(keys[:n], at[:n])
	})
}

// hasCondition reports whether a schema has a condition on the whole value: if, allOf or not.
func hasCondition(text json.RawMessage) bool {
	var root map[string]json.RawMessage
	_ = json.Unmarshal(text, &root) // the tool was made with it
	return slices.ContainsFunc([]string{"if", "allOf", "not"}, func(key string) bool { return root[key] != nil })
}

func didYouMean(word string, known []string) string {
	if near, ok := schema.Nearest(word, known); ok {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
