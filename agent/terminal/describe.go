package terminal

import (
	"io"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
)

// Describe prints what a pause asks, and why, as [Run] does, without colors: for lists of what
// waits.
func Describe(w io.Writer, p *agent.Pause) error {
	s := newScreen(w, false, nil)
	s.describe(p)
	return s.failed
}

// describe prints what a pause asks, and why.
func (s *screen) describe(p *agent.Pause) {
	title := map[agent.PauseKind]string{agent.PauseApproval: "Approval needed",
		agent.PauseInDoubt:    "It isn't known whether this call took effect",
		agent.PauseCorrection: "This call is invalid"}[p.Kind]
	if title == "" {
		title = "Question"
	}
	s.line("%s: %s", s.paint(bold, title), clean(p.Title))
	until, input, asked := "", "input", ""
	if !p.Expires.IsZero() {
		until = p.Expires.Local().Format(time.TimeOnly)
	}
	o, planned := plan.Submitted(p.Call.Name, p.Call.Input)
	if planned {
		input, asked = "plan", o.Title+"\n         "+o.Why
	} else if !isQuestion(p) {
		asked = strings.ReplaceAll(inputOf(p), "\n", "\n         ")
	}
	for _, field := range [][2]string{{"tool", p.Call.Name}, {"why", p.Reason}, {"waits for", p.For}, {"risk", p.Risk},
		{"refused", p.Refused}, {"until", until}, {input, asked}} {
		if value := strings.TrimSpace(clean(field[1])); value != "" {
			s.line("  %-7s%s", field[0]+":", value)
		}
	}
	if o.Run = p.ID; planned {
		s.steps(&o)
	}
	if p.Preview != "" {
		s.line("  it would change:")
		s.diff(p.Preview)
	}
}
