package machine

import (
	"cmp"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// The tree of a run is what it has started, directly or through others: subagents, background work
// and its reports, the nodes of plans, and runs that tools have started. Its limits of cost and
// tokens hold for the whole tree, so each run of it knows its ancestors.

// An Ancestor is a run that has started another one, directly or through others, and what the tree
// of that run may use.
type Ancestor struct {
	Session string         `json:"session"`
	Run     string         `json:"run"`              // its id, or that of the first run of its chain
	User    string         `json:"user,omitempty"`   // who started it
	Tokens  int64          `json:"tokens,omitempty"` // its Limits.Tokens
	Cost    provider.Money `json:"cost,omitempty"`   // its Limits.Cost
	// RequirePrices says that what the run starts calls no model whose price isn't known.
	RequirePrices bool   `json:"require_prices,omitempty"`
	Tenant        string `json:"tenant,omitempty"` // who pays: see State.Tenant
}

// tenantLabel is the label of a run that names its tenant, who pays for it.
const tenantLabel = "tenant"

// Tenant returns the tenant of the newest run: that of its labels, else that of what has started
// it; "" for none.
func (s *State) Tenant() string {
	own := s.Labels.Get(tenantLabel)
	if s.Run == nil || own != "" || len(s.Run.Ancestors) == 0 {
		return own
	}
	return s.Run.Ancestors[len(s.Run.Ancestors)-1].Tenant
}

// RequiresPrices reports whether the newest run calls no model whose price isn't known, because of
// its own limits or those of what has started it.
func (s *State) RequiresPrices() bool {
	return s.Run.Limits.RequirePrices && s.Run.Limits.Cost >= 0 ||
		slices.ContainsFunc(s.Run.Ancestors, func(a Ancestor) bool { return a.RequirePrices })
}

// TreeLabel is the label with which the head of a session says in whose tree its newest run is: the
// first run of RunStarted.Ancestors. Inputs can't set it.
const TreeLabel = "pawl.tree"

// TreeSpent is what runs of a session have used that are in the same trees, for tools that read
// logs.
type TreeSpent struct {
	Trees  []string       `json:"trees"` // the runs whose trees they are in, the outermost first
	Tokens int64          `json:"tokens,omitempty"`
	Cost   provider.Money `json:"cost,omitempty"`
}

const (
	// maxTrees is how many sums a session keeps of what its earlier runs have used.
	maxTrees = 20
	// maxAncestors is how many ancestors a run knows. What is deeper counts for the outermost ones.
	maxAncestors = 16
)

// Tree returns the ancestors of what the newest run starts. They are those of the run and the run
// itself, unless its innermost ancestor is of the same session: then the run is a part of what that
// one does, such as one with a report of background work.
func (s *State) Tree() []Ancestor {
	r := s.Run
	n := len(r.Ancestors)
	if n == maxAncestors || n > 0 && r.Ancestors[n-1].Session == s.Session {
		return r.Ancestors
	}
	return append(r.Ancestors[:n:n], Ancestor{Session: s.Session, Run: r.root(), User: r.User,
		Tokens: r.Limits.Tokens, Cost: r.Limits.Cost, RequirePrices: s.RequiresPrices(), Tenant: s.Tenant()})
}

// StartedBy reports whether a user started the newest run, or a run that it is a part of.
func (s *State) StartedBy(user string) bool {
	return s.Run != nil && (s.Run.User == user ||
		slices.ContainsFunc(s.Run.Ancestors, func(a Ancestor) bool { return a.User == user }))
}

// Outermost returns the name of the session itself, or of the one that its work is done for if it
// is that of a subagent, of a node of a plan, or of other work that has a parent.
func (s *State) Outermost() string {
	if s.Parent == "" {
		return s.Session
	}
	if s.Run != nil && len(s.Run.Ancestors) > 0 {
		return s.Run.Ancestors[0].Session
	}
	return s.Parent
}

// root returns the id of the run, or of the first run of its chain.
func (r *RunState) root() string {
	if r.ContextReset != nil {
		return cmp.Or(r.ContextReset.First, r.ID)
	}
	return r.ID
}

// Spendings returns what the runs of the session have used, by the trees that they are in. The
// newest run is the last.
func (s *State) Spendings() []TreeSpent {
	if s.Run == nil || s.Totals.Copied {
		return s.Spent
	}
	return append(s.Spent[:len(s.Spent):len(s.Spent)], s.newest())
}

// newest returns what the newest run has used.
func (s *State) newest() TreeSpent {
	out := TreeSpent{Tokens: s.Run.Usage.Total(), Cost: s.Run.Cost}
	for _, a := range s.Tree() {
		out.Trees = append(out.Trees, a.Run)
	}
	return out
}

// keepSpent keeps what the newest run has used, before another one begins.
func (s *State) keepSpent() {
	if s.Run == nil || s.Totals.Copied || s.Run.Usage.Total() == 0 && s.Run.Cost == 0 {
		return
	}
	sum := s.newest()
	kept := make([]TreeSpent, 0, len(s.Spent)+1)
	for _, t := range s.Spent {
		if slices.Equal(t.Trees, sum.Trees) {
			sum.Tokens, sum.Cost = sum.Tokens+t.Tokens, sum.Cost.Add(t.Cost)
		} else {
			kept = append(kept, t)
		}
	}
	s.Spent = append(kept[max(len(kept)-maxTrees+1, 0):], sum)
}
