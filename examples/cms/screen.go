package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// A screen prints the events of runs line by line.
type screen struct {
	w      io.Writer
	colour bool
	open   bool   // the last line has no line break yet
	voice  string // kind of the last output of the model: "", text or thought
	call   string // id of the call that was shown last
	failed error  // the first write error
}

func newScreen(w io.Writer) *screen {
	return &screen{w: w, colour: isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

// Colors, as ANSI codes.
const (
	faint = "2"
	bold  = "1"
	green = "32"
	red   = "31"
)

func (s *screen) paint(colour, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// print prints text without changing it.
func (s *screen) print(text string) {
	if text != "" {
		if _, err := io.WriteString(s.w, text); err != nil && s.failed == nil {
			s.failed = err
		}
		s.open = !strings.HasSuffix(text, "\n")
	}
}

// line prints a line, after ending the current one.
func (s *screen) line(format string, args ...any) {
	s.endLine()
	s.print(fmt.Sprintf(format, args...) + "\n")
}

func (s *screen) endLine() {
	if s.open {
		s.print("\n")
	}
	s.open, s.voice = false, ""
}

// show prints an event.
func (s *screen) show(ev agent.Event) {
	switch ev := ev.(type) {
	case *agent.TextDelta:
		s.say("text", "", ev.Text)
	case *agent.ReasoningDelta:
		s.say("thought", faint, ev.Text)
	case *agent.ToolStarted:
		s.line("%s %s %s", s.paint(bold, "→"), s.paint(bold, ev.Call.Name), short(string(ev.Call.Input), 200))
		s.call = ev.Call.ID
	case *agent.ToolFinished:
		s.finished(ev)
	case *machine.Decided:
		s.decided(ev)
	case *agent.Waiting:
		until := ""
		if !ev.Until.IsZero() {
			until = " until " + ev.Until.Local().Format(time.TimeOnly)
		}
		s.line("%s", s.paint(faint, fmt.Sprintf("… waiting (%s)%s", ev.Reason, until)))
	case *agent.Reset:
		s.line("%s", s.paint(faint, "… the answer starts again: "+ev.Why))
	case *machine.Compacted:
		s.line("%s", s.paint(faint,
			fmt.Sprintf("… the conversation was shortened: %d to %d tokens", ev.Report.Before, ev.Report.After)))
	case *agent.MemoryWarning:
		s.line("%s", s.paint(faint, "… memory: "+short(ev.Text, 300)))
	case *agent.RunEnded:
		s.endLine()
	}
}

// say prints a part of the model's answer; thoughts are marked.
func (s *screen) say(voice, colour, text string) {
	if s.voice != voice {
		s.endLine()
		s.voice = voice
		if voice == "thought" {
			s.print(s.paint(faint, "· "))
		}
	}
	s.print(s.paint(colour, text))
}

func (s *screen) finished(ev *agent.ToolFinished) {
	what := ""
	if ev.Call.ID != s.call { // several calls run at a time, or it was never started
		what = ev.Call.Name + " "
	}
	took := ""
	if ev.Result.Status.Ran() {
		took = " in " + round(ev.Took)
	}
	if ev.Result.Status == tools.OK {
		s.line("%s", s.paint(green, "✓ "+what+"ok"+took))
		return
	}
	mark, colour := "✗ ", red
	if ev.Result.Status.Good() {
		mark, colour = "✓ ", green
	}
	status := strings.ReplaceAll(string(ev.Result.Status), "_", " ")
	s.line("%s: %s", s.paint(colour, mark+what+status+took), short(firstLine(ev.Result.Text()), 300))
}

func (s *screen) decided(ev *machine.Decided) {
	d := &ev.Decision
	text := map[agent.DecisionKind]string{
		machine.Approved: "approved", machine.Rejected: "rejected", machine.Edited: "edited and approved",
		machine.Suggested:   "an alternative was suggested",
		machine.AnswerGiven: "answered", machine.AlwaysAllow: "always approved",
		machine.Expired: "nobody decided in time", machine.Superseded: "closed",
	}[d.Kind]
	if d.User != "" {
		text += " by " + d.User
	}
	s.line("%s", s.paint(faint, "◦ "+text))
}

// round formats a duration for a person.
func round(d time.Duration) string {
	if d < time.Millisecond {
		return "under 1ms"
	}
	return d.Round(time.Millisecond).String()
}

// firstLine returns text without an observation for the model that follows it.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n{")
	return text
}

// short returns text in one line of at most n characters.
func short(text string, n int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= n {
		return string(runes)
	}
	return string(runes[:n]) + "…"
}
