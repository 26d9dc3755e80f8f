package plan

import (
	"fmt"
	"strings"
)

// failure returns the fact that the current plan has failed, for actFail: why, what was undone, and
// what is left.
func (s *State) failure() *Failed {
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
	var parts []string
	if d := s.ending; d != nil {
		what := "it was given up"
		if d.Choice == reject || d.Choice == suggest {
			what = "it was rejected"
		}
		if parts = append(parts, by(what, d.By, d.Text)); what == "it was rejected" {
			return parts[0]
		}
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

// conclusion returns the fact that the run has ended, for actEnd.
func (s *State) conclusion() *Ended {
	status, reason := s.outcome()
	return &Ended{Status: status, Reason: reason}
}

// outcome returns how the run has ended and why; an empty status if it hasn't.
func (s *State) outcome() (Status, string) {
	switch {
	case s.Status.ended():
		return s.Status, s.Reason
	case s.Status == "":
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
		case s.ending == nil || s.ending.Choice == giveUp:
			return AllFailed, reason
		case s.ending.Choice == cancel:
			return Canceled, reason
		}
		return Refused, reason
	case s.Status != atWork:
		return "", ""
	}
	for i := range s.Nodes {
		if status := s.Nodes[i].Status; !status.succeeded() && status != nodeSkipped {
			return "", ""
		}
	}
	return Completed, ""
}
