package plan

import (
	"fmt"
	"strings"
)

// Briefing says in plain text what has failed: the plans before the current one, with what they
// left behind, and the nodes of this one. It is for whoever makes the next attempt: a model that
// proposes another plan, or a person. It is empty if nothing has failed.
func (s *State) Briefing() string {
	var b strings.Builder
	for i := range s.Failures {
		f, p := s.Failures[i], &s.plans[i].Plan
		fmt.Fprintf(&b, "Plan %q%s failed: %s.\n", p.Title, strings.TrimSuffix(" ("+p.ID+")", " ()"), f.Reason)
		if len(f.Undone) > 0 {
			fmt.Fprintf(&b, "Undone: %s.\n", strings.Join(f.Undone, ", "))
		}
		for _, left := range f.Left {
			fmt.Fprintf(&b, "Still there: what %s did (%s).\n", left.Node, left.Why)
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Status == NodeFailed && !s.over() {
			fmt.Fprintf(&b, "%s failed after %s: %s.\n", n.Node.ID, count(n.Attempts, "attempt"), n.Error)
		}
		for _, v := range n.Verdicts {
			if !v.Passed && n.Status == NodeAsking {
				fmt.Fprintf(&b, "%s doesn't pass %s: %s.\n", n.Node.ID, v.Check, v.Feedback)
			}
		}
	}
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Markdown returns the current plan as a list of its nodes with their states.
func (s *State) Markdown() string {
	p := s.Plan()
	if p == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", line(p.Title))
	if p.Why != "" {
		fmt.Fprintf(&b, "%s\n\n", line(p.Why))
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		mark := " "
		if n.Status.succeeded() {
			mark = "x"
		}
		fmt.Fprintf(&b, "- [%s] **%s** %s", mark, n.Node.ID, workOf(&n.Node))
		if len(n.Node.After) > 0 {
			fmt.Fprintf(&b, ", after %s", strings.Join(n.Node.After, ", "))
		}
		fmt.Fprintf(&b, ": %s\n", n.words())
	}
	return b.String()
}

// line returns a text as one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// workOf returns what a node does, in short.
func workOf(n *Node) string {
	if n.Tool != "" {
		return "`" + n.Tool + "`"
	}
	prompt := []rune(line(n.Prompt))
	if len(prompt) > 60 {
		prompt = append(prompt[:60], '…')
	}
	return fmt.Sprintf("%s (%s)", string(prompt), n.Worker)
}

// words returns the state of a node in words.
func (n *NodeState) words() string {
	switch n.Status {
	case NodeFailed:
		return "failed: " + line(n.Error)
	case NodeSkipped:
		if n.Because != "" {
			return "skipped, because " + n.Because + " isn't done"
		}
	}
	return string(n.Status)
}
