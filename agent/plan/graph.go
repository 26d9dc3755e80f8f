package plan

import (
	"fmt"
	"slices"
	"strings"
)

// dependencies returns the ids of the nodes that n depends on: those in After, and those that its
// input refers to, each once.
func (n *Node) dependencies() []string {
	ids := slices.Clone(n.After)
	refs, _ := references(n.Input)
	for i := range refs {
		ids = append(ids, refs[i].node)
	}
	out := ids[:0]
	for _, id := range ids {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// A graph has the dependencies of a plan's nodes as indexes.
type graph struct {
	before [][]int // what each node depends on
	layers [][]int
}

// graphOf returns the graph of a plan, or what is wrong with it.
func graphOf(nodes []Node) (*graph, []Fault) {
	var faults []Fault
	index := make(map[string]int, len(nodes))
	for i := range nodes {
		id := nodes[i].ID
		if _, twice := index[id]; twice {
			faults = append(faults, Fault{Node: id, Problem: "the id is used twice"})
			continue
		}
		index[id] = i
	}
	g := &graph{before: make([][]int, len(nodes))}
	for i := range nodes {
		for _, id := range nodes[i].dependencies() {
			switch at, ok := index[id]; {
			case !ok:
				faults = append(faults,
					Fault{Node: nodes[i].ID, Problem: fmt.Sprintf("it depends on %q, which the plan doesn't have", id)})
			case at == i:
				faults = append(faults, Fault{Node: id, Problem: "it depends on itself"})
			default:
				g.before[i] = append(g.before[i], at)
			}
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	if open := g.layer(); len(open) > 0 {
		var ids []string
		for _, i := range open {
			ids = append(ids, nodes[i].ID)
		}
		return nil, []Fault{{Problem: "these nodes depend on each other, or on such nodes: " + strings.Join(ids, ", ")}}
	}
	return g, nil
}

// layer sorts the nodes into layers, and returns those that have none: the nodes of cycles, and
// those that depend on them.
func (g *graph) layer() (open []int) {
	placed := make([]bool, len(g.before))
	for i := range placed {
		open = append(open, i)
	}
	for {
		var layer, rest []int
		for _, i := range open {
			if slices.ContainsFunc(g.before[i], func(at int) bool { return !placed[at] }) {
				rest = append(rest, i)
			} else {
				layer = append(layer, i)
			}
		}
		if len(layer) == 0 {
			return open
		}
		for _, i := range layer {
			placed[i] = true
		}
		g.layers, open = append(g.layers, layer), rest
	}
}

// Layers returns the ids of the nodes in layers: a node is in the first layer after those of all
// nodes that it depends on, so that the nodes of a layer can run at the same time. The error is a
// *[CheckError] if the plan has cycles, unknown or duplicate ids.
func (p *Plan) Layers() ([][]string, error) {
	if p == nil {
		return nil, errNil
	}
	g, faults := graphOf(p.Nodes)
	if len(faults) > 0 {
		return nil, &CheckError{Plan: p.ID, Faults: faults}
	}
	layers := make([][]string, len(g.layers))
	for i, layer := range g.layers {
		for _, at := range layer {
			layers[i] = append(layers[i], p.Nodes[at].ID)
		}
	}
	return layers, nil
}
