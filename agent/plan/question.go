package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// toolName is the name under which lists of approvals show what a run of plans waits for.
const toolName = "plan"

// A choice is something that a person can decide.
type choice struct {
	Kind  DecisionKind
	Means string
}

var (
	planChoices = []choice{{DecideApprove, "run this version"}, {DecideReject, "undo what is done, and end it"}}
	nodeChoices = []choice{
		{DecideRetry, "try it again"}, {DecideSkip, "leave it out, with all that depends on it"},
		{DecideWaive, "go on as if it were done"},
		{DecideGiveUp, "undo this plan, and try the next one if there is any"},
	}
	reviewChoices = []choice{
		{DecideGrant, "let it be done once more"}, {DecideWaive, "accept the result as it is"},
		{DecideSkip, "leave it out, with all that depends on it"},
		{DecideGiveUp, "undo this plan, and try the next one if there is any"},
	}
)

// choices returns what can be decided about a plan or a node.
func (p *Pause) choices() []choice {
	switch p.Kind {
	case PausePlan:
		return planChoices
	case PauseNode:
		return nodeChoices
	case PauseReview:
		return reviewChoices
	}
	return nil
}

// decision returns what a choice decides.
func (p *Pause) decision(kind DecisionKind, reason string) Decision {
	d := Decision{Kind: kind, Node: p.Node, Text: reason}
	switch kind {
	case DecideGrant:
		d.Rounds = 1
	case DecideApprove, DecideReject:
		d.Hash = p.Hash
	case DecideGiveUp:
		d.Node = ""
	}
	return d
}

// Questions returns the decisions that a run waits for in the form in which agents ask: for
// programs that show the pauses of agents, such as agent/approvals. A plan that needs approval is a
// pause of the kind "approval", whose call has the plan as its input. A node that has failed for
// good or used up its rounds is a pause of the kind "question", whose schema lists what can be
// decided. The calls of nodes aren't among them, since they are pauses of the sessions of these
// nodes.
func (r *Runner) Questions(ctx context.Context, name string) ([]agent.Pause, error) {
	s, err := r.State(ctx, name)
	if err != nil {
		return nil, err
	}
	var out []agent.Pause
	for _, p := range s.pending() {
		q, err := s.question(&p)
		if err != nil {
			return nil, err
		}
		out = append(out, q)
	}
	return out, nil
}

// question returns a pause in the form in which agents ask.
func (s *State) question(p *Pause) (agent.Pause, error) {
	q := agent.Pause{ID: p.ID, Kind: agent.PauseApproval, Title: p.Title,
		Call: provider.ToolCall{ID: p.ID, Name: toolName}, Reason: summary(s.Plan())}
	var shown any = s.Plan()
	if p.Kind != PausePlan {
		n, _ := s.Node(p.Node)
		shown, q.Kind, q.Reason = n.Node, "question", s.askAbout(p, n)
		q.Schema = schemaOf(p.choices())
	}
	input, err := json.Marshal(shown)
	q.Call.Input = input
	return q, err
}

// askAbout returns what a person is asked about a node.
func (s *State) askAbout(p *Pause, n *NodeState) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The step %q of the plan %q ", p.Node, line(s.Plan().Title))
	if p.Kind == PauseNode {
		fmt.Fprintf(&b, "has failed: %s", cut(line(n.Error), 1<<10))
	} else {
		fmt.Fprintf(&b, "was done %s, and its result isn't good enough:", times(n.Round))
		for _, v := range n.Verdicts {
			if !v.Passed {
				fmt.Fprintf(&b, " %s: %s;", v.Check, cut(line(v.Feedback), 512))
			}
		}
	}
	return strings.TrimRight(b.String(), " ;.:") + "."
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// schemaOf returns the schema of an answer that chooses.
func schemaOf(choices []choice) json.RawMessage {
	var kinds, means []string
	for _, c := range choices {
		kinds = append(kinds, string(c.Kind))
		means = append(means, fmt.Sprintf("%s: %s", c.Kind, c.Means))
	}
	return objectSchema(map[string]any{
		"decision": map[string]any{"type": "string", "enum": kinds, "description": strings.Join(means, "; ")},
		"reason":   map[string]any{"type": "string"},
	}, "decision")
}

// objectSchema returns the schema of an object.
func objectSchema(properties map[string]any, required ...string) json.RawMessage {
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required,
		"additionalProperties": false})
	if err != nil {
		return nil // these are maps of strings and schemas
	}
	return raw
}

// An answer is the answer to a question.
type answer struct {
	Decision DecisionKind    `json:"decision"`
	Reason   string          `json:"reason"`
	Input    json.RawMessage `json:"input"`  // for a call whose input is corrected
	Answer   json.RawMessage `json:"answer"` // to the question of a tool
}

// Answer takes a decision on one of the [Runner.Questions]. A plan is approved, rejected, or sent
// back with a suggestion. A question about a node is answered with what its schema says, or
// rejected, which gives the plan up. Otherwise Answer is like [Runner.Decide]; a question that
// isn't open is a *[DecisionError], too.
func (r *Runner) Answer(ctx context.Context, name string, d agent.Decision) error {
	s, err := r.State(ctx, name)
	if err != nil {
		return err
	}
	for _, p := range s.pending() {
		if p.ID != d.ID {
			continue
		}
		own, err := p.answered(&d)
		if err != nil {
			return &DecisionError{Run: name, Decision: Decision{Kind: DecisionKind(d.Kind), Node: p.Node},
				Problem: err.Error()}
		}
		return r.Decide(ctx, name, own.By(d.User))
	}
	return &DecisionError{Run: name, Decision: Decision{Kind: DecisionKind(d.Kind)},
		Problem: "nothing with this id is open", Unknown: true}
}

// answered returns the decision that an answer to a question about a plan or a node stands for.
func (p *Pause) answered(d *agent.Decision) (Decision, error) {
	if err := d.Err(); err != nil {
		return Decision{}, err
	}
	if p.Kind == PausePlan {
		switch d.Kind {
		case machine.Approved:
			return Approve(p.Hash), nil
		case machine.Rejected:
			return Reject(p.Hash, d.Reason), nil
		case machine.Suggested:
			return Suggest(p.Hash, d.Reason), nil
		}
		return Decision{}, errors.New("a plan can be approved, rejected, or sent back with a suggestion")
	}
	switch d.Kind {
	case machine.Rejected, machine.Suggested:
		return GiveUp(d.Reason), nil
	case machine.AnswerGiven:
		var a answer
		if err := json.Unmarshal(d.Value, &a); err != nil {
			return Decision{}, fmt.Errorf(`the answer has to be an object with "decision": %w`, err)
		}
		for _, c := range p.choices() {
			if c.Kind == a.Decision {
				return p.decision(c.Kind, a.Reason), nil
			}
		}
		return Decision{}, fmt.Errorf("%q isn't one of the choices: %s", a.Decision, schemaOf(p.choices()))
	}
	return Decision{}, errors.New("a question about a step can be answered or rejected")
}
