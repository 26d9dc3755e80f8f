package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// toolName is the name of the tool of pauses that are about a plan or a node.
const toolName = "plan"

var (
	nodeChoices   = []choice{retry, skip, waive, giveUp}
	reviewChoices = []choice{grant, waive, skip, giveUp}
)

var means = map[choice]string{
	retry: "try it again", skip: "leave it out, with all that depends on it",
	waive: "go on as if it were done", grant: "let it be done once more, or as often as rounds says",
	giveUp:   "undo this plan, and try the next one if there is any",
	sendBack: "tell the model, which may propose changes",
}

// questions returns what a run waits for, without the calls of its nodes.
func (s *State) questions() (out []agent.Pause) {
	if s.Status == AtApproval {
		return []agent.Pause{s.question(s.approvalID(s.hash), nil)}
	}
	if s.Status != Running {
		return nil
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Status == NodeAsking || s.asks(*n) {
			id := fmt.Sprintf("node %d %s %d", s.Current, n.Node.ID, n.Attempts)
			if s.timesBack > 0 { // it was decided, and is asked again
				id += fmt.Sprintf(" %d", s.timesBack)
			}
			out = append(out, s.question(id, n))
		}
	}
	return out
}

// expired returns the decision that follows from a question that has expired; nil if none has.
func (s *State) expired(now time.Time) *decided {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if s.Status == Running && s.asks(*n) && !n.expires.IsZero() && !now.Before(n.expires) {
			return &decided{Choice: expire, Plan: s.Current, Node: n.Node.ID, Keep: true}
		}
	}
	return nil
}

// approvalID returns the id of the pause for the approval of the current plan with a hash. Other
// plans of the run may have the same hash, and nodes with the same ids, and a journal takes each id
// once.
func (s *State) approvalID(hash string) string { return fmt.Sprintf("plan %d %s", s.Current, hash) }

// titleOf returns the title of the pause in which a plan waits for approval.
func titleOf(plan string) string {
	return tools.CleanTitle(fmt.Sprintf("Carry out the plan “%s”", plan))
}

// question returns the pause about the current plan, or about a node of it.
func (s *State) question(id string, n *NodeState) agent.Pause {
	q := agent.Pause{ID: id, Kind: agent.PauseApproval, Title: titleOf(s.Plan().Title),
		Call: provider.ToolCall{ID: id, Name: toolName}, Reason: summary(s.Plan())}
	var shown any = s.Plan()
	if n != nil {
		q.Kind, q.Reason, shown, q.Path = "question", s.askAbout(n), n.Node, []string{n.Node.ID}
		q.Schema, q.Expires = schemaOf(s.choices(n)), n.expires
		q.Title = tools.CleanTitle(fmt.Sprintf("Step “%s” has failed: %s", n.Node.ID, n.Error))
		if n.Status == NodeAsking {
			q.Title = tools.CleanTitle(fmt.Sprintf("Step “%s” has used up the rounds of its review", n.Node.ID))
		}
	}
	q.Call.Input, _ = json.Marshal(shown) // it was read from JSON
	return q
}

// askAbout returns what a person is asked about a node.
func (s *State) askAbout(n *NodeState) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The step %q of the plan %q ", n.Node.ID, line(s.Plan().Title))
	if n.Status == NodeFailed {
		fmt.Fprintf(&b, "has failed: %s", cut.Line(line(n.Error), 1<<10))
		if n.mendable() {
			return strings.TrimRight(b.String(), " ;.:") + ". What is done stays. Try it again when the limit is raised, " +
				"or what is missing is there."
		}
	} else {
		fmt.Fprintf(&b, "was done %s, and its result isn't good enough:", count(n.Round, "time"))
		for _, v := range n.Verdicts {
			if !v.Passed {
				fmt.Fprintf(&b, " %s: %s;", v.Check, cut.Line(line(v.Feedback), 512))
			}
		}
	}
	return strings.TrimRight(b.String(), " ;.:") + "."
}

// choices returns what can be decided about a node.
func (s *State) choices(n *NodeState) []choice {
	choices := nodeChoices
	if n.Status == NodeAsking {
		choices = reviewChoices
	}
	if s.parent != "" {
		choices = append(slices.Clone(choices), sendBack)
	}
	return choices
}

