package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// The limits of [Propose].
const (
	maxPlans   = 10
	maxRepairs = 2
)

// proposals is what a model is asked for.
type proposals struct {
	Plans []draft `json:"plans"`
}

type draft struct {
	Title string      `json:"title" jsonschema:"what the plan does, in a few words"`
	Why   string      `json:"why,omitempty" jsonschema:"why it is a good way, and what can go wrong"`
	Nodes []draftNode `json:"nodes"`
}

type draftNode struct {
	ID     string   `json:"id" jsonschema:"letters, digits, - and _"`
	After  []string `json:"after,omitempty" jsonschema:"ids of the nodes that have to be done before"`
	Tool   string   `json:"tool,omitempty" jsonschema:"the tool to call; empty for a worker"`
	Input  string   `json:"input,omitempty" jsonschema:"the input of the tool, as the text of a JSON object"`
	Worker string   `json:"worker,omitempty" jsonschema:"the worker; empty for a tool"`
	Prompt string   `json:"prompt,omitempty" jsonschema:"the task of the worker"`
	Checks []string `json:"checks,omitempty" jsonschema:"the checks that judge the result before the next nodes start"`
	Rounds int      `json:"rounds,omitempty" jsonschema:"how often it is done at most until the checks pass; 0: 3"`
}

// Propose asks the model of an agent for n different plans for a goal, from 1 to 10. The model sees
// the agent's tools and calls none of them. It answers with JSON in which the input of a node is
// the text of a JSON object, so a script in a test says, for example:
//
//	{"plans": [{"title": "Publish", "nodes": [
//		{"id": "create", "tool": "create", "input": "{\"slug\": \"about\"}"},
//		{"id": "publish", "tool": "publish", "input": "{\"slug\": {\"$from\": \"create.slug\"}}"}]}]}
//
// Plans that can't run ([Plan.Check]), or are the same,
// are sent back with what is wrong, at most twice; then the error, of class permanent, says it. The
// plans have the IDs plan-1, plan-2 and so on, in the order of the model: see [Rank]. workers are
// the names that nodes may use.
func Propose(ctx context.Context, a *agent.Agent, goal string, n int, workers ...string) ([]*Plan, error) {
	if a == nil || a.Tools() == nil {
		return nil, errNoAgent("plan.Propose")
	}
	if n < 1 || n > maxPlans {
		return nil, fault.Errorf(fault.Invalid, "plan: Propose was asked for %d plans; ask for 1 to %d", n, maxPlans)
	}
	ask := proposalPrompt(a, goal, n, workers)
	prompt := ask
	for repairs := 0; ; repairs++ {
		got, _, err := agent.RunFor[proposals](ctx, a,
			agent.Input{Prompt: prompt, ToolChoice: provider.ToolChoice{Mode: provider.ChooseNone}})
		if err != nil {
			return nil, err
		}
		plans, wrong := checkProposals(&got, a, n, workers)
		if wrong == nil {
			return plans, nil
		}
		if repairs == maxRepairs {
			return nil, fault.Wrap(fault.Permanent, fmt.Errorf("plan: the model proposed no plans that can run: %w", wrong))
		}
		last, err := json.Marshal(got)
		if err != nil {
			return nil, err
		}
		prompt = fmt.Sprintf("%s\n\nYour last answer was:\n%s\n\nIt can't be used:\n%v\n\nAnswer again with all plans.",
			ask, last, wrong)
	}
}

// proposalPrompt returns what a model is asked.
func proposalPrompt(a *agent.Agent, goal string, n int, workers []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Propose %s for this goal, and carry out nothing:\n\n%s\n\n", count(n, "plan"), goal)
	if n > 1 {
		b.WriteString(
			"The plans have to take different ways, for example: use what exists, make something new, copy something " +
				"similar. Put the one that you would take first.\n\n")
	}
	b.WriteString(
		`A plan has nodes. Each calls one tool, or gives a task to one worker. A node starts when the nodes in its "after" are done. ` +
			`In the input of a tool, {"$from": "id.key"} stands for a part of what the node with that id answers.` +
			"\n\nTools:\n")
	for _, d := range a.Tools().All() {
		t := d.Tool()
		fmt.Fprintf(&b, "- %s: %s\n  input: %s\n", t.Name, line(t.Description), t.Schema)
		if out := d.Spec().Output; len(out) > 0 {
			fmt.Fprintf(&b, "  answer: %s\n", out)
		}
	}
	if len(workers) > 0 {
		fmt.Fprintf(&b, "Workers: %s\n", strings.Join(workers, ", "))
	}
	return b.String()
}

// checkProposals returns the plans of an answer, and what is wrong with them.
func checkProposals(got *proposals, a *agent.Agent, n int, workers []string) (plans []*Plan, wrong error) {
	var errs []error
	if len(got.Plans) != n {
		errs = append(errs, fmt.Errorf("%s were asked for, not %d", count(n, "plan"), len(got.Plans)))
	}
	var seen []string
	for i := range got.Plans {
		p, err := got.Plans[i].plan(fmt.Sprint("plan-", i+1))
		if err == nil {
			c := checker{plan: p, registry: a.Tools(), workers: workers, strict: true}
			err = c.err()
		}
		if err != nil {
			errs = append(errs, err)
		}
		plans = append(plans, p)
		work := Plan{Nodes: p.Nodes}
		hash := work.Hash()
		if at := slices.Index(seen, hash); err == nil && at >= 0 {
			errs = append(errs, fmt.Errorf("plan-%d and plan-%d are the same", at+1, i+1))
		}
		seen = append(seen, hash)
	}
	return plans, errors.Join(errs...)
}

// plan returns the plan that a model proposed.
func (p *draft) plan(id string) (*Plan, error) {
	out := &Plan{ID: id, Title: p.Title, Why: p.Why, Version: 1}
	var faults []Fault
	for _, n := range p.Nodes {
		node := Node{ID: n.ID, After: n.After, Tool: n.Tool, Worker: n.Worker, Prompt: n.Prompt}
		if len(n.Checks) > 0 || n.Rounds != 0 {
			node.Review = &Review{Checks: n.Checks, Rounds: n.Rounds}
		}
		if strings.TrimSpace(n.Input) != "" {
			v, err := decode(json.RawMessage(n.Input))
			if m, ok := v.(map[string]any); ok && err == nil {
				node.Input = m
			} else {
				faults = append(faults, Fault{Node: n.ID, Problem: "its input isn't the text of a JSON object"})
			}
		}
		out.Nodes = append(out.Nodes, node)
	}
	if len(faults) > 0 {
		return out, &CheckError{Plan: id, Faults: faults}
	}
	return out, nil
}
