package machine

import (
	"fmt"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// What a run brought into the conversation isn't sent again if the run has failed because its
// request was too long: its input, what was sent to it, and what its calls returned. The next run
// leaves it out with a [Compacted] (see [LeaveOut]); the log keeps it. Otherwise each later request
// would be too long, too.

// TooLong reports whether the newest run has failed because its request was too long.
func (s *State) TooLong() bool {
	r := s.Run
	return r != nil && r.Status == Failed && (r.Code == CodeContext ||
		r.Code == CodeProvider && r.Problem != nil && r.Problem.Kind == provider.ProblemLength)
}

// LeaveOut returns the part of the conversation that the newest runs brought in that failed because
// their requests were too long, with what takes its place: a note to the model. In logs of older
// versions these may be several runs, one after another. facts are those of the session, in order,
// from its beginning or from a [Snapshot] on. The Span has no messages if the newest run isn't such
// a run. The error is a *[FactError].
func LeaveOut(session string, facts []Fact) (Span, error) {
	if len(facts) == 0 {
		return Span{}, nil
	}
	m, t := NewAfter(session, facts[0].Envelope().Seq-1), tooLong{}
	for _, f := range facts {
		if err := m.Apply(f); err != nil {
			return Span{}, err
		}
		t.follow(f, &m.s)
	}
	if !m.s.TooLong() {
		return Span{}, nil
	}
	return t.leaveOut(m.s.Messages), nil
}

// tooLong is what the newest runs brought in that failed for their length, as far as it was
// followed.
type tooLong struct {
	failed   bool // there are such runs
	from, to int  // of the messages
}

// follow looks at a fact that was just applied.
func (t *tooLong) follow(f Fact, s *State) {
	switch f := f.(type) {
	case *Snapshot:
		if t.to == 0 && s.Run != nil { // the first fact
			*t = tooLong{failed: s.TooLong(), from: s.Run.First, to: len(s.Messages)}
		}
	case *RunStarted:
		if !t.failed || f.ContextReset != nil || f.Replaces != nil {
			*t = tooLong{from: s.Run.First}
		}
	case *Replied: // what was before the run isn't too long
		*t = tooLong{from: s.Run.First}
	case *Compacted:
		if len(f.Spans) > 0 {
			*t = tooLong{s.TooLong(), max(s.Run.First, 0), len(s.Messages)}
		}
	case *RunEnded:
		switch {
		case f.Status == Paused:
		case s.TooLong():
			t.failed, t.to = true, len(s.Messages)
		case t.failed: // it says nothing about the length
			t.to = len(s.Messages)
		}
	}
}

// leaveOut returns what the runs brought into messages, and what takes its place.
func (t *tooLong) leaveOut(messages []provider.Message) Span {
	out := Span{From: t.from, To: t.to}
	for out.From > 0 && messages[out.From].Role == provider.RoleTool { // a compaction has changed the input
		out.From--
	}
	var told []provider.Part
	var what []string
	for _, m := range messages[out.From:out.To] {
		before, parts := memory.Told(&m)
		if told = append(told, before...); !memory.IsHostMessage(&m) {
			what = append(what, contents(m.Role, parts)...)
		}
	}
	if len(told) > 0 {
		out.Messages = append(out.Messages, provider.Message{Role: provider.RoleUser, Parts: told})
	}
	out.Messages = append(out.Messages, memory.HostMessage("Note: the following was left out here and wasn't "+
		"answered, because the request with it was too long: "+listed(what)))
	return out
}

// contents names what a message brought in, with sizes.
func contents(role provider.Role, parts []provider.Part) (list []string) {
	for i := range parts {
		switch p := &parts[i]; {
		case p.Result != nil:
			size := 0
			for k := range p.Result.Parts {
				if size += len(p.Result.Parts[k].Text); p.Result.Parts[k].Media != nil {
					size += len(p.Result.Parts[k].Media.Data)
				}
			}
			list = append(list, fmt.Sprintf("the result of %s (%d bytes)", p.Result.Name, size))
		case role != provider.RoleUser:
		case p.Media != nil:
			list = append(list, CleanName(fmt.Sprintf("the file %q (%s, %d bytes)", p.Media.Name, p.Media.Type,
				len(p.Media.Data))))
		case p.Text != "":
			list = append(list, fmt.Sprintf("the user's text %s (%d bytes)", quote(p.Text), len(p.Text)))
		}
	}
	return list
}