// schemaOf returns the schema of an answer that chooses.
func schemaOf(choices []choice) json.RawMessage {
	explained := make([]string, len(choices))
	properties := map[string]any{"reason": map[string]any{"type": "string"}}
	for i, c := range choices {
		explained[i] = fmt.Sprintf("%s: %s", c, means[c])
		if c == grant {
			properties["rounds"] = map[string]any{"type": "integer", "minimum": 1, "maximum": maxRounds}
			properties["check"] = map[string]any{"type": "string",
				"description": "for waive: the check that doesn't count; without it, the result is accepted as it is"}
		}
	}
	properties["decision"] = map[string]any{"type": "string", "enum": choices,
		"description": strings.Join(explained, "; ")}
	raw, _ := json.Marshal(map[string]any{"type": "object", "properties": properties,
		"required": []string{"decision"}, "additionalProperties": false}) // these are maps of strings
	return raw
}

// inNode returns pauses of a node's session as those of the run.
func inNode(node string, pauses []agent.Pause) []agent.Pause {
	out := make([]agent.Pause, len(pauses))
	for i, p := range pauses {
		p.Path = append([]string{node}, p.Path...)
		out[i] = p
	}
	return out
}

// Pending returns what a run waits for. Decide on it with [Runner.Decide]. It is
//
//   - a plan that needs approval: a pause of the kind [agent.PauseApproval] whose call has the plan
//     as its input, and whose Preview is what its calls would change now;
//   - a node that has failed for good (see [Config]) or has used up the rounds of its review: a
//     pause of the kind "question" whose schema says what can be decided;
//   - a call of a node, as it is in an agent's session.
//
// Of the last two, [agent.Pause].Path begins with the ID of the node. A pause that was decided is
// in the list until the run goes on, which is at once where it is driven; a second decision on it
// is refused.
func (r *Runner) Pending(ctx context.Context, run string) ([]agent.Pause, error) {
	s, err := r.State(ctx, run)
	if err != nil {
		return nil, err
	}
	return r.pending(ctx, s)
}

func (r *Runner) pending(ctx context.Context, s *State) ([]agent.Pause, error) {
	all := s.questions()
	if s.Status == AtApproval {
		all[0].Preview = r.previewOf(ctx, s.Plan())
	}
	for _, i := range s.with(NodeRunning) {
		n := &s.Nodes[i].Node
		a := r.agentOf(n.Worker)
		if a == nil || s.ending != nil {
			continue
		}
		calls, err := a.Session(SessionOf(s.Run, s.Current, n.ID)).Pending(ctx)
		if err != nil && !errors.Is(err, agent.ErrNothingOpen) {
			return nil, err
		}
		all = append(all, inNode(n.ID, calls)...)
	}
	return all, nil
}

// An answer is the answer to a question about a node.
type answer struct {
	Decision choice `json:"decision"`
	Reason   string `json:"reason"`
	Check    string `json:"check"`
	Rounds   int    `json:"rounds"`
}

// decision returns what an agent's decision on a plan or a node decides.
func (s *State) decision(p *agent.Pause, d *agent.Decision) (*decided, error) {
	out := &decided{Meta: Meta{By: d.User}, Plan: s.Current, Text: d.Reason}
	if err := d.Err(); err != nil {
		return nil, err
	}
	if p.Kind == agent.PauseApproval {
		out.Hash = s.hash
		out.Choice = map[machine.DecisionKind]choice{machine.Approved: approve, machine.Rejected: reject,
			machine.Suggested: suggest}[d.Kind]
		if out.Choice == "" {
			return nil, errors.New("a plan can be approved, rejected, or sent back with a suggestion")
		}
		return out, nil
	}
	out.Node = p.Path[0]
	switch {
	case d.Kind == machine.Suggested && s.parent != "":
		out.Choice, out.Node = sendBack, ""
		return out, nil
	case d.Kind == machine.Rejected, d.Kind == machine.Suggested:
		out.Choice, out.Node = giveUp, ""
		return out, nil
	case d.Kind != machine.AnswerGiven:
		return nil, errors.New("a question about a step can be answered or rejected")
	}
	var a answer
	if err := json.Unmarshal(d.Value, &a); err != nil {
		return nil, fmt.Errorf(`the answer has to be an object with "decision": %w`, err)
	}
	n, _ := s.Node(out.Node)
	if !slices.Contains(s.choices(n), a.Decision) {
		return nil, fmt.Errorf("%q isn't one of the choices: %s", a.Decision, p.Schema)
	}
	out.Choice, out.Text, out.Check, out.Rounds = a.Decision, a.Reason, a.Check, max(a.Rounds, 1)
	if out.Choice == giveUp || out.Choice == sendBack {
		out.Node = ""
	}
	return out, nil
}
