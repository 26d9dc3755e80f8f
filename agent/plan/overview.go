package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/tools"
)

// EventKind is the kind of the events ([agent.Emit], [agent.Show]) with which plan.submit and
// plan.change report how far their plan is. The value is an [Overview].
const EventKind = "plan"

// An Overview is what a page shows of a run of plans: the current plan and the state of each step.
type Overview struct {
	Run     string         `json:"run,omitempty"` // empty before it runs
	Title   string         `json:"title"`
	Why     string         `json:"why,omitempty"`
	Version int            `json:"version"`
	Status  string         `json:"status"` // "proposed", or a [Status]
	Reason  string         `json:"reason,omitempty"`
	Done    int            `json:"done"` // steps; not those that were skipped
	Steps   []OverviewStep `json:"steps"`
	Failed  []OverviewFail `json:"failed,omitempty"` // the plans of the run that have failed, in order
}

// An OverviewFail is a plan that has failed in an [Overview].
type OverviewFail struct {
	Title  string `json:"title"`
	Reason string `json:"reason"`
}

// An OverviewStep is a node in an [Overview].
type OverviewStep struct {
	ID     string     `json:"id"`
	Work   string     `json:"work"`            // the tool, or the beginning of the task
	Title  string     `json:"title,omitempty"` // what the tool is called for, in words: see [tools.TitleOf]
	Status NodeStatus `json:"status"`
	Text   string     `json:"text,omitempty"` // why it failed, or which one it was skipped because of
}

// Overview returns what a page shows of the run. Long texts are cut.
func (s *State) Overview() Overview {
	p := s.Plan()
	if p == nil {
		return Overview{Run: s.Run}
	}
	o := p.overview()
	o.Run, o.Status, o.Reason = s.Run, string(s.Status), cut.Line(line(s.Reason), 500)
	for i := range s.Failures {
		title, why := s.plans[i].Plan.Title, s.Failures[i].Reason
		o.Failed = append(o.Failed, OverviewFail{cut.Line(line(title), 200), cut.Line(line(why), 500)})
	}
	for i := range s.Nodes {
		n, step := &s.Nodes[i], &o.Steps[i]
		step.Status = n.Status
		if n.Status.succeeded() {
			o.Done++
		}
		switch n.Status {
		case NodeFailed:
			step.Text = cut.Line(line(n.Error), 120)
		case NodeSkipped:
			step.Text = n.Because
		}
	}
	return o
}

// overview returns what a page shows of a plan that doesn't run yet.
func (p *Plan) overview() Overview {
	o := Overview{Title: cut.Line(line(p.Title), 200), Why: cut.Line(line(p.Why), 500), Version: max(p.Version, 1),
		Status: "proposed", Steps: make([]OverviewStep, len(p.Nodes))}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		what := n.Tool
		if what == "" {
			what = n.Worker + ": " + line(n.Prompt)
		}
		o.Steps[i] = OverviewStep{ID: n.ID, Work: cut.Line(what, 80), Title: n.title(), Status: NodePending}
	}
	return o
}

// title says what the tool of a node is called for; empty for a worker. It names all of the input,
// as far as there is room, and has its short values. The input is a map, which doesn't say what
// comes first in the tool's schema: a path does, and the words of a command.
func (n *Node) title() string {
	if n.Tool == "" {
		return ""
	}
	rest := maps.Clone(n.Input)
	var first map[string]any
	if words := n.command(); words != "" {
		first = map[string]any{"command": words}
		for _, key := range []string{"program", "command", "args"} {
			delete(rest, key)
		}
	} else if key := n.subject(); key != "" {
		first = map[string]any{key: n.Input[key]}
		delete(rest, key)
	}
	input, _ := json.Marshal(first) // it was read from JSON
	title, parts := tools.TitleOf(n.Tool, input), []string{}
	for _, key := range slices.Sorted(maps.Keys(rest)) {
		part := key
		switch value := rest[key].(type) {
		case string:
			if len(value) <= 60 && !strings.Contains(value, "\n") {
				part += ": " + value
			}
		case map[string]any:
			if ref, ok, _ := referenceOf(value); ok {
				part += ": from step " + ref.node
			}
		case []any:
		default:
			part += fmt.Sprintf(": %v", value)
		}
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		title += " (" + strings.Join(parts, ", ") + ")"
	}
	return tools.CleanTitle(title)
}

// subject returns the key of what the input of a node is about; "" if it isn't known. A text that
// is alone is it.
func (n *Node) subject() string {
	for _, key := range []string{"path", "file", "url", "slug", "name", "title", "id"} {
		if text, ok := n.Input[key].(string); ok && text != "" {
			return key
		}
	}
	for key, value := range n.Input {
		if text, ok := value.(string); ok && text != "" && len(n.Input) == 1 {
			return key
		}
	}
	return ""
}

// command returns the words of the command that the input of a node has; "" if it has none.
func (n *Node) command() string {
	args, ok := n.Input["args"].([]any)
	if !ok {
		return ""
	}
	var words []string
	for _, key := range []string{"program", "command"} {
		if word, ok := n.Input[key].(string); ok {
			words = append(words, word)
		}
	}
	for _, arg := range args {
		word, ok := arg.(string)
		if !ok {
			return "" // an output of another node
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// Submitted returns what a page shows of the plan in a call of plan.submit or plan.change that
// waits for approval. The result is false if the call is of another tool, or its input isn't a
// plan.
func Submitted(tool string, input json.RawMessage) (Overview, bool) {
	var in draft
	if tool != ToolSubmit && tool != toolChange || json.Unmarshal(input, &in) != nil || len(in.Nodes) == 0 {
		return Overview{}, false
	}
	p, _ := in.plan("") // the inputs aren't shown
	return p.overview(), true
}
