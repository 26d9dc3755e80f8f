package plan

import (
	"cmp"
	"slices"
	"time"
)

// A Machine runs plans, as far as that can be done without doing anything: it says what has to
// happen next, and is told by facts what has happened. It uses no clock, files or network, and
// starts no goroutines. It isn't safe for concurrent use.
type Machine struct {
	s State
}

// New returns the machine of a run of plans that has no facts yet.
func New(log string) *Machine { return &Machine{s: State{Log: log}} }

// State returns what is known. It is valid until the next Apply, and must not be changed.
func (m *Machine) State() *State { return &m.s }

// An Action is what has to happen next.
type Action struct {
	Kind ActionKind
	// Nodes are those that the action is about, as indexes of State.Nodes.
	Nodes []int
	// Until is when the next node may be tried again, for ActWait and ActJudge; zero: there is none
	// to wait for.
	Until time.Time
}

// An ActionKind says what an [Action] is.
type ActionKind int

// The kinds of actions.
const (
	ActPropose ActionKind = iota // the run has no plans yet
	ActApprove                   // a person has to decide about the current plan
	ActStart                     // start Nodes
	ActJudge                     // have the results of Nodes judged by the checks that are missing
	ActWait                      // nothing can start: wait for the end of Nodes, which run, or for Until
	ActAsk                       // a person has to decide about Nodes
	ActUndo                      // undo the effects of Nodes, one after the other in this order
	ActFail                      // record that the current plan has failed
	ActEnd                       // record the end of the run
	ActNone                      // the run has ended
)

// Next returns what has to happen next. Nodes that were started and haven't ended are in progress:
// after a crash, the caller continues them. A caller with something in progress may start more, as
// an ActStart or ActJudge says.
func (m *Machine) Next(now time.Time) Action {
	s := &m.s
	switch {
	case s.Stage == "":
		return Action{Kind: ActPropose}
	case s.Stage == StageEnded:
		return Action{Kind: ActNone}
	case s.over():
		return Action{Kind: ActEnd}
	}
	running := s.with(NodeRunning)
	if s.Stage == StageRunning {
		return s.nextRunning(now, running)
	}
	if len(running) > 0 {
		return Action{Kind: ActWait, Nodes: running}
	}
	if s.Stage == StageApproval {
		return Action{Kind: ActApprove}
	}
	if nodes := s.toUndo(); len(nodes) > 0 {
		return Action{Kind: ActUndo, Nodes: nodes}
	}
	return Action{Kind: ActFail}
}

// nextRunning is Next while the plan runs.
func (s *State) nextRunning(now time.Time, running []int) Action {
	var until time.Time
	if s.mayStart() {
		var ready []int
		if ready, until = s.ready(now, s.Options.parallel()-len(running)); len(ready) > 0 {
			return Action{Kind: ActStart, Nodes: ready}
		}
	}
	if judge := s.with(NodeReviewing); len(judge) > 0 {
		return Action{Kind: ActJudge, Nodes: judge, Until: until}
	}
	if len(running) > 0 || !until.IsZero() {
		return Action{Kind: ActWait, Nodes: running, Until: until}
	}
	if ask := append(s.with(NodeAsking), s.with(NodeFailed)...); len(ask) > 0 {
		return Action{Kind: ActAsk, Nodes: ask}
	}
	return Action{Kind: ActEnd}
}

// mayStart reports whether nodes may start at all: not after a failure, unless the plan keeps
// going.
func (s *State) mayStart() bool { return s.Options.KeepGoing || !s.failed() }

func (o *Options) parallel() int {
	if o.Parallel <= 0 {
		return defaultParallel
	}
	return o.Parallel
}

// with returns the nodes with a status.
func (s *State) with(status NodeStatus) (nodes []int) {
	for i := range s.Nodes {
		if s.Nodes[i].Status == status {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

func (s *State) failed() bool {
	return slices.ContainsFunc(s.Nodes, func(n NodeState) bool { return n.Status == NodeFailed })
}

// ready returns up to most nodes that may start now, and when the next one may that has to wait;
// zero: none has to.
func (s *State) ready(now time.Time, most int) (nodes []int, until time.Time) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Status != NodePending || !s.satisfied(i) {
			continue
		}
		if n.NotBefore.After(now) {
			if until.IsZero() || n.NotBefore.Before(until) {
				until = n.NotBefore
			}
			continue
		}
		if len(nodes) < most {
			nodes = append(nodes, i)
		}
	}
	return nodes, until
}

// satisfied reports whether all nodes that one depends on have succeeded.
func (s *State) satisfied(i int) bool {
	for _, at := range s.graph.before[i] {
		if !s.Nodes[at].Status.Succeeded() {
			return false
		}
	}
	return true
}

// toUndo returns the nodes whose effects aren't undone yet, the one that was started last first.
func (s *State) toUndo() (nodes []int) {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Attempts > 0 && !n.Undone && n.Left == "" {
			nodes = append(nodes, i)
		}
	}
	slices.SortFunc(nodes, func(a, b int) int { return cmp.Compare(s.Nodes[b].started, s.Nodes[a].started) })
	return nodes
}
