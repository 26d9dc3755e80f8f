package plan

import (
	"fmt"
	"strings"
)

// A Progress says how far the current plan is.
type Progress struct {
	Done, Total int      // nodes; those that are skipped or waived count as done
	Running     []string // nodes in progress, or judged
	Next        []string // nodes that start when these are done, or at once
	Asking      []string // nodes that a person has to decide about
}

// Share returns the part of the plan that is done, from 0 to 1.
func (p Progress) Share() float64 {
	if p.Total == 0 {
		return 0
	}
	return float64(p.Done) / float64(p.Total)
}

// Progress returns how far the current plan is.
func (s *State) Progress() Progress {
	p := Progress{Total: len(s.Nodes)}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch n.Status {
		case NodeDone, NodeSkipped, NodeWaived:
			p.Done++
		case NodeRunning, NodeReviewing:
			p.Running = append(p.Running, n.Node.ID)
		case NodeAsking:
			p.Asking = append(p.Asking, n.Node.ID)
		case NodePending:
			if s.soon(i) {
				p.Next = append(p.Next, n.Node.ID)
			}
		}
	}
	return p
}

// soon reports whether all that a node depends on has succeeded or is in progress.
func (s *State) soon(i int) bool {
	for _, at := range s.graph.before[i] {
		if b := s.Nodes[at].Status; !b.Succeeded() && b != NodeRunning && b != NodeReviewing {
			return false
		}
	}
	return true
}

// Briefing says in plain text what has failed: the plans before the current one, with what they
// left behind, and the nodes of this one. It is for whoever makes the next attempt: a model that
// proposes another plan, or a person. It is empty if nothing has failed.
func (s *State) Briefing() string {
	var b strings.Builder
	for i := range s.Failures {
		f := s.Failures[i]
		fmt.Fprintf(&b, "Plan %s failed: %s.\n", title(&s.Plans[i].Plan), f.Reason)
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

func title(p *Plan) string {
	if p.ID == "" {
		return fmt.Sprintf("%q", p.Title)
	}
	return fmt.Sprintf("%q (%s)", p.Title, p.ID)
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
		if n.Status.Succeeded() {
			mark = "x"
		}
		fmt.Fprintf(&b, "- [%s] **%s** %s", mark, n.Node.ID, work(&n.Node))
		if len(n.Node.After) > 0 {
			fmt.Fprintf(&b, ", after %s", strings.Join(n.Node.After, ", "))
		}
		fmt.Fprintf(&b, ": %s\n", n.words())
	}
	return b.String()
}

// line returns a text as one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// work returns what a node does, in short.
func work(n *Node) string {
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
	case NodeAsking:
		return "waiting for a decision after " + count(n.Round, "round")
	case NodePending:
		if n.Attempts > 0 {
			return "to be done again"
		}
	}
	return string(n.Status)
}

// Mermaid returns the current plan as a flowchart in the language of Mermaid.
func (s *State) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for i := range s.Nodes {
		n := &s.Nodes[i]
		fmt.Fprintf(&b, "  n%d[\"%s: %s\"]:::%s\n", i, n.Node.ID, quoted(work(&n.Node)), n.Status)
	}
	for i := range s.Nodes {
		for _, at := range s.graph.before[i] {
			fmt.Fprintf(&b, "  n%d --> n%d\n", at, i)
		}
	}
	for _, c := range []struct{ status, style string }{
		{"done", "fill:#d8f5e0,stroke:#1a7f37"}, {"waived", "fill:#d8f5e0,stroke:#1a7f37,stroke-dasharray:4"},
		{"running", "fill:#dbeafe,stroke:#1d4ed8"}, {"reviewing", "fill:#dbeafe,stroke:#1d4ed8"},
		{"asking", "fill:#fff3c4,stroke:#9a6700"}, {"failed", "fill:#fde2e1,stroke:#b42318"},
		{"skipped", "fill:#eee,stroke:#888,stroke-dasharray:4"}, {"pending", "fill:#fff,stroke:#888"},
	} {
		fmt.Fprintf(&b, "  classDef %s %s,color:#111\n", c.status, c.style)
	}
	return b.String()
}

// quoted returns a text for a label of Mermaid in quotation marks.
func quoted(text string) string {
	return strings.NewReplacer(`"`, "#quot;", "`", "'", "<", "#lt;", ">", "#gt;", "\\", "#92;").Replace(text)
}
