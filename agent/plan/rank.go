package plan

import (
	"cmp"
	"slices"

	"github.com/pawlkit/pawl/tools"
)

// Weights say how plans are scored. A plan begins with a score of 1, and the score is never below
// 0. Without UnknownTool, Missing, Risk and Cost they are .3, .2, .1 and 0, so that the cost only
// decides between plans of the same score.
type Weights struct {
	UnknownTool float64 // taken off for each node whose tool is unknown
	Missing     float64 // for each resource that is missing
	Risk        float64 // for each node whose tool is of high risk or can't be undone
	Cost        float64 // for each unit of cost

	// Tools are those that there are. Needed for UnknownTool and Risk.
	Tools *tools.Registry
	// MissingOf returns what a node needs and doesn't find, for people; nil: nothing is missing.
	MissingOf func(*Node) []string
	// CostOf returns what a node costs, in units of the host's choice; nil: 1 for each node.
	CostOf func(*Node) float64
}

// A Ranked is a plan with its score, and where that comes from.
type Ranked struct {
	Plan    *Plan
	Score   float64
	Unknown []string // nodes whose tools are unknown
	Missing []string // what MissingOf has returned
	Risky   []string // nodes
	Cost    float64
}

// Rank returns the plans, the best first: by score, then by cost, then in the order given. It runs
// nothing; give the order to [Runner.Start].
func Rank(w Weights, plans ...*Plan) []Ranked {
	if w.UnknownTool == 0 && w.Missing == 0 && w.Risk == 0 && w.Cost == 0 {
		w.UnknownTool, w.Missing, w.Risk = .3, .2, .1
	}
	out := make([]Ranked, 0, len(plans))
	for _, p := range plans {
		if p != nil {
			out = append(out, w.score(p))
		}
	}
	slices.SortStableFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Cost, b.Cost))
	})
	return out
}

func (w *Weights) score(p *Plan) Ranked {
	r := Ranked{Plan: p}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Tool != "" && w.Tools != nil {
			if d, ok := w.Tools.Lookup(n.Tool); !ok {
				r.Unknown = append(r.Unknown, n.ID)
			} else if s := d.Spec(); s.Risk == tools.High || !s.ReadOnly && !d.CanUndo() {
				r.Risky = append(r.Risky, n.ID)
			}
		}
		if w.MissingOf != nil {
			r.Missing = append(r.Missing, w.MissingOf(n)...)
		}
		if w.CostOf != nil {
			r.Cost += w.CostOf(n)
		} else {
			r.Cost++
		}
	}
	r.Score = max(1-w.UnknownTool*float64(len(r.Unknown))-w.Missing*float64(len(r.Missing))-w.Risk*float64(
		len(r.Risky))-w.Cost*r.Cost, 0)
	return r
}
