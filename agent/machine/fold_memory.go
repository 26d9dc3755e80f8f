package machine

import (
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// compacted takes over a conversation that was made shorter.
func (m *Machine) compacted(r *RunState, f *Compacted) string {
	if f.Report == nil {
		return "it has no report"
	}
	if len(f.Spans) > 0 {
		messages, first, problem := m.s.applySpans(f.Spans)
		if problem != "" {
			return problem
		}
		if now, was := &messages[first], &m.s.Messages[r.First]; &now.Parts[0] != &was.Parts[0] {
			r.Whole = m.s.Input()
		}
		m.s.Messages, r.First = messages, first
	}
	if f.Usage.Total() > 0 || f.Cost > 0 {
		r.book(f.Usage, f.Cost, f.Priced)
	}
	return ""
}

// respan returns the conversation that spans make of the one there is, and where the input of the run is in it.
func (s *State) applySpans(spans []Span) (out []provider.Message, first int, problem string) {
	at, first, acting := 0, -1, s.Run.Stage == StageActing
	for i, p := range spans {
		if p.From < at || p.To < p.From || p.To > len(s.Messages) || p.From == p.To && len(p.Messages) == 0 {
			return nil, 0, fmt.Sprintf("span %d (%d to %d) doesn't follow, or isn't within %d messages", i, p.From, p.To, len(s.Messages))
		}
		if first < 0 && s.Run.First < p.To {
			first = len(out)
			if in := s.Run.First - p.From; in > 0 { // else it is in what was left out before
				first += in
				if n := len(p.Messages); n > 0 {
					first = len(out) + min(in, n-1)
				}
			}
		}
		if len(p.Messages) > 0 {
			out = append(out, p.Messages...)
		} else {
			out = append(out, s.Messages[p.From:p.To]...)
		}
		at = p.To
	}
	last := &spans[len(spans)-1]
	settled := out
	if acting {
		if at != len(s.Messages) || len(last.Messages) > 0 {
			return nil, 0, "it changes the reply whose calls are open"
		}
		settled = out[:len(out)-1]
	}
	if !orderly(settled) {
		return nil, 0, "its conversation isn't in order"
	}
	if first < 0 {
		first = len(out) - 1
	}
	return out, first, ""
}

func (m *Machine) noteWritten(r *RunState, f *NoteWritten) string {
	was := m.s.Note(f.Category)
	switch {
	case f.Category == "" || f.Index != was.Index+1:
		return fmt.Sprintf("it is note %d of category %q after note %d", f.Index, f.Category, was.Index)
	case !(f.Share >= 0):
		return "its share is none"
	}
	if f.Category == ContextResetCategory { // it comes with the context reset, or says why there is none
		r.ContextResetDue = false
	}
	now := NoteState{f.Category, f.Index, f.Share}
	m.s.Notes = slices.Clone(m.s.Notes) // still() shares it
	if i := slices.Index(m.s.Notes, was); i >= 0 {
		m.s.Notes[i] = now
	} else {
		m.s.Notes = append(m.s.Notes, now)
	}
	r.book(f.Usage, f.Cost, f.Priced)
	return ""
}

// A ChainState is a run's place in a chain, and what the runs before it have tried.
type ChainState struct {
	ContextResetState
	Attempts *Attempts `json:"tried,omitempty"`
}

// contextResets returns how many context resets led to a run.
func (r *RunState) ContextResets() int {
	if r.ContextReset == nil {
		return 0
	}
	return r.ContextReset.Index
}

// Bounds of what is kept of what a person has said.
const (
	mostSaid  = 20
	mostBytes = 4 << 10 // of one message
)

// hear keeps what a person has said, for the runs that go on with the work of this one.
func (r *RunState) keepUserText(text string) {
	text = cutBytes(text, mostBytes)
	said := r.Said[max(len(r.Said)-mostSaid+1, 0):]
	r.Said = append(said[:len(said):len(said)], text) // a copy: still() shares it
}

// takesOver says why a run can't go on with the work of the one before.
func (m *Machine) takesOver(f *RunStarted) string {
	r, h := m.s.Run, f.ContextReset
	switch {
	case r == nil || r.Code != CodeContextReset || h.From != r.ID:
		return fmt.Sprintf("no run %q has handed its work off", h.From)
	case h.Index != r.ContextResets()+1 || h.Prompt < 0 || h.Prompt > len(f.Message.Parts):
		return "its place in the chain is wrong"
	case len(f.History) > 0:
		return "a run that goes on with another's work has no history"
	}
	return ""
}

// chain returns where a run stands that goes on with the work of the newest one, whose conversation is still there.
func (s *State) chain(h *ContextResetState) *ChainState {
	var before *Attempts
	if s.Run.ContextReset != nil {
		before = s.Run.ContextReset.Attempts
	}
	c := &ChainState{*h, before.and(s.Messages[s.Run.First:])}
	c.Attempts.Failed = c.Attempts.Failed.worst()
	return c
}

// carry counts on what the run before has counted: what limits one run limits the chain.
func (r *RunState) carry(before *RunState, c *ChainState) {
	r.ContextReset = c
	r.Step, r.PhaseStep, r.Lost = before.Step, before.PhaseStep, before.Lost
	r.Usage, r.Cost, r.Unpriced, r.Worked = before.Usage, before.Cost, before.Unpriced, before.Worked
	r.Tools, r.SentBack, r.Corrected = before.Tools, before.SentBack, before.Corrected
	r.ToolNames = before.ToolNames
	r.Model, r.Said = before.Model, before.Said
}

func (m *Machine) revoked(f *RuleRevoked) string {
	n := len(m.s.Rules)
	m.s.Rules = slices.DeleteFunc(m.s.Rules, func(r Rule) bool { return r.Tool == f.Tool })
	if len(m.s.Rules) == n {
		return fmt.Sprintf("there is no standing approval of %q", f.Tool)
	}
	return ""
}

// undone folds in what was undone. The conversation keeps the calls: the model is told.
func (m *Machine) undone(f *Undone) string {
	for _, c := range f.Calls {
		if c.Call == nil || c.Call.ID == "" {
			return "it names no call"
		}
	}
	if len(f.Message.Parts) == 0 {
		if len(f.Calls) == 0 {
			return "it holds nothing"
		}
		return ""
	}
	if problem := saidBy(provider.RoleUser, &f.Message); problem != "" {
		return problem
	}
	m.s.Messages = append(m.s.Messages, f.Message)
	return ""
}

// ContextResetCategory is the category of the notes that context resets write.
const ContextResetCategory = "context-reset"
