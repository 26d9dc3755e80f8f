package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A running is a call in progress.
type running struct {
	id, title, progress string
	since               time.Time
}

// show prints an event of the session.
func (s *screen) show(ev agent.Event) {
	switch ev := ev.(type) {
	case *agent.TextDelta:
		s.streamed = true
		s.say("text", "", ev.Text)
	case *agent.ReasoningDelta:
		s.streamed = true
		s.say("thought", faint, ev.Text)
	case *agent.StepStarted:
		s.streamed, s.lines = false, wrapper{}
	case *agent.Replied:
		for _, p := range ev.Message.Parts { // it was over soon, or another process has made the call
			switch {
			case s.streamed:
			case p.Kind == provider.PartReasoning:
				s.say("thought", faint, p.Text)
			case p.Kind == provider.PartText || p.Kind == provider.PartRefusal:
				s.say("text", "", p.Text)
			}
		}
		s.endLine()
	case *agent.ToolStarted:
		if slices.Contains(s.hidden, ev.Call.Name) {
			return
		}
		s.calls = append(s.calls, running{id: ev.Call.ID, title: s.title(ev.Call), since: time.Now()})
	case *agent.Progress:
		for i := range s.calls {
			if c := &s.calls[i]; c.id == ev.Call {
				c.progress = " · " + ev.Text
				if ev.Done > 0 {
					c.progress += fmt.Sprintf(" %.0f %%", 100*ev.Done)
				}
			}
		}
	case *agent.ToolFinished:
		s.finished(ev)
	case *machine.Decided:
		s.decided(&ev.Decision)
	case *machine.Emitted:
		s.plan(ev.Kind, ev.Value)
		s.notice(ev)
	case *agent.Shown:
		s.plan(ev.Kind, ev.Value)
	case *agent.Waiting:
		s.waits(&ev.Wait)
	case *agent.Reset:
		s.note("… the answer starts again: %s", short(ev.Why, 300))
	}
}

// reasons say in words why a call waits.
var reasons = map[provider.WaitReason]string{
	provider.WaitQueued:      "waiting for a free place at the model",
	provider.WaitRateLimited: "the model takes no more requests for now",
	provider.WaitBackingOff:  "that didn't work; trying again",
	provider.WaitPreempted:   "waiting for the model; others go first",
	provider.WaitBudget:      "waiting for the budget",
	provider.WaitBackground:  "the model works in the background",
}

// waits says that a call waits, why, and for how long.
func (s *screen) waits(w *provider.Wait) {
	text := cmp.Or(reasons[w.Reason], "waiting")
	if d := time.Until(w.Until); d >= time.Second {
		text += fmt.Sprintf(" · %.0f s", d.Seconds())
	}
	s.note("… %s", text)
}

// title says what a call does.
func (s *screen) title(c *provider.ToolCall) string {
	if d, ok := s.tools.Lookup(c.Name); ok {
		return tools.CleanTitle(clean(d.Title(context.Background(), c.Input)))
	}
	return clean(tools.TitleOf(c.Name, c.Input))
}

// finished prints what became of a call, in one line.
func (s *screen) finished(ev *agent.ToolFinished) {
	s.calls = slices.DeleteFunc(s.calls, func(c running) bool { return c.id == ev.Call.ID })
	if slices.Contains(s.hidden, ev.Call.Name) && ev.Result.Succeeded() {
		return
	}
	mark, text := s.paint(red, "✗"), s.title(ev.Call)
	if ev.Result.Succeeded() {
		mark = s.paint(green, "✓")
	}
	if ev.Result.Status != tools.OK {
		text += " · " + strings.ReplaceAll(string(ev.Result.Status), "_", " ")
	}
	if ev.Result.Exit.Failed() {
		text += " · " + ev.Result.Exit.String()
	}
	if ev.Result.Status.Ran() {
		text += " · " + ev.Took.Round(time.Millisecond).String()
	}
	if ev.Result.Exit.Failed() {
		s.line("%s %s", mark, short(text, s.width-3))
		s.lastLines(display.Output(ev.Result))
		return
	}
	if why, _, _ := strings.Cut(ev.Result.Text(), "\n{"); ev.Result.Status != tools.OK && // an observation may follow
		(!s.plain || !json.Valid([]byte(why))) {
		text += ": " + why
	}
	s.line("%s %s", mark, short(text, s.width-3))
}

// working draws the calls in progress, and how the session stands.
func (s *screen) working() {
	text := s.state
	if len(s.calls) > 0 {
		c := s.calls[0]
		text = fmt.Sprintf("… %s · %v%s", c.title, time.Since(c.since).Truncate(time.Second), c.progress)
		if more := len(s.calls) - 1; more > 0 {
			text += fmt.Sprintf(", and %d more", more)
		}
		text += " | " + s.state
	}
	s.draw(text)
}

