package plan

import (
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
)

// add adds a fact to what is known. One that doesn't fit is an error, and changes nothing. Facts
// are numbered without gaps.
func (s *State) add(f fact) error {
	meta, problem := f.meta(), ""
	if meta.Seq != s.Seq+1 {
		problem = fmt.Sprintf("it should be number %d", s.Seq+1)
	} else {
		problem = s.apply(f)
	}
	if problem != "" {
		return factError(s.Run, meta.Seq, f.kind(), "%s", problem)
	}
	s.Seq = meta.Seq
	s.settle()
	return nil
}

// apply returns why a fact doesn't fit; "" if it does.
func (s *State) apply(f fact) string {
	_, first := f.(*proposed)
	_, takesBack := f.(*undone)
	takesBack = takesBack && s.undoable()
	switch {
	case first != (s.Status == ""):
		return "a run has one proposal, at its beginning"
	case s.Status.ended() && !takesBack:
		return "the run has ended"
	}
	switch f := f.(type) {
	case *proposed:
		return s.propose(f)
	case *Ended:
		return s.end(f)
	}
	if s.over() && !takesBack {
		return "all plans have ended"
	}
	switch f := f.(type) {
	case *decided:
		return s.decide(f)
	case *Failed:
		if s.Status != Undoing || len(s.with(NodeRunning)) > 0 || len(s.toUndo()) > 0 && !s.keeps() {
			return "the plan hasn't failed, or isn't undone"
		}
		return s.planFailed(f)
	case *NodeStarted:
		return s.node(f.Node, func(i int, _ *NodeState) string { return s.nodeStarted(i, f) })
	case *NodeEnded:
		return s.node(f.Node, func(_ int, n *NodeState) string { return s.nodeEnded(n, f) })
	case *judged:
		if f.Plan != s.Current {
			return "it is about a plan that has failed"
		}
		return s.node(f.Node, func(_ int, n *NodeState) string { return n.judged(f) })
	case *undone:
		return s.node(f.Node, func(_ int, n *NodeState) string { return s.undone(n, f) })
	}
	return "its kind is unknown"
}

// node calls apply with a node of the current plan.
func (s *State) node(id string, apply func(i int, n *NodeState) string) string {
	i := slices.IndexFunc(s.Nodes, func(n NodeState) bool { return n.Node.ID == id })
	if i < 0 {
		return fmt.Sprintf("the plan has no node %q", id)
	}
	return apply(i, &s.Nodes[i])
}

// decide applies a decision.
func (s *State) decide(f *decided) string {
	switch {
	case f.Choice != cancel && f.Plan != s.Current:
		return "it was about a plan that has failed"
	case s.Status == Undoing && (f.Choice != cancel || s.stopped()):
		return "the plan has ended already" // the run can be canceled until the next plan begins
	}
	problem := s.choose(f)
	if problem == "" && f.Choice != sendBack {
		s.sentBack = nil
	}
	return problem
}

// choose applies a decision on a plan that goes on, or one that cancels the run.
func (s *State) choose(f *decided) string {
	switch f.Choice {
	case approve, reject, suggest:
		switch {
		case s.Status != AtApproval || f.Hash != s.hash:
			return "it isn't for the plan that waits for approval"
		case f.Choice == approve:
			s.Approved, s.ApprovedBy = s.hash, f.By
		default:
			s.ending = f
		}
	case giveUp, cancel, expire:
		s.ending = f
	case sendBack:
		s.sentBack = f
		s.timesBack++
	case revise:
		s.addOutside(f.Outside...)
		return s.revise(f)
	default:
		return s.node(f.Node, func(_ int, n *NodeState) string { return s.decideNode(n, f) })
	}
	return ""
}

func (s *State) propose(f *proposed) string {
	if len(f.Plans) == 0 {
		return "it has no plans"
	}
	for i := range f.Plans {
		if _, faults := graphOf(f.Plans[i].Plan.Nodes); len(faults) > 0 {
			return fmt.Sprintf("plan %d: %s", i, faults[0].text())
		}
	}
	s.plans, s.options, s.began, s.parent, s.tree = slices.Clone(f.Plans), f.Options, f.Time, f.Parent, f.Tree
	s.outside = f.Outside
	s.original = hashes(f)
	s.begin()
	return ""
}

// begin begins with the current plan, whose graph propose has checked.
func (s *State) begin() {
	p := s.Plan()
	s.graph, _ = graphOf(p.Nodes)
	s.hash = s.original[s.Current]
	s.Nodes = make([]NodeState, len(p.Nodes))
	for i := range p.Nodes {
		s.Nodes[i] = newNode(&p.Nodes[i])
	}
}

