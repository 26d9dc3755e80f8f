package plan

import (
	"cmp"
	"slices"
	"time"
)

// An action is what has to happen next.
type action struct {
	kind actionKind
	// nodes are those that the action is about, as indexes of State.Nodes.
	nodes []int
	// until is when the next node may be tried again, for actWait and actJudge; zero: there is none
	// to wait for.
	until time.Time
}

// An actionKind says what an action is.
type actionKind int

const (
	actNone    actionKind = iota // the run has ended, or has no plans yet
	actApprove                   // a person has to decide about the current plan
	actStart                     // start the nodes
	actJudge                     // have the results of the nodes judged by the checks that are missing
	actWait                      // nothing can start: wait for the end of the nodes, which run, or for until
	actAsk                       // a person has to decide about the nodes
	actUndo                      // undo the effects of the nodes, one after the other in this order
	actFail                      // record that the current plan has failed
	actEnd                       // record the end of the run
)

// next returns what has to happen next. Nodes that were started and haven't ended are in progress:
// after a crash, the caller continues them. A caller with something in progress may start more, as
// an actStart or actJudge says. next uses no clock, and does nothing.
func (s *State) next(now time.Time) action {
	switch {
	case s.Status == "", s.Status.ended():
		return action{kind: actNone}
	case s.over():
		return action{kind: actEnd}
	}
	running := s.with(NodeRunning)
	if s.Status == Running {
		return s.nextAtWork(now, running)
	}
	if len(running) > 0 {
		return action{kind: actWait, nodes: running}
	}
	if s.Status == AtApproval {
		return action{kind: actApprove}
	}
	if nodes := s.toUndo(); len(nodes) > 0 && !s.keeps() {
		return action{kind: actUndo, nodes: nodes}
	}
	return action{kind: actFail}
}

// nextAtWork is next while the plan runs.
func (s *State) nextAtWork(now time.Time, running []int) action {
	var until time.Time
	if s.mayStart() {
		var ready []int
		if ready, until = s.ready(now, cmp.Or(s.options.Parallel, defaultParallel)-len(running)); len(ready) > 0 {
			return action{kind: actStart, nodes: ready}
		}
	}
	if judge := s.with(NodeReviewing); len(judge) > 0 {
		return action{kind: actJudge, nodes: judge, until: until}
	}
	if len(running) > 0 || !until.IsZero() {
		return action{kind: actWait, nodes: running, until: until}
	}
	if ask := append(s.with(NodeAsking), s.with(NodeFailed)...); len(ask) > 0 {
		return action{kind: actAsk, nodes: ask}
	}
	return action{kind: actEnd}
}

// mayStart reports whether nodes may start at all: not after a failure, unless the plan keeps
// going.
func (s *State) mayStart() bool { return s.options.KeepGoing || !s.failed() }

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
		if !s.Nodes[at].Status.succeeded() {
			return false
		}
	}
	return true
}

// toUndo returns the nodes whose effects aren't undone yet, the one that was started last first.
func (s *State) toUndo() (nodes []int) {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.began > 0 && !n.Undone && n.Left == "" {
			nodes = append(nodes, i)
		}
	}
	slices.SortFunc(nodes, func(a, b int) int { return cmp.Compare(s.Nodes[b].started, s.Nodes[a].started) })
	return nodes
}
