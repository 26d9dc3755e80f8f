package plan

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A State is what is known about a run of plans.
type State struct {
	Log   string
	Seq   uint64     // of the newest fact
	Plans []Proposal // in the order in which they run; each in its newest version
	// Original are the hashes of the plans as they were proposed.
	Original []string
	Options  Options
	Current  int    // the index of the plan that runs
	Stage    Stage  // empty before the first fact
	Status   Status // of a run that has ended
	Reason   string // of its end
	// Approved is the hash that was approved.
	Approved string
	// Nodes are those of the current plan, in its order.
	Nodes []NodeState
	// Failures are the plans that have failed.
	Failures []*Failed

	hash     string // of the current plan
	gaveUp   *GaveUp
	rejected *Rejected
	graph    *graph
}

// A Stage is where a run of plans is.
type Stage string

// The stages of a run.
const (
	StageApproval Stage = "approval" // the current plan waits for approval
	StageRunning  Stage = "running"
	StageUndoing  Stage = "undoing" // the current plan has failed, and what it did is undone
	StageEnded    Stage = "ended"
)

// A NodeState is what is known about a node of the current plan.
type NodeState struct {
	Node   Node
	Status NodeStatus
	// Attempt counts the attempts of this round, and Attempts all that there were.
	Attempt, Attempts int
	Round             int // of the review, from 1
	Rounds            int // how many there may be
	Key               string
	Started           time.Time // of the newest attempt
	// NotBefore is when the next attempt may start.
	NotBefore time.Time
	Output    json.RawMessage // of the newest attempt that succeeded
	Error     string          // of the newest attempt, if it failed
	Class     fault.Class
	Verdicts  []*Judged // on this round's result
	Feedback  []*Judged // on the result of the round before
	Waived    []string  // checks that don't count
	// Because is the node without which this one was skipped; empty if a person skipped it.
	Because string
	Undone  bool   // its effect was undone
	Left    string // why it wasn't

	tries   int    // attempts of this round since a person had it tried again
	started uint64 // the fact of the newest attempt
}

// A NodeStatus is where a node is.
type NodeStatus string

// The statuses of nodes.
const (
	NodePending   NodeStatus = "pending"
	NodeRunning   NodeStatus = "running"
	NodeReviewing NodeStatus = "reviewing" // the result isn't judged by all checks yet
	NodeAsking    NodeStatus = "asking"    // the review has used up its rounds, and a person decides
	NodeDone      NodeStatus = "done"
	NodeFailed    NodeStatus = "failed" // for good
	NodeSkipped   NodeStatus = "skipped"
	NodeWaived    NodeStatus = "waived" // a person accepted it as it is
)

// Succeeded reports whether nodes that depend on one of this status may start.
func (s NodeStatus) Succeeded() bool { return s == NodeDone || s == NodeWaived }

// Plan returns the current plan.
func (s *State) Plan() *Plan {
	if s.Current >= len(s.Plans) {
		return nil
	}
	return &s.Plans[s.Current].Plan
}

// Node returns what is known about a node of the current plan.
func (s *State) Node(id string) (*NodeState, bool) {
	for i := range s.Nodes {
		if s.Nodes[i].Node.ID == id {
			return &s.Nodes[i], true
		}
	}
	return nil, false
}

// Outputs returns the outputs of the nodes that have one.
func (s *State) Outputs() map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(s.Nodes))
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Status.Succeeded() && len(n.Output) > 0 {
			out[n.Node.ID] = n.Output
		}
	}
	return out
}

// needsApproval reports whether the current plan waits for approval.
func (s *State) needsApproval() bool {
	return len(s.Plans[s.Current].Asks) > 0 && s.Approved != s.hash
}

// missing returns the checks that haven't judged this round's result.
func (n *NodeState) missing() (checks []string) {
	if n.Node.Review == nil {
		return nil
	}
	for _, name := range n.Node.Review.Checks {
		if !slices.Contains(n.Waived, name) &&
			!slices.ContainsFunc(n.Verdicts, func(v *Judged) bool { return v.Check == name }) {
			checks = append(checks, name)
		}
	}
	return checks
}

// unsatisfied returns the checks that don't pass this round's result.
func (n *NodeState) unsatisfied() (checks []string) {
	for _, v := range n.Verdicts {
		if !v.Passed && !slices.Contains(n.Waived, v.Check) {
			checks = append(checks, v.Check)
		}
	}
	return checks
}
