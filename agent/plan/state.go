package plan

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A State is what is known about a run of plans. It must not be changed.
type State struct {
	Run    string
	Seq    uint64 // of the newest fact
	Status Status
	Reason string // of its end
	// Current is the index of the plan that runs.
	Current int
	// Approved is the hash that was approved, and ApprovedBy who has approved it.
	Approved, ApprovedBy string
	// Nodes are those of the current plan, in its order.
	Nodes []NodeState
	// Failures are the plans that have failed.
	Failures []*Failed

	began     time.Time
	tree      []machine.Ancestor // of what the runs of nodes are
	parent    string             // the session in which the plan was submitted, if it was
	outside   []string           // where text from outside comes from that plans and outputs may have
	plans     []proposal         // in the order in which they run; each in its newest version
	original  []string           // the hashes of the plans as they were proposed
	options   options
	hash      string   // of the current plan
	ending    *decided // a decision that ends the current plan
	sentBack  *decided // a decision that sends a submitted plan back to its model
	timesBack int      // how often that was decided
	graph     *graph
}

// A Status is where a run of plans is, or how it has ended. The texts are stored, and don't change.
type Status string

// The statuses of a run. It has none before its first fact.
const (
	AtApproval Status = "approval" // the current plan waits for approval
	Running    Status = "running"
	Undoing    Status = "undoing" // what a plan did is undone after it has failed
	Completed  Status = "completed"
	AllFailed  Status = "failed"   // every plan has
	Refused    Status = "rejected" // a person rejected the plan
	Canceled   Status = "canceled"
)

func (s Status) ended() bool {
	return s == Completed || s == AllFailed || s == Refused || s == Canceled
}

// A NodeState is what is known about a node of the current plan.
type NodeState struct {
	Node   Node
	Status NodeStatus
	// Attempt counts the attempts of this round, and Attempts all that there were.
	Attempt, Attempts int
	Round             int // of the review, from 1
	Rounds            int // how many there may be
	Key               string
	// NotBefore is when the next attempt may start.
	NotBefore time.Time
	Output    json.RawMessage // of the newest attempt that succeeded
	Error     string          // of the newest attempt, if it failed
	Class     fault.Class
	Verdicts  []Verdict // on this round's result
	Feedback  []Verdict // on the result of the round before
	Waived    []string  // checks that don't count
	// Because is the node without which this one was skipped; empty if a person skipped it.
	Because string
	Undone  bool   // its effect was undone
	Left    string // why it wasn't

	tries   int       // attempts of this round since a person had it tried again
	began   int       // attempts that may have had an effect
	started uint64    // the fact of the newest attempt
	expires time.Time // when the question about its failure expires; zero: never
}

// A NodeStatus is where a node is. The texts are stored, and don't change.
type NodeStatus string

// The statuses of nodes. An attempt ends as done or failed.
const (
	NodePending   NodeStatus = "pending"
	NodeRunning   NodeStatus = "running"
	NodeReviewing NodeStatus = "reviewing" // not all checks have judged its result
	NodeAsking    NodeStatus = "asking"    // the rounds of its review are used up, and a person decides
	NodeDone      NodeStatus = "done"
	NodeFailed    NodeStatus = "failed" // for good
	NodeSkipped   NodeStatus = "skipped"
	NodeWaived    NodeStatus = "waived" // a person accepted it as it is
)

// succeeded reports whether nodes that depend on one of this status may start.
func (s NodeStatus) succeeded() bool { return s == NodeDone || s == NodeWaived }

// Plan returns the current plan.
func (s *State) Plan() *Plan {
	if s.Current >= len(s.plans) {
		return nil
	}
	return &s.plans[s.Current].Plan
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

// outputs returns the outputs of the nodes that have one.
func (s *State) outputs() map[string]json.RawMessage {
	out := make(map[string]json.RawMessage, len(s.Nodes))
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Status.succeeded() && len(n.Output) > 0 {
			out[n.Node.ID] = n.Output
		}
	}
	return out
}

// needsApproval reports whether the current plan waits for approval.
func (s *State) needsApproval() bool {
	return len(s.plans[s.Current].Asks) > 0 && s.Approved != s.hash
}

// missing returns the checks that haven't judged this round's result.
func (n *NodeState) missing() (checks []string) {
	if n.Node.Review == nil {
		return nil
	}
	for _, name := range n.Node.Review.Checks {
		if !slices.Contains(n.Waived, name) &&
			!slices.ContainsFunc(n.Verdicts, func(v Verdict) bool { return v.Check == name }) {
			checks = append(checks, name)
		}
	}
	return checks
}
