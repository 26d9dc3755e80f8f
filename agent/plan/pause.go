package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/tools"
)

// A Pause is a decision that a run of plans waits for.
type Pause struct {
	ID   string    `json:"id"`
	Kind PauseKind `json:"kind"`
	// Title says in a few words what is to be decided; that of a call is the call's own.
	Title string `json:"title,omitempty"`
	Node  string `json:"node,omitempty"`
	// Hash is that of the plan, for PausePlan: see [Approve].
	Hash string `json:"hash,omitempty"`
	// Session and Call are set for PauseCall: a call of the node waits for a decision, which
	// [agent.Session.Decide] takes for that session.
	Session string       `json:"session,omitempty"`
	Call    *agent.Pause `json:"call,omitempty"`

	worker string // of the node, for PauseCall
}

// A PauseKind says what a [Pause] is about.
type PauseKind string

// The kinds of pauses.
const (
	PausePlan   PauseKind = "plan"   // the plan needs approval
	PauseNode   PauseKind = "node"   // a node has failed for good
	PauseReview PauseKind = "review" // a review has used up its rounds
	PauseCall   PauseKind = "call"   // a call of a node asks
)

// pending returns what a run waits for, without the calls of its nodes.
func (s *State) pending() (pauses []Pause) {
	if s.Stage == StageApproval {
		return []Pause{{ID: s.approvalID(s.hash), Kind: PausePlan, Title: titleOf(s.Plan().Title), Hash: s.hash}}
	}
	if s.Stage != StageRunning {
		return nil
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		p := Pause{ID: fmt.Sprintf("node %d %s %d", s.Current, n.Node.ID, n.Attempts), Node: n.Node.ID}
		switch {
		case n.Status == NodeAsking:
			p.Kind, p.Title = PauseReview,
				tools.CleanTitle(fmt.Sprintf("Step “%s” has used up the rounds of its review", n.Node.ID))
		case n.Status == NodeFailed && s.Options.AskOnFailure:
			p.Kind, p.Title = PauseNode,
				tools.CleanTitle(fmt.Sprintf("Step “%s” has failed: %s", n.Node.ID, n.Error))
		default:
			continue
		}
		pauses = append(pauses, p)
	}
	return pauses
}

// approvalID returns the id of the pause for the approval of the current plan with a hash. Other
// plans of the run may have the same hash, and nodes with the same ids, and a journal takes each id
// once.
func (s *State) approvalID(hash string) string { return fmt.Sprintf("plan %d %s", s.Current, hash) }

// titleOf returns the title of the pause in which a plan waits for approval.
func titleOf(plan string) string {
	return tools.CleanTitle(fmt.Sprintf("Carry out the plan “%s”", plan))
}

func sortPauses(pauses []Pause) {
	slices.SortStableFunc(pauses, func(a, b Pause) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID))
	})
}

// State returns what is known about a run. An unknown run is a *[RunError].
func (r *Runner) State(ctx context.Context, name string) (*State, error) {
	m, err := r.load(ctx, name)
	if err != nil {
		return nil, err
	}
	if m.s.Stage == "" {
		return nil, &RunError{Run: name, Problem: "it is unknown"}
	}
	return m.State(), nil
}

// Pending returns the decisions that a run waits for, those of its nodes' calls included.
func (r *Runner) Pending(ctx context.Context, name string) ([]Pause, error) {
	s, err := r.State(ctx, name)
	if err != nil {
		return nil, err
	}
	pauses := s.pending()
	for _, i := range s.with(NodeRunning) {
		n := &s.Nodes[i].Node
		a := r.agentOf(n.Worker)
		if a == nil {
			continue
		}
		calls, err := a.Session(SessionOf(s.Log, s.Current, n.ID)).Pending(ctx)
		if errors.Is(err, agent.ErrNothingOpen) {
			continue
		}
		if err != nil {
			return nil, err
		}
		pauses = append(pauses, s.callPauses(n, calls)...)
	}
	sortPauses(pauses)
	return pauses, nil
}

// callPauses returns the pauses of a node's session as those of the run.
func (s *State) callPauses(n *Node, calls []agent.Pause) (pauses []Pause) {
	for _, c := range calls {
		pauses = append(pauses, Pause{ID: c.ID, Kind: PauseCall, Node: n.ID, Session: SessionOf(s.Log, s.Current, n.ID),
			Call: &c, Title: c.Title, worker: n.Worker})
	}
	return pauses
}

// agentOf returns the agent of nodes with that worker; nil if there is none any more.
func (r *Runner) agentOf(worker string) *agent.Agent {
	if worker == "" {
		return r.cfg.Agent
	}
	return r.cfg.Workers[worker]
}
