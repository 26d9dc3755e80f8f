package machine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// This file folds in the facts that change what the conversation contains, and what the session
// remembers besides it: compactions, notes, context resets, standing approvals and undone effects.

// apply replaces the conversation by a shorter one.
func (f *Compacted) apply(m *Machine, r *RunState) string {
	if f.Report == nil {
		return "it has no report"
	}
	if len(f.Spans) > 0 {
		messages, first, kept, problem := m.s.applySpans(f.Spans)
		if problem != "" {
			return problem
		}
		if !kept {
			r.Whole = m.s.Input()
		}
		m.s.Outside = m.s.compactedOutside(f.Spans)
		m.s.Messages, r.First = messages, first
	}
	if f.Usage.Total() > 0 || f.Cost > 0 {
		r.addUsage(f.Usage, f.Cost, f.Priced)
	}
	return ""
}

// applySpans returns the conversation that spans make of the present one, the index of the run's
// input in it, and whether the input was kept as it is. If the input was left out, the index is
// that of the message that follows. No spans make an empty conversation.
func (s *State) applySpans(spans []Span) (out []provider.Message, first int, kept bool, problem string) {
	at, first, acting := 0, -1, s.Run.Stage == StageActing
	for i, p := range spans {
		if p.From < at || p.To < p.From || p.To > len(s.Messages) || p.From == p.To && len(p.Messages) == 0 {
			return nil, 0, false, fmt.Sprintf("span %d (%d to %d) doesn't follow, or isn't within %d messages", i,
				p.From, p.To, len(s.Messages))
		}
		if first < 0 && s.Run.First < p.To {
			in := max(s.Run.First-p.From, 0)
			if len(p.Messages) > 0 {
				in = min(in, len(p.Messages)-1)
			}
			first, kept = len(out)+in, len(p.Messages) == 0 && s.Run.First >= p.From
		}
		if len(p.Messages) > 0 {
			out = append(out, p.Messages...)
		} else {
			out = append(out, s.Messages[p.From:p.To]...)
		}
		at = p.To
	}
	closed := out
	if acting {
		if at != len(s.Messages) || len(spans[len(spans)-1].Messages) > 0 {
			return nil, 0, false, "it changes the reply whose calls are open"
		}
		closed = out[:len(out)-1]
	}
	if !isWellFormed(closed) {
		return nil, 0, false, "its conversation isn't well formed"
	}
	if first < 0 {
		first = len(out) - 1
	}
	return out, first, kept, ""
}

// Spans returns the spans that make the conversation after of the conversation before: see
// [Compacted] and [Replaced].Before. Messages are compared by the address of their first part,
// because messages aren't changed once they are shared.
func Spans(before, after []provider.Message) (out []Span) {
	index := make(map[*provider.Part]int, len(before))
	for i := range before {
		if p := before[i].Parts; len(p) > 0 {
			index[&p[0]] = i
		}
	}
	at := 0 // of before: what comes before it is accounted for
	was := func(m *provider.Message) int {
		if len(m.Parts) > 0 {
			if i, ok := index[&m.Parts[0]]; ok && i >= at && len(before[i].Parts) == len(m.Parts) &&
				before[i].Role == m.Role {
				return i
			}
		}
		return -1
	}
	for i := 0; i < len(after); {
		begin, from := i, was(&after[i])
		if from >= 0 { // it stays, and so do those that follow it as before
			for at = from; i < len(after) && was(&after[i]) == at; i++ {
				at++
			}
			out = append(out, Span{From: from, To: at})
			continue
		}
		to := len(before)
		for i++; i < len(after); i++ {
			if next := was(&after[i]); next >= 0 {
				to = next
				break
			}
		}
		out = append(out, Span{From: at, To: to, Messages: after[begin:i:i]})
		at = to
	}
	return out
}

// rewound returns the conversation before a run that is about to start: that of the session, or, if
// the run replaces others, that before them with the note about their effects.
func (s *State) rewound(f *RunStarted) (messages []provider.Message, problem string) {
	p := f.Replaces
	switch {
	case p == nil:
		return s.Messages, ""
	case s.Run == nil || p.Start == 0 || p.Start >= f.Seq || f.ContextReset != nil || len(f.History) > 0:
		return nil, "it replaces no earlier run, continues another's work, or has a history"
	}
	messages, _, _, problem = s.applySpans(p.Before)
	if p.Note != "" {
		messages = append(messages, provider.Message{Role: provider.RoleUser,
			Parts: []provider.Part{memory.ToldBefore(p.Note)}})
	}
	if problem == "" {
		problem = checkOutside(p.Outside, len(messages))
	}
	return messages, problem
}

