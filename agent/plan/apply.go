package plan

import (
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Apply tells the machine that something has happened. A fact that doesn't fit the state is a
// *[FactError], and changes nothing. Facts are numbered without gaps.
func (m *Machine) Apply(f Fact) error {
	if err := valid(f); err != nil {
		err.Log = m.s.Log
		return err
	}
	meta := f.meta()
	problem := ""
	if meta.Seq != m.s.Seq+1 {
		problem = fmt.Sprintf("it should be number %d", m.s.Seq+1)
	} else if m.s.Stage == StageEnded {
		problem = "the run has ended"
	} else if _, first := f.(*Proposed); first != (m.s.Stage == "") {
		problem = "a run has one proposal, at its beginning"
	} else {
		problem = m.s.apply(f)
	}
	if problem != "" {
		return &FactError{Log: m.s.Log, Seq: meta.Seq, Kind: f.kind(), Problem: problem}
	}
	m.s.Seq = meta.Seq
	m.s.settle()
	return nil
}

// Replay returns the machine of a run with these facts.
func Replay(log string, facts ...Fact) (*Machine, error) {
	m := New(log)
	for _, f := range facts {
		if err := m.Apply(f); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// apply returns why a fact doesn't fit; "" if it does.
func (s *State) apply(f Fact) string {
	switch f := f.(type) {
	case *Proposed:
		return s.proposed(f)
	case *Ended:
		return s.ended(f)
	}
	if s.over() {
		return "all plans have ended"
	}
	switch f := f.(type) {
	case *Approved:
		if s.Stage != StageApproval || f.Hash != s.hash {
			return "it isn't for the plan that waits for approval"
		}
		s.Approved = f.Hash
	case *Rejected:
		if s.Stage != StageApproval || f.Hash != s.hash {
			return "it isn't for the plan that waits for approval"
		}
		s.rejected = f
	case *Revised:
		return s.revised(f)
	case *GaveUp:
		if s.Stage == StageUndoing && (!f.All || s.stopped()) { // the run can be canceled until the next plan begins
			return "the plan has ended already"
		}
		s.gaveUp = f
	case *Failed:
		if s.Stage != StageUndoing || len(s.with(NodeRunning)) > 0 || len(s.toUndo()) > 0 {
			return "the plan hasn't failed, or isn't undone"
		}
		return s.planFailed(f)
	default:
		return s.applyNode(f)
	}
	return ""
}

func (s *State) proposed(f *Proposed) string {
	if len(f.Plans) == 0 {
		return "it has no plans"
	}
	for i := range f.Plans {
		if _, faults := graphOf(f.Plans[i].Plan.Nodes); len(faults) > 0 {
			return fmt.Sprintf("plan %d: %s", i, faults[0])
		}
	}
	s.Plans, s.Options = slices.Clone(f.Plans), f.Options
	for i := range f.Plans {
		s.Original = append(s.Original, f.Plans[i].Plan.Hash())
	}
	return s.begin()
}

// begin begins with the current plan.
func (s *State) begin() string {
	p := s.Plan()
	g, faults := graphOf(p.Nodes)
	if len(faults) > 0 {
		return faults[0].String()
	}
	s.graph, s.hash = g, p.Hash()
	s.Nodes = make([]NodeState, len(p.Nodes))
	for i := range p.Nodes {
		s.Nodes[i] = newNode(&p.Nodes[i])
	}
	return ""
}

func newNode(n *Node) NodeState {
	return NodeState{Node: *n, Status: NodePending, Round: 1, Rounds: n.rounds()}
}

func (s *State) revised(f *Revised) string {
	if s.Stage == StageUndoing {
		return "the plan has ended already"
	}
	next := f.Proposal.Plan
	if next.Version != s.Plan().Version+1 {
		return fmt.Sprintf("it should be version %d", s.Plan().Version+1)
	}
	if problem := s.revisable(&next); problem != "" {
		return problem
	}
	g, faults := graphOf(next.Nodes)
	if len(faults) > 0 {
		return faults[0].String()
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
	s.Plans = slices.Clone(s.Plans) // those of the fact
	s.Plans[s.Current] = f.Proposal
	s.Nodes, s.graph, s.hash = nodes, g, next.Hash() // which isn't approved
	s.skipDependents()
	return ""
}

// begun reports whether a revision has to keep a node as it is. One that failed for good or was
// skipped may be changed if it can't have had an effect.
func (n *NodeState) begun() bool { return n.Attempts > 0 || n.Status == NodeWaived }

// revisable returns why a plan can't replace the current one.
func (s *State) revisable(next *Plan) string {
	for i := range s.Nodes {
		was := &s.Nodes[i]
		if !was.begun() {
			continue
		}
		n, ok := next.Node(was.Node.ID)
		if !ok {
			return fmt.Sprintf("node %q has begun, and the revision doesn't have it", was.Node.ID)
		}
		if !sameNode(n, &was.Node) {
			return fmt.Sprintf("node %q has begun, and the revision changes it", was.Node.ID)
		}
	}
	return ""
}

// planFailed begins with the next plan, unless there is none or a person has stopped the run.
func (s *State) planFailed(f *Failed) string {
	failures, stopped := append(slices.Clone(s.Failures), f), s.stopped()
	if next := s.Current + 1; !stopped && next < len(s.Plans) {
		if _, faults := graphOf(s.Plans[next].Plan.Nodes); len(faults) > 0 {
			return faults[0].String()
		}
	}
	s.Failures, s.Approved = failures, ""
	if stopped {
		return ""
	}
	s.gaveUp = nil
	if s.Current++; s.Current < len(s.Plans) {
		return s.begin()
	}
	return ""
}

// stopped reports whether a person has ended the run, so that no other plan follows.
func (s *State) stopped() bool { return s.rejected != nil || s.gaveUp != nil && s.gaveUp.All }

// over reports whether no plan runs any more.
func (s *State) over() bool {
	return s.Current == len(s.Plans) || s.stopped() && len(s.Failures) > s.Current
}

func (s *State) ended(f *Ended) string {
	if status, _ := s.outcome(); status == "" || f.Status != status {
		return fmt.Sprintf("the run hasn't ended with the status %q", f.Status)
	}
	s.Stage, s.Status, s.Reason = StageEnded, f.Status, f.Reason
	return ""
}

// settle sets the stage after a fact.
func (s *State) settle() {
	switch {
	case s.Stage == StageEnded || s.over():
	case s.gaveUp != nil || s.rejected != nil:
		s.Stage = StageUndoing
	case s.needsApproval():
		s.Stage = StageApproval
	case s.failed() && !s.Options.AskOnFailure && !s.going():
		s.Stage = StageUndoing
	default:
		s.Stage = StageRunning
	}
}

// going reports whether something is in progress or may still start, or waits for a person,
// although a node has failed.
func (s *State) going() bool {
	for i := range s.Nodes {
		switch s.Nodes[i].Status {
		case NodeRunning, NodeReviewing:
			return true
		case NodeAsking:
			if s.Options.KeepGoing {
				return true
			}
		case NodePending:
			if s.Options.KeepGoing && s.satisfied(i) {
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
