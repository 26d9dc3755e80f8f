package plan

import (
	"cmp"
	"context"
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
	Cost        float64 // for each node

	// Tools are those that there are. Needed for UnknownTool and Risk.
	Tools *tools.Registry
	// MissingOf returns what a plan needs and doesn't find, for people; nil: nothing is missing. It
	// can use [DryRun], so that what earlier nodes make is found. An error is told to whoever asked
	// for the ranking.
	MissingOf func(ctx context.Context, p *Plan) ([]string, error)
	// MissesOf returns what a plan doesn't do of its goal, for people; nil: it does all.
	// [ToolChoose] offers a plan that misses something only if each does, and doesn't recommend it.
	// An error is told to whoever asked for the ranking.
	MissesOf func(ctx context.Context, goal string, p *Plan) ([]string, error)
}

// A Ranked is a plan with its score, and where that comes from.
type Ranked struct {
	Plan        *Plan    `json:"plan"`
	Score       float64  `json:"score"`             // from 0 to 1
	Cost        int      `json:"cost"`              // its nodes
	Unknown     []string `json:"unknown,omitempty"` // ids of nodes whose tools are unknown
	Missing     []string `json:"missing,omitempty"` // what MissingOf has returned
	Misses      []string `json:"misses,omitempty"`  // what MissesOf has returned
	Risky       []string `json:"risky,omitempty"`   // ids of nodes
	Recommended bool     `json:"recommended,omitempty"`
}

// CanWork reports whether nothing that the plan needs is known to be missing.
func (r *Ranked) CanWork() bool { return len(r.Unknown) == 0 && len(r.Missing) == 0 }

// Rank returns the plans, the best first: those that can work before those that can't, then by
// score, by cost, and in the order given. The first one is recommended if it can work. It runs
// nothing; give the order to [Runner.Start]. The error is that of MissingOf.
func Rank(ctx context.Context, w Weights, plans ...*Plan) ([]Ranked, error) {
	if w.UnknownTool == 0 && w.Missing == 0 && w.Risk == 0 && w.Cost == 0 {
		w.UnknownTool, w.Missing, w.Risk = .3, .2, .1
	}
	out := make([]Ranked, 0, len(plans))
	for _, p := range plans {
		if p == nil {
			continue
		}
		r, err := w.score(ctx, p)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	lacks := func(r *Ranked) int { return min(len(r.Unknown)+len(r.Missing), 1) }
	slices.SortStableFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(lacks(&a), lacks(&b)), cmp.Compare(b.Score, a.Score), cmp.Compare(a.Cost, b.Cost))
	})
	if len(out) > 0 {
		out[0].Recommended = out[0].CanWork()
	}
	return out, nil
}

// offered returns the plans for a goal that are shown to a person, the best first.
func (w *Weights) offered(ctx context.Context, goal string, plans []*Plan) ([]Ranked, error) {
	if w.MissesOf == nil {
		return Rank(ctx, *w, plans...)
	}
	var fit []*Plan
	misses := make(map[*Plan][]string)
	for _, p := range plans {
		all, err := w.MissesOf(ctx, goal, p)
		if err != nil {
			return nil, err
		}
		if misses[p] = all; len(all) == 0 {
			fit = append(fit, p)
		}
	}
	if len(fit) > 0 {
		return Rank(ctx, *w, fit...)
	}
	out, err := Rank(ctx, *w, plans...)
	for i := range out {
		out[i].Misses, out[i].Recommended = misses[out[i].Plan], false
	}
	return out, err
}

func (w *Weights) score(ctx context.Context, p *Plan) (Ranked, error) {
	r := Ranked{Plan: p, Cost: len(p.Nodes)}
	if w.MissingOf != nil {
		var err error
		if r.Missing, err = w.MissingOf(ctx, p); err != nil {
			return r, err
		}
	}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Tool != "" && w.Tools != nil {
			if d, ok := w.Tools.Lookup(n.Tool); !ok {
				r.Unknown = append(r.Unknown, n.ID)
			} else if s := d.Spec(); s.Risk == tools.High || !s.ReadOnly && !d.CanUndo() {
				r.Risky = append(r.Risky, n.ID)
			}
		}
	}
	r.Score = max(1-w.UnknownTool*float64(len(r.Unknown))-w.Missing*float64(len(r.Missing))-w.Risk*float64(
		len(r.Risky))-w.Cost*float64(r.Cost), 0)
	return r, nil
}