func (s *screen) decided(d *agent.Decision) {
	text := cmp.Or(map[agent.DecisionKind]string{machine.Approved: "approved", machine.Rejected: "rejected",
		machine.Edited: "edited and approved", machine.Suggested: "an alternative was suggested",
		machine.AnswerGiven: "answered", machine.AlwaysAllow: "always approved"}[d.Kind], string(d.Kind))
	if d.User != "" {
		text += " by " + clean(d.User)
	}
	s.note("◦ %s", text)
}

// plan prints how far a plan is.
func (s *screen) plan(kind string, value json.RawMessage) {
	var o plan.Overview
	if kind == plan.EventKind && json.Unmarshal(value, &o) == nil && len(o.Steps) > 0 {
		s.changed(o.Run, "", "Plan", fmt.Sprintf("“%s”: %s", o.Title, o.Status))
		s.steps(&o)
	}
}

// mostNotice is how many columns of a notice are printed.
const mostNotice = 1000

// notice prints what the host tells people.
func (s *screen) notice(f *machine.Emitted) {
	var text string
	if f.Kind == agent.NoticeKind && json.Unmarshal(f.Value, &text) == nil {
		s.line("◦ %s", short(text, mostNotice))
	}
}

// steps prints the steps of a plan, with their states.
func (s *screen) steps(o *plan.Overview) {
	for i, step := range o.Steps {
		mark := map[plan.NodeStatus]string{plan.NodeDone: s.paint(green, "  ✓"), plan.NodeFailed: s.paint(red, "  ✗")}
		text := fmt.Sprintf("%s: %s · %s %s", step.ID, cmp.Or(step.Title, step.Work), step.Status, step.Text)
		s.changed(o.Run, step.ID, cmp.Or(mark[step.Status], fmt.Sprintf("  %d", i+1)), text)
	}
}

// changed prints a line about a part of a plan, unless it was shown so before.
func (s *screen) changed(run, part, mark, text string) {
	if key := run + " " + part; s.shown[key] != text {
		s.shown[key] = text
		s.line("%s %s", mark, short(text, s.width-6))
	}
}

// describe prints what a pause asks, and why. Of a long input and a long change it prints the
// beginning, and returns true, unless all is wanted.
func (s *screen) describe(p *agent.Pause, all bool) (cut bool) {
	title := cmp.Or(map[agent.PauseKind]string{agent.PauseApproval: "Approval needed",
		agent.PauseInDoubt:    "It isn't known whether this call took effect",
		agent.PauseCorrection: "This call is invalid"}[p.Kind], "Question")
	s.line("%s: %s", s.paint(bold, title), clean(p.Title))
	until := ""
	if !p.Expires.IsZero() {
		until = p.Expires.Local().Format(time.TimeOnly)
	}
	fields := [][2]string{{"tool", p.Call.Name}, {"why", p.Reason}, {"for", p.For}, {"risk", p.Risk},
		{"refused", p.Refused}, {"until", until}}
	if s.plain || isQuestion(p) { // it has no effect
		fields[0], fields[3] = [2]string{}, [2]string{}
	}
	for _, field := range fields {
		if value := strings.TrimSpace(clean(field[1])); value != "" {
			s.line("  %-7s%s", field[0]+":", value)
		}
	}
	o, planned := plan.Submitted(p.Call.Name, p.Call.Input)
	var lines []string
	switch {
	case planned:
		s.line("  plan:  %s\n         %s", clean(o.Title), clean(o.Why))
		o.Run = p.ID
		s.steps(&o)
	case !isQuestion(p) && !s.plain:
		input := clean(inputOf(p))
		if line := string(p.Call.Input); p.Call.Invalid == "" && len(line) < min(s.width, 90)-9 {
			input = clean(line)
		}
		lines = strings.Split("input: "+strings.ReplaceAll(input, "\n", "\n       "), "\n")
	}
	most := max(s.height-12, 10)
	if p.Preview != "" { // it says better what the input does
		s.line("  it would change:")
		change := strings.Split(strings.TrimRight(clean(p.Preview), "\n"), "\n")
		lines, most = append(change, lines...), min(most, len(change))
	}
	if all || len(lines) == most+1 {
		most = len(lines)
	}
	for _, line := range lines[:min(most, len(lines))] {
		color := map[byte]string{'+': green, '-': red, '@': cyan}[(line + " ")[0]]
		if long := []rune(line); !all && len(long) > 3*s.width {
			line, cut = string(long[:3*s.width-3])+"…", true
		}
		s.line("  %s", s.paint(color, line))
	}
	if cut = cut || len(lines) > most; cut {
		s.note("  … d shows all %d lines", len(lines))
	}
	return cut
}
