package plan

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A Preflight checks one node of a plan against the state of the world, without changing it. It
// returns what the tool would answer, as far as that can be known, so that later nodes can refer to
// it, and what speaks against the node. To see what earlier nodes would make, it notes that itself:
// nodes come after all that they depend on, one after the other.
type Preflight func(ctx context.Context, n *Node, input map[string]any) (output any, issues []Issue, err error)

// Unknown stands in an input for what is known only when the plan runs: a part of an output that
// the [Preflight] of an earlier node didn't return. Its value is the reference, for example
// "create.id".
type Unknown string

// An Issue is what speaks against a node, and what can be done about it.
type Issue struct {
	Node       string `json:"node,omitempty"` // DryRun sets it
	Problem    string `json:"problem"`
	Suggestion string `json:"suggestion,omitempty"`
}

// DryRun checks a plan without running it: each node by check, in an order in which they could run.
// It returns what speaks against the nodes.
// The error is a *[CheckError] if the plan can't be ordered, or that of check or of ctx.
func DryRun(ctx context.Context, p *Plan, check Preflight) (issues []Issue, err error) {
	if check == nil {
		return nil, fault.Errorf(fault.Invalid, "plan: DryRun needs a Preflight")
	}
	if p == nil {
		return nil, errNil
	}
	p, err = p.copied()
	if err != nil {
		return nil, &CheckError{Faults: []Fault{{Problem: fmt.Sprintf("it can't be encoded as JSON: %v", err)}}}
	}
	g, faults := graphOf(p.Nodes)
	if len(faults) > 0 {
		return nil, &CheckError{Plan: p.ID, Faults: faults}
	}
	outputs := make(map[string]any)
	for _, layer := range g.layers {
		for _, i := range layer {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			n := &p.Nodes[i]
			input, wrong := replace(n.Input, func(r *reference) (any, error) { return part(outputs, r), nil })
			if len(wrong) > 0 {
				return nil, &CheckError{Plan: p.ID, Faults: []Fault{{Node: n.ID, Problem: wrong[0].Error()}}}
			}
			output, found, err := check(ctx, n, input)
			if err != nil {
				return nil, fmt.Errorf("plan: the preflight of node %q: %w", n.ID, err)
			}
			if output != nil {
				outputs[n.ID] = output
			}
			for _, is := range found {
				is.Node = n.ID
				issues = append(issues, is)
			}
		}
	}
	return issues, nil
}

// part returns what a reference stands for, as far as it is known: parts of outputs that are a
// map[string]any.
func part(outputs map[string]any, r *reference) any {
	var v any = outputs
	for _, key := range append([]string{r.node}, r.path...) {
		m, _ := v.(map[string]any)
		var ok bool
		if v, ok = m[key]; !ok {
			return Unknown(r.String())
		}
	}
	return v
}
