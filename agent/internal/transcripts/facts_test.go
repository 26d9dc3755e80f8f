package transcripts

import (
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// fact returns a fact as a line: its kind and the fields that matter.
func (n *names) fact(f agent.Fact) string {
	meta := f.Envelope()
	var b line
	b.add("%s", machine.Record(f).Kind)
	switch f := f.(type) {
	case *agent.RunStarted:
		b.add("%s %s", meta.Run(), n.message(f.Message))
		b.with("mode", f.Mode)
		b.with("key", f.Key)
		b.with("of", f.From)
		if f.Replaces != nil {
			b.with("replaces", fmt.Sprint(f.Replaces.Start))
			if note := f.Replaces.Note; note != "" {
				b.add("with the note %s", n.quoted(note))
			}
		}
	case *agent.StepStarted:
		b.add("%d", meta.Step)
		b.with("mode", f.Mode)
		b.with("last, because of", f.Final)
		if f.Note != "" {
			b.add("with the note %s", n.quoted(f.Note))
		}
	case *agent.Replied:
		b.add("%s", n.message(f.Message))
		if f.Stop != provider.StopDone && f.Stop != provider.StopToolCalls {
			b.with("stop", string(f.Stop))
		}
	case *machine.StepFailed:
		b.add("%s", f.Class)
		if text := f.Partial.Text(); text != "" {
			b.add("after %s", n.quoted(text))
		}
	case *agent.ToolStarted:
		b.add("%s", call(f.Call))
	case *agent.ToolFinished:
		b.add("%s %s %s", meta.Call, f.Result.Status, n.quoted(f.Result.Text()))
	case *agent.Suspended:
		b.add("%s", n.pause(&f.Pause))
	case *machine.Decided:
		b.add("%s %s", f.Decision.ID, f.Decision.Kind)
		b.with("for", f.Decision.Scope)
	case *machine.Steered:
		b.add("%s", n.message(f.Message))
		b.with("key", f.Key)
	case *machine.SentBack:
		b.add("%s %s", f.Why, n.quoted(f.Text))
	case *machine.ModeChanged:
		b.add("%s to %s", f.From, f.To)
	case *machine.Continued:
		for _, c := range f.Changes {
			b.add("%s changed", c.Name)
		}
	case *machine.Compacted:
		b.add("%d messages to %d (%s)", f.Report.MessagesBefore, f.Report.MessagesAfter, f.Report.Trigger)
	case *machine.RuleRevoked:
		b.add("%s", f.Tool)
	case *machine.Undone:
		for _, c := range f.Calls {
			b.add("%s", c.Call.ID)
			if c.Why != "" {
				b.add("not, %s", n.quoted(c.Why))
			}
		}
		if text := f.Message.Text(); text != "" {
			b.add("%s", n.quoted(text))
		}
	case *machine.Snapshot:
		b.add("of %d messages", len(f.State.Messages))
	case *machine.TitleChanged:
		b.add("%q", f.Title)
	case *machine.LabelChanged:
		b.add("%s=%q", f.Key, f.Value)
	case *machine.RunEnded:
		b.add("%s", f.Status)
		b.with("code", f.Code)
	}
	b.with("by", meta.By)
	return n.in(b.String())
}

// A line is words.
type line []string

func (b *line) add(format string, args ...any) { *b = append(*b, fmt.Sprintf(format, args...)) }

// with adds what isn't empty, with its name.
func (b *line) with(name, value string) {
	if value != "" {
		b.add("(%s %s)", name, value)
	}
}

func (b line) String() string { return strings.Join(b, " ") }

// message returns what a message says and calls, or the results that it holds.
func (n *names) message(m provider.Message) string {
	var b, calls line
	if text := m.Text(); text != "" {
		b.add("%s", n.quoted(text))
	}
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			calls.add("%s", call(p.Call))
		case p.Result != nil:
			b.add("%s %s", p.Result.CallID, n.quoted(p.Result.Text()))
		}
	}
	if text := m.Refusal(); text != "" {
		b.add("refuses %s", n.quoted(text))
	}
	if len(calls) > 0 {
		b.add("calls %s", strings.Join(calls, ", "))
	}
	if len(b) == 0 {
		b.add("nothing")
	}
	return n.in(b.String())
}

func call(c *provider.ToolCall) string {
	input := string(c.Input)
	if c.Invalid != "" {
		input = c.Invalid
	}
	return fmt.Sprintf("%s %s %s", c.ID, c.Name, input)
}

func (n *names) pause(p *agent.Pause) string {
	var b line
	if p.Kind == machine.PauseAgent {
		b.add("%s for its agent, which waits for", call(&p.Call))
		for _, nested := range p.Flat() {
			b.add("%s", nested.ID)
		}
		return n.in(b.String())
	}
	b.add("%s %s of %s", p.ID, p.Kind, call(&p.Call))
	if p.Always && len(p.Scopes) > 1 {
		b.add("(always possible, for %s)", p.Scopes[1].Name)
	} else if p.Always {
		b.add("(always possible)")
	}
	if p.Preview != "" {
		b.add("shows %s", n.quoted(p.Preview))
	}
	if p.Refused != "" {
		b.add("instead of %s, refused: %s", p.Replaces[len(p.Replaces)-1], n.quoted(p.Refused))
	}
	return n.in(b.String())
}
