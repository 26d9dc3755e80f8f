package plan

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
)

// applyNode applies a fact about a node of the current plan.
func (s *State) applyNode(f Fact) string {
	about, ok := f.(interface{ node() string })
	if !ok {
		return "its kind is unknown"
	}
	id := about.node()
	i := slices.IndexFunc(s.Nodes, func(n NodeState) bool { return n.Node.ID == id })
	if i < 0 {
		return fmt.Sprintf("the plan has no node %q", id)
	}
	n := &s.Nodes[i]
	switch f := f.(type) {
	case *NodeStarted:
		return s.nodeStarted(i, f)
	case *NodeEnded:
		return s.nodeEnded(n, f)
	case *Judged:
		return n.judged(f)
	case *Undone:
		return s.undone(n, f)
	}
	if s.Stage == StageUndoing {
		return "the plan has ended already"
	}
	switch f := f.(type) {
	case *Waived:
		return s.waived(n, f)
	case *Skipped:
		return s.skipped(n)
	case *Retried:
		return s.retried(n)
	case *Granted:
		if n.Status != NodeAsking || f.Rounds <= 0 {
			return "the node's review doesn't wait for more rounds"
		}
		n.Rounds += f.Rounds
		n.nextRound()
	}
	return ""
}

func (s *State) nodeStarted(i int, f *NodeStarted) string {
	n := &s.Nodes[i]
	switch {
	case s.Stage != StageRunning || !s.mayStart():
		return "nothing may start now"
	case n.Status != NodePending || !s.satisfied(i):
		return "the node can't start now"
	case len(s.with(NodeRunning)) >= s.Options.parallel():
		return "too many nodes are in progress"
	case f.Round != n.Round || f.Attempt != n.Attempt+1:
		return fmt.Sprintf("it should be attempt %d of round %d", n.Attempt+1, n.Round)
	case f.Key == "" || n.Attempt > 0 && f.Key != n.Key:
		return "it needs an idempotency key, the same in all attempts of a round"
	}
	n.Status, n.Key, n.Started, n.started = NodeRunning, f.Key, f.Time, f.Seq
	n.Attempt++
	n.Attempts++
	n.tries++
	return ""
}

func (s *State) nodeEnded(n *NodeState, f *NodeEnded) string {
	if n.Status != NodeRunning || f.Round != n.Round || f.Attempt != n.Attempt {
		return "the attempt isn't in progress"
	}
	n.Error, n.Class = f.Error, f.Class
	switch {
	case f.Error == "":
		n.Output, n.Class = f.Output, fault.None
		n.Status = NodeReviewing
		n.conclude()
	case !f.Final && n.mayRetry(f.Class):
		n.Status, n.NotBefore = NodePending, f.Time.Add(n.Node.retry().Wait)
	default:
		n.Status = NodeFailed
		s.skipDependents()
	}
	return ""
}

// conclude ends the review of a round if all checks have judged.
func (n *NodeState) conclude() {
	if n.Status != NodeReviewing && n.Status != NodeAsking || len(n.missing()) > 0 {
		return
	}
	switch {
	case len(n.unsatisfied()) == 0:
		n.Status = NodeDone
	case n.Round < n.Rounds:
		n.nextRound()
	default:
		n.Status = NodeAsking
	}
}

// nextRound has the node done again. The verdicts of the last round stay until it starts: they are
// what it is told.
func (n *NodeState) nextRound() {
	n.Status = NodePending
	n.Round++
	n.Attempt, n.tries = 0, 0
	n.Feedback = n.Verdicts
	n.Verdicts = nil
}

func (n *NodeState) judged(f *Judged) string {
	if n.Status != NodeReviewing || f.Round != n.Round || !slices.Contains(n.missing(), f.Check) {
		return "the check has nothing to judge"
	}
	n.Verdicts = append(slices.Clone(n.Verdicts), f)
	n.conclude()
	return ""
}

func (s *State) waived(n *NodeState, f *Waived) string {
	if f.Check != "" {
		if n.Node.Review == nil || !slices.Contains(n.Node.Review.Checks, f.Check) {
			return "the node has no such check"
		}
		if n.Status.Succeeded() || n.Status == NodeSkipped {
			return "the node isn't judged any more"
		}
		if !slices.Contains(n.Waived, f.Check) {
			n.Waived = append(slices.Clone(n.Waived), f.Check)
		}
		n.conclude()
		return ""
	}
	if n.Status != NodeFailed && n.Status != NodeAsking {
		return "the node hasn't failed, and its review doesn't wait for a person"
	}
	n.Status = NodeWaived
	s.skipDependents()
	return ""
}

func (s *State) skipped(n *NodeState) string {
	if n.Status != NodePending && n.Status != NodeFailed && n.Status != NodeAsking {
		return "the node is in progress, done, or skipped already"
	}
	n.Status, n.Because = NodeSkipped, ""
	s.skipDependents()
	return ""
}

func (s *State) retried(n *NodeState) string {
	if n.Status != NodeFailed {
		return "the node hasn't failed for good"
	}
	n.Status, n.tries = NodePending, 0
	s.skipDependents()
	return ""
}

func (s *State) undone(n *NodeState, f *Undone) string {
	if s.Stage != StageUndoing || n.Attempts == 0 || n.Undone || n.Left != "" || n.Status == NodeRunning {
		return "there is nothing to undo"
	}
	n.Undone, n.Left = f.Left == "", f.Left
	return ""
}

// skipDependents skips the nodes that can't start because one that they depend on has failed or was
// skipped, and takes that back for those that can again.
func (s *State) skipDependents() {
	for _, layer := range s.graph.layers {
		for _, i := range layer {
			n := &s.Nodes[i]
			if n.Status != NodePending && (n.Status != NodeSkipped || n.Because == "") {
				continue
			}
			n.Status, n.Because = NodePending, ""
			for _, at := range s.graph.before[i] {
				if b := &s.Nodes[at]; b.Status == NodeFailed || b.Status == NodeSkipped {
					n.Status, n.Because = NodeSkipped, b.Node.ID
					break
				}
			}
		}
	}
}

func sameNode(a, b *Node) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}
