package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/internal/cut"
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
		switch d.Choice {
		case reject, suggest:
			return by("it was rejected", d.By, d.Text)
		case cancel:
			if what = "it was canceled"; d.Keep {
				return by(what, d.By, d.Text) // the end says what became of the steps
			}
		case expire:
			what = fmt.Sprintf("nobody has decided in time about node %q", d.Node)
		}
		parts = append(parts, by(what, d.By, d.Text))
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
	f := &Ended{}
	if s.keeps() {
		f = s.kept()
	}
	status, reason := s.outcome()
	f.Status, f.Reason = status, joined("; ", reason, f.words())
	return f
}

// kept returns what became of the steps of a run that keeps what it did.
func (s *State) kept() *Ended {
	f := &Ended{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		list := &f.Untouched
		switch {
		case n.Undone:
			list = &f.Undone
		case n.Status.succeeded():
			list = &f.Done
		case n.began > 0:
			list = &f.Partly
		}
		*list = append(*list, n.Node.ID)
	}
	return f
}

// words says what is there of what a run did, and what isn't.
func (f *Ended) words() string {
	var parts []string
	add := func(ids []string, is, are string) {
		what := count(len(ids), "step") + " " + are
		if len(ids) == 1 {
			what = "1 step " + is
		}
		if len(ids) > 0 {
			parts = append(parts, fmt.Sprintf("%s (%s)", what, cut.Line(strings.Join(ids, ", "), 200)))
		}
	}
	add(f.Done, "is done and stays", "are done and stay")
	add(f.Partly, "may have done a part", "may have done a part")
	add(f.Undone, "was undone", "were undone")
	add(f.Untouched, "never began", "never began")
	return strings.Join(parts, ", ")
}

// joined joins the parts that aren't empty.
func joined(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), sep)
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
		case s.ending == nil || s.ending.Choice == giveUp || s.ending.Choice == expire:
			return AllFailed, reason
		case s.ending.Choice == cancel:
			return Canceled, reason
		}
		return Refused, reason
	case s.Status != Running:
		return "", ""
	}
	for i := range s.Nodes {
		if status := s.Nodes[i].Status; !status.succeeded() && status != NodeSkipped {
			return "", ""
		}
	}
	return Completed, ""
}
