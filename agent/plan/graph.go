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
	after  [][]int // what depends on it
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
	g := &graph{before: make([][]int, len(nodes)), after: make([][]int, len(nodes))}
	for i := range nodes {
		for _, id := range nodes[i].dependencies() {
			switch at, ok := index[id]; {
			case !ok:
				faults = append(faults,
					Fault{Node: nodes[i].ID, Problem: fmt.Sprintf("it depends on %q, which the plan doesn't have", id)})
			case at == i:
				faults = append(faults, Fault{Node: id, Problem: "it depends on itself"})
			default:
				g.before[i], g.after[at] = append(g.before[i], at), append(g.after[at], i)
			}
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	g.layer()
	if placed := slices.Concat(g.layers...); len(placed) < len(nodes) {
		var ids []string
		for i := range nodes {
			if !slices.Contains(placed, i) {
				ids = append(ids, nodes[i].ID)
			}
		}
		return nil, []Fault{{Problem: "these nodes depend on each other, or on such nodes: " + strings.Join(ids, ", ")}}
	}
	return g, nil
}

// layer sorts the nodes into layers, by Kahn's algorithm. The nodes of a cycle have none.
func (g *graph) layer() {
	open := make([]int, len(g.before))
	var layer []int
	for i := range g.before {
		if open[i] = len(g.before[i]); open[i] == 0 {
			layer = append(layer, i)
		}
	}
	for len(layer) > 0 {
		g.layers = append(g.layers, layer)
		var next []int
		for _, i := range layer {
			for _, j := range g.after[i] {
				if open[j]--; open[j] == 0 {
					next = append(next, j)
				}
			}
		}
		slices.Sort(next)
		layer = next
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
