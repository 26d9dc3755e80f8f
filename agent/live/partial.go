package live

import (
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// A partial is the reply so far of a model call in progress.
type partial struct{ pieces []*piece }

// A piece is a part of the reply.
type piece struct {
	index int
	first agent.Event     // its first note
	text  strings.Builder // of all its notes
}

func (p *partial) clear() { p.pieces = nil }

// fact clears p at the facts with which a reply is complete, or another one begins, and reports
// whether it is one.
func (p *partial) fact(f agent.Event) (cleared bool) {
	switch f.(type) {
	case *agent.RunStarted, *agent.StepStarted, *agent.Replied, *machine.StepFailed, *agent.RunEnded:
		p.clear()
		return true
	}
	return false
}

// add adds a note.
func (p *partial) add(note agent.Event) {
	switch n := note.(type) {
	case *agent.Reset, *agent.Lagged:
		p.clear()
	case *agent.TextDelta:
		p.write(n.Index, note, n.Text)
	case *agent.ReasoningDelta:
		p.write(n.Index, note, n.Text)
	case *agent.CallBegun:
		p.write(n.Index, note, "")
	case *agent.CallDelta:
		p.write(n.Index, note, n.Text)
	case *agent.PartAdded:
		p.write(n.Index, note, "")
	}
}

func (p *partial) write(index int, note agent.Event, text string) {
	for i := len(p.pieces) - 1; i >= 0; i-- { // most often it is the last one
		if p.pieces[i].index == index {
			p.pieces[i].text.WriteString(text)
			return
		}
	}
	one := &piece{index: index, first: note}
	one.text.WriteString(text)
	p.pieces = append(p.pieces, one)
}

// notes returns the reply so far: one note for each part, and for the arguments of each call.
func (p *partial) notes() (out []agent.Event) {
	for _, one := range p.pieces {
		switch n := one.first.(type) {
		case *agent.TextDelta:
			out = append(out, &agent.TextDelta{NoteMeta: n.NoteMeta, Index: n.Index, Text: one.text.String()})
		case *agent.ReasoningDelta:
			out = append(out, &agent.ReasoningDelta{NoteMeta: n.NoteMeta, Index: n.Index, Text: one.text.String()})
		case *agent.CallBegun:
			out = append(out, n)
			if one.text.Len() > 0 {
				out = append(out, &agent.CallDelta{NoteMeta: n.NoteMeta, Index: n.Index, Text: one.text.String()})
			}
		case *agent.PartAdded:
			out = append(out, n)
		}
	}
	return out
}