func newNode(n *Node) NodeState {
	return NodeState{Node: *n, Status: NodePending, Round: 1, Rounds: n.rounds()}
}

// revise replaces the current plan by its next version.
func (s *State) revise(f *decided) string {
	if f.Revision == nil {
		return "it has no plan"
	}
	next := f.Revision.Plan
	if next.Version != s.Plan().Version+1 {
		return fmt.Sprintf("it should be version %d", s.Plan().Version+1)
	}
	for i := range s.Nodes {
		was := &s.Nodes[i]
		if n, ok := next.Node(was.Node.ID); was.begun() && !(ok && sameNode(n, &was.Node)) {
			return fmt.Sprintf("node %q has begun, and the revision changes it or doesn't have it", was.Node.ID)
		}
	}
	g, faults := graphOf(next.Nodes)
	if len(faults) > 0 {
		return faults[0].text()
	}
	nodes := make([]NodeState, len(next.Nodes))
	for i := range next.Nodes {
		n := &next.Nodes[i]
		if was, ok := s.Node(n.ID); ok && (was.begun() || sameNode(n, &was.Node)) {
			// with what a person has decided about it
			nodes[i] = *was
			continue
		}
		nodes[i] = newNode(n)
	}
	s.plans = slices.Clone(s.plans) // those of the fact
	s.plans[s.Current] = *f.Revision
	s.Nodes, s.graph, s.hash = nodes, g, hashes(f)[0] // which isn't approved
	s.skipDependents()
	return ""
}

// begun reports whether a revision has to keep a node as it is. One that failed for good or was
// skipped may be changed if it can't have had an effect.
func (n *NodeState) begun() bool { return n.Attempts > 0 || n.Status == NodeWaived }

// planFailed begins with the next plan, unless there is none or a person has stopped the run.
func (s *State) planFailed(f *Failed) string {
	s.Failures, s.Approved, s.ApprovedBy = append(slices.Clone(s.Failures), f), "", ""
	if s.stopped() {
		return ""
	}
	s.ending, s.sentBack = nil, nil
	if s.Current++; s.Current < len(s.plans) {
		s.begin()
	}
	return ""
}

// stopped reports whether a person has ended the run, or should have decided, so that no other plan
// follows.
func (s *State) stopped() bool { return s.ending != nil && s.ending.Choice != giveUp }

// keeps reports whether the run was stopped and what it did stays.
func (s *State) keeps() bool { return s.ending != nil && s.ending.Keep }

// undoable reports whether the run has ended and what it did is there.
func (s *State) undoable() bool { return s.Status == Completed || s.Status.ended() && s.keeps() }

// over reports whether no plan runs any more.
func (s *State) over() bool {
	return s.Current == len(s.plans) || s.stopped() && len(s.Failures) > s.Current
}

func (s *State) end(f *Ended) string {
	if status, _ := s.outcome(); status == "" || f.Status != status {
		return fmt.Sprintf("the run hasn't ended with the status %q", f.Status)
	}
	s.Status, s.Reason = f.Status, f.Reason
	return ""
}

// settle sets the status after a fact.
func (s *State) settle() {
	switch {
	case s.Status.ended() || s.over():
	case s.ending != nil:
		s.Status = Undoing
	case s.needsApproval():
		s.Status = AtApproval
	case s.failed() && !s.going() && !slices.ContainsFunc(s.Nodes, s.asks):
		s.Status = Undoing
	default:
		s.Status = Running
	}
}

// asks reports whether a person is asked about a node that has failed for good.
func (s *State) asks(n NodeState) bool {
	return n.Status == NodeFailed && (s.options.AskOnFailure || n.mendable() && s.options.OnCancel != "")
}

// mendable reports whether a person can mend why a node has failed, as by raising a limit.
func (n *NodeState) mendable() bool { return n.Class == fault.UserFixable }

// going reports whether something is in progress or may still start, or waits for a person,
// although a node has failed.
func (s *State) going() bool {
	for i := range s.Nodes {
		switch s.Nodes[i].Status {
		case NodeRunning, NodeReviewing:
			return true
		case NodeAsking:
			if s.options.KeepGoing {
				return true
			}
		case NodePending:
			if s.options.KeepGoing && s.satisfied(i) {
				return true
			}
		}
	}
	return false
}

// mayRetry reports whether an attempt that failed is followed by another.
func (n *NodeState) mayRetry(class fault.Class) bool {
	return fault.Retryable(class) && n.tries <= n.Node.retry().Max
}
