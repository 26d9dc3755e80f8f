package machine

import (
	"slices"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// What a run brought into the conversation isn't sent again if the run has failed because its
// request was too long: its input, what was sent to it, and what its calls returned. The next run
// leaves it out with a [Compacted] (see [LeaveOut]); the log keeps it. Otherwise each later request
// would be too long, too. The model still reads which calls were made that had or may have had an
// effect, so that it doesn't make them again: see toolongnote.go.

// TooLong reports whether the newest run has failed because its request was too long.
func (s *State) TooLong() bool {
	r := s.Run
	return r != nil && r.Status == Failed && (r.Code == CodeContext ||
		r.Code == CodeProvider && r.Problem != nil && r.Problem.Kind == provider.ProblemLength)
}

// LeaveOut returns the part of the conversation that the newest runs brought in that failed because
// their requests were too long, with what takes its place: the user's messages of up to 2,000 bytes
// of text, and a note to the model. models are those that the runs asked for, one for each run, in
// order; "" is the provider's default, or unknown. There are several if a run went on with what was
// too long for another, and in logs of older versions. facts are those of the session, in order,
// from its beginning or from a [Snapshot] on. The Span has no messages if the newest run isn't such
// a run, or if there is nothing but such messages of the user. The error is a *[FactError].
func LeaveOut(session string, facts []Fact) (span Span, models []string, err error) {
	if len(facts) == 0 {
		return Span{}, nil, nil
	}
	m, t := NewAfter(session, facts[0].Envelope().Seq-1), tooLong{}
	for _, f := range facts {
		if err := m.Apply(f); err != nil {
			return Span{}, nil, err
		}
		t.follow(f, &m.s)
	}
	if !m.s.TooLong() {
		return Span{}, nil, nil
	}
	return t.leaveOut(m.s.Messages), t.models, nil
}

// tooLong is what the newest runs brought in that failed for their length, as far as it was
// followed.
type tooLong struct {
	failed   bool // there are such runs
	from, to int  // of the messages
	calls    []madeCall
	own      int      // the index in calls of the first one of the newest run
	models   []string // that the runs asked for
	model    string   // that the newest run asks for
}

// restart forgets the runs before the newest one.
func (t *tooLong) restart(from int) {
	t.failed, t.from, t.to, t.models = false, from, 0, nil
	t.calls, t.own = t.calls[t.own:], 0
}

// follow looks at a fact that was just applied.
func (t *tooLong) follow(f Fact, s *State) {
	switch f := f.(type) {
	case *Snapshot:
		if t.to == 0 && s.Run != nil { // the first fact
			*t = tooLong{failed: s.TooLong(), from: s.Run.First, to: len(s.Messages), calls: callsOf(s),
				model: s.Run.Model}
			if t.failed {
				t.models = []string{t.model}
			}
		}
	case *StepStarted:
		t.model = f.Model
	case *RunStarted:
		t.model = f.Model
		if f.ContextReset != nil { // it is the same request
			t.failed, t.from, t.to = false, s.Run.First, 0
			break
		}
		if t.own = len(t.calls); !t.failed || f.Replaces != nil {
			t.restart(s.Run.First)
		}
	case *Replied: // what was before the run isn't too long
		t.restart(s.Run.First)
	case *ToolStarted:
		c := t.call(f.Call)
		c.started, c.readOnly = true, f.ReadOnly
	case *ToolFinished:
		c := t.call(f.Call)
		c.result, c.status, c.outside = &f.Result.ToolResult, f.Result.Status, f.Result.Outside
	case *Undone:
		t.calls = slices.DeleteFunc(t.calls, func(c madeCall) bool {
			return slices.ContainsFunc(f.Calls, func(u UndoneCall) bool {
				return u.Why == "" && u.Call.ID == c.call.ID
			})
		})
		t.own = min(t.own, len(t.calls))
	case *Compacted:
		if len(f.Spans) > 0 {
			for i := range t.calls {
				if c := &t.calls[i]; c.outside { // what it returned may have left the conversation
					c.result = new(provider.ToolResult)
				}
			}
			models := t.models
			t.restart(max(s.Run.First, 0))
			if t.failed, t.to = s.TooLong(), len(s.Messages); t.failed {
				t.models = models
			}
		}
	case *RunEnded:
		switch {
		case f.Status == Paused:
		case s.TooLong():
			t.failed, t.to, t.models = true, len(s.Messages), append(t.models, t.model)
		case t.failed: // it says nothing about the length
			t.to = len(s.Messages)
		}
	}
}

// A message of the user with at most maxKeptText bytes of text stays: it isn't what made the
// request too long. Such messages have at most maxKept bytes together.
const maxKeptText, maxKept = 2_000, 20_000

// leaveOut returns what the runs brought into messages, and what takes its place.
func (t *tooLong) leaveOut(messages []provider.Message) Span {
	out := Span{From: t.from, To: t.to}
	for out.From > 0 && messages[out.From].Role == provider.RoleTool { // a compaction has changed the input
		out.From--
	}
	left := messages[out.From:out.To]
	note := newLeftNote(t.calls, left)
	whole, size := true, 0 // nothing is left out, and the bytes of what stays
	for i := range left {
		m := &left[i]
		kept, parts := memory.Told(m)
		switch {
		case memory.IsHostMessage(m):
		case m.Role == provider.RoleUser && len(m.Text()) <= min(maxKeptText, maxKept-size):
			size += len(m.Text())
			media := func(p provider.Part) bool { return p.Media != nil }
			whole = whole && !slices.ContainsFunc(parts, media)
			note.add(m.Role, slices.DeleteFunc(slices.Clone(parts), func(p provider.Part) bool { return !media(p) }))
			kept = append(kept, slices.DeleteFunc(slices.Clone(parts), media)...)
		default:
			whole = false
			note.add(m.Role, parts)
		}
		if len(kept) > 0 {
			out.Messages = append(out.Messages, provider.Message{Role: provider.RoleUser, Parts: kept})
		}
	}
	if whole {
		return Span{}
	}
	out.Messages = append(out.Messages, memory.HostMessage(note.text()))
	return out
}