// A NoteState is the newest note of a category, for tools that read logs.
type NoteState struct {
	Category string  `json:"category"`
	Index    int     `json:"index"` // among the notes of the category, from 1; 0 before the first
	Share    float64 `json:"share"` // how full the context window was
}

func (f *NoteWritten) apply(m *Machine, r *RunState) string {
	was := m.s.Note(f.Category)
	switch {
	case f.Category == "" || f.Index != was.Index+1:
		return fmt.Sprintf("it is note %d of category %q after note %d", f.Index, f.Category, was.Index)
	case !(f.Share >= 0):
		return "its share is negative, or not a number"
	}
	if f.Category == ContextResetCategory { // the context reset was carried out, or failed
		r.ContextResetDue = false
	}
	now := NoteState{f.Category, f.Index, f.Share}
	m.s.Notes = slices.Clone(m.s.Notes) // a Clone of the machine shares the slice
	if i := slices.Index(m.s.Notes, was); i >= 0 {
		m.s.Notes[i] = now
	} else {
		m.s.Notes = append(m.s.Notes, now)
	}
	r.addUsage(f.Usage, f.Cost, f.Priced)
	return ""
}

// A chainState is a run's place in a chain of runs, and what the runs before it have tried.
type chainState struct {
	ContextResetState
	First    string    `json:"first,omitempty"` // the first run of the chain
	Attempts *Attempts `json:"attempts,omitempty"`
}

// ContextResetCategory is the category of the notes that context resets write.
const ContextResetCategory = "context_reset"

// Bounds of RunState.UserMessages.
const (
	maxUserMessages     = 20
	maxUserMessageBytes = 4 << 10 // of one message
)

// checkContextReset says why a run can't continue the work of the one before it.
func (m *Machine) checkContextReset(f *RunStarted) string {
	r, c := m.s.Run, f.ContextReset
	switch {
	case r == nil || r.Code != CodeContextReset || c.From != r.ID:
		return fmt.Sprintf("run %q didn't end with a context reset", c.From)
	case c.Index != r.ContextResets()+1 || c.Prompt < 0 || c.Prompt > len(f.Message.Parts):
		return "its place in the chain is wrong"
	case len(f.History) > 0:
		return "a run that continues another's work has no history"
	}
	return ""
}

// extendChain returns the place in the chain of the run that continues the newest one's work. The
// conversation must still be that of the newest run.
func (s *State) extendChain(reset *ContextResetState) *chainState {
	var earlier *Attempts
	first := s.Run.ID
	if before := s.Run.ContextReset; before != nil {
		earlier, first = before.Attempts, before.First
	}
	c := &chainState{*reset, first, earlier.with(s.Messages[s.Run.First:])}
	c.Attempts.Failed = c.Attempts.Failed.MostFrequent()
	return c
}

// inherit copies the counts of the run before: limits apply to the whole chain.
func (r *RunState) inherit(before *RunState, c *chainState) {
	r.ContextReset, r.Start, r.Queue = c, before.Start, before.Queue
	r.Step, r.PhaseStep, r.Counts = before.Step, before.PhaseStep, before.Counts
	r.Usage, r.Cost, r.Unpriced, r.Worked = before.Usage, before.Cost, before.Unpriced, before.Worked
	r.Tools = maps.Clone(before.Tools)
	r.ToolNames, r.Effects = before.ToolNames, before.Effects
	r.Model, r.UserMessages, r.Ancestors = before.Model, before.UserMessages, before.Ancestors
}

func (f *RuleRevoked) apply(m *Machine, _ *RunState) string {
	n := len(m.s.Rules)
	m.s.Rules = slices.DeleteFunc(slices.Clone(m.s.Rules), func(r Rule) bool { return r.Tool == f.Tool })
	if len(m.s.Rules) == n {
		return fmt.Sprintf("there is no standing approval of %q", f.Tool)
	}
	return ""
}

// apply adds the message for the model. The conversation keeps the calls.
func (f *Undone) apply(m *Machine, r *RunState) string {
	for _, c := range f.Calls {
		if c.Call == nil || c.Call.ID == "" {
			return "it names no call"
		}
	}
	if len(f.Message.Parts) == 0 {
		if len(f.Calls) == 0 {
			return "it is empty"
		}
		r.removeEffects(f.Calls)
		return ""
	}
	if problem := checkMessage(provider.RoleUser, &f.Message); problem != "" {
		return problem
	}
	r.removeEffects(f.Calls)
	m.s.Messages = append(m.s.Messages, f.Message)
	if m.s.HadOutside && len(f.Calls) > 0 { // why they weren't undone may be text from outside
		m.s.addOutside([]string{"an undo"})
	}
	return ""
}
