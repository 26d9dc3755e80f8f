package plan

import (
	"fmt"
	"strings"
)

// Fail returns the fact that the current plan has failed, for [ActFail]: why, what was undone, and
// what is left.
func (m *Machine) Fail() *Failed {
	s := &m.s
	f := &Failed{}
	p := s.Plan()
	if p == nil {
		return f
	}
	f.Plan, f.Reason = p.ID, s.why()
	for i := range s.Nodes {
		switch n := &s.Nodes[i]; {
		case n.Undone:
			f.Undone = append(f.Undone, n.Node.ID)
		case n.Left != "":
			f.Left = append(f.Left, Remains{Node: n.Node.ID, Why: n.Left})
		}
	}
	return f
}

// why returns why the current plan ends.
func (s *State) why() string {
	if s.rejected != nil {
		return by("it was rejected", s.rejected.By, s.rejected.Reason)
	}
	var parts []string
	if s.gaveUp != nil {
		parts = append(parts, by("it was given up", s.gaveUp.By, s.gaveUp.Reason))
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Status == NodeFailed {
			parts = append(parts, fmt.Sprintf("node %q failed: %s", n.Node.ID, n.Error))
		}
	}
	return strings.Join(parts, "; ")
}

func by(what, who, reason string) string {
	if who != "" {
		what += " by " + who
	}
	if reason != "" {
		what += ": " + reason
	}
	return what
}

// End returns the fact that the run has ended, for [ActEnd].
func (m *Machine) End() *Ended {
	status, reason := m.s.outcome()
	return &Ended{Status: status, Reason: reason}
}

// outcome returns how the run has ended and why; an empty status if it hasn't.
func (s *State) outcome() (Status, string) {
	switch {
	case s.Stage == StageEnded:
		return s.Status, s.Reason
	case s.Stage == "":
		return "", ""
	case s.over():
		reasons := make([]string, len(s.Failures))
		for i, f := range s.Failures {
			reasons[i] = f.Reason
			if f.Plan != "" {
				reasons[i] = fmt.Sprintf("plan %q: %s", f.Plan, f.Reason)
			}
		}
		reason := strings.Join(reasons, "; ")
		switch {
		case s.rejected != nil:
			return Refused, reason
		case s.gaveUp != nil:
			return Canceled, reason
		}
		return AllFailed, reason
	case s.Stage != StageRunning:
		return "", ""
	}
	for i := range s.Nodes {
		if status := s.Nodes[i].Status; !status.Succeeded() && status != NodeSkipped {
			return "", ""
		}
	}
	return Completed, ""
}
