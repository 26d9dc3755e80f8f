package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A ForkError says why a session can't be forked as asked.
type ForkError struct {
	From, To string
	Problem  string
}

// Error says what would be right.
func (e *ForkError) Error() string {
	return fmt.Sprintf("agent: can't fork session %q into %q: %s", e.From, e.To, e.Problem)
}

// Fork copies a session up to the fact with number upTo, or whole if that is 0, into a new one, and returns the number of
// the last fact that it has copied: the newest up to there after which no call of the model or of a tool was open. Pauses
// and calls in doubt are therefore not carried over, and neither are standing approvals, which belong to one session. A run
// that was under way there counts as stopped with [CodeForked] in the copy, whose conversation continues with a prompt; the
// original isn't touched, and may be running (without a journal that is a *[BusyError]).
//
// A copy has the conversation, not the effects: what the calls of a run did belongs to the session in which that run was.
// Only there [Agent.Undo] takes it back; in the copy that is an *[UndoError] with the owner's name, also in a copy of the
// copy. Runs that begin in the copy are its own.
func (a *Agent) Fork(ctx context.Context, from, to string, upTo uint64) (uint64, error) {
	ctx = orBackground(ctx)
	if to == from {
		return 0, &ForkError{From: from, To: to, Problem: "the copy needs a name of its own"}
	}
	facts, err := a.Facts(ctx, from)
	if err != nil {
		return 0, err
	}
	if len(facts) == 0 {
		return 0, &NothingOpenError{Session: from}
	}
	own, err := copies(from, to, facts, upTo)
	if err != nil {
		return 0, err
	}
	if len(own) == 0 {
		return 0, &ForkError{From: from, To: to, Problem: fmt.Sprintf("nothing was finished by fact %d; the log begins with fact %d", upTo, facts[0].Envelope().Seq)}
	}
	return facts[len(own)-1].Envelope().Seq, a.copyTo(ctx, from, to, own)
}

// copies returns facts of a session as those of another, up to the last one, with a number up to upTo, after which nothing
// is open.
func copies(from, to string, facts []Fact, upTo uint64) ([]Fact, error) {
	var own []Fact
	keep, m := 0, NewMachine(to)
	for i, f := range facts {
		if upTo > 0 && f.Envelope().Seq > upTo {
			break
		}
		if next := facts[0].Envelope().Seq + uint64(i); f.Envelope().Seq != next {
			return nil, &FactError{Session: to, Seq: f.Envelope().Seq, Kind: f.kind(), Problem: fmt.Sprintf("its number should be %d", next)}
		}
		f, err := under(f, to, uint64(i)+1)
		if err != nil {
			return nil, err
		}
		f = ownedBy(f, from)
		if err := m.Apply(f); err != nil {
			return nil, err
		}
		own = append(own, f)
		switch r := m.s.Run; {
		case !r.open(), r.Stage == stageReady, r.Stage == stageSaid:
			keep = len(own)
		}
	}
	return own[:keep], nil
}

// ownedBy returns a fact with the session in which its run was, if it says that of runs, and doesn't yet: in a copy of a copy
// that is the first.
func ownedBy(f Fact, session string) Fact {
	switch f := f.(type) {
	case RunStarted:
		f.From = cmp.Or(f.From, session)
		return f
	case Snapshot:
		f.From = cmp.Or(f.From, session)
		return f
	}
	return f
}

// copyTo makes a new session of facts, with the end of what they leave open: in one append, so that nobody resumes half
// of it after a crash.
func (a *Agent) copyTo(ctx context.Context, from, to string, facts []Fact) error {
	in := Input{Session: to, Prompt: "x"}
	if err := in.check(new(DefaultLimits())); err != nil || to == "" || strings.HasPrefix(to, unnamedPrefix) {
		return &ForkError{From: from, To: to, Problem: "the new session needs a name that would do for Input.Session"}
	}
	m, err := Replay(to, facts...)
	if err != nil {
		return err
	}
	x := a.open(ctx)
	defer x.cancel(nil)
	if err := x.enter(&Input{Session: to}); err != nil {
		return err
	}
	defer x.leave()
	if x.m.s.Seq > 0 || x.m.s.Run != nil {
		return &ForkError{From: from, To: to, Problem: "there is a session by that name"}
	}
	r := m.s.Run
	x.origin = &Origin{Session: to, Run: r.ID, Parent: r.Parent, Agent: r.Agent, Trace: r.Trace}
	meta := func() Meta {
		meta := x.stamp(len(facts), "")
		meta.Step = r.Step
		return meta
	}
	for _, rule := range m.s.Rules {
		facts = append(facts, RuleRevoked{Meta: meta(), Tool: rule.Tool})
	}
	if r.open() {
		facts = append(facts, RunEnded{Meta: meta(), Status: Stopped, Code: CodeForked, Reason: "forked from session " + from})
	}
	x.lock()
	defer x.mu.Unlock()
	return x.recordLocked(nil, facts...)
}

// under returns a fact as one of a session, with a number there.
func under(f Fact, session string, seq uint64) (Fact, error) {
	rec, err := EncodeFact(f)
	if err != nil {
		return nil, err
	}
	rec.Seq = seq
	return DecodeFact(session, rec)
}

// exported is a line of an export.
type exported struct {
	Session string          `json:"session"`
	Seq     uint64          `json:"seq"`
	Time    time.Time       `json:"time"`
	Kind    string          `json:"kind"`
	V       int             `json:"v"`
	Data    json.RawMessage `json:"data"`
}

// Export writes the log of a session as JSON lines, a fact each: session, seq, time, kind, v (the version of its form) and
// data. An unknown session is a *[NothingOpenError]. What w was given when an error comes stands.
func (a *Agent) Export(ctx context.Context, session string, w io.Writer) error {
	ctx = orBackground(ctx)
	if w == nil {
		return fault.Errorf(fault.Invalid, "agent: exporting session %q: the Writer is nil", session)
	}
	facts, err := a.Facts(ctx, session)
	if err != nil {
		return err
	}
	if len(facts) == 0 {
		return &NothingOpenError{Session: session}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, f := range facts {
		rec, err := EncodeFact(f)
		if err != nil {
			return err
		}
		line := exported{Session: session, Seq: rec.Seq, Time: rec.Time, Kind: rec.Kind, V: rec.V, Data: rec.Data}
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("agent: exporting session %q: %w", session, err)
		}
	}
	return nil
}

// Import makes a session, by the name given, of what [Agent.Export] has written, from its first line on. Every fact has to
// follow from those before it, and to be of the same session; nothing is run. A session by that name is a *[ForkError]. As
// that of a fork, its effects belong to the session that was exported: see [Agent.Fork], and Rollback.Moved.
func (a *Agent) Import(ctx context.Context, session string, r io.Reader) error {
	ctx = orBackground(ctx)
	if r == nil {
		return fault.Errorf(fault.Invalid, "agent: importing session %q: the Reader is nil", session)
	}
	var facts []Fact
	from := ""
	for dec := json.NewDecoder(r); ; {
		var line exported
		err := dec.Decode(&line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("agent: importing session %q: line %d: %w", session, len(facts)+1, err)
		}
		f, err := DecodeFact(session, journal.Record{Seq: line.Seq, Time: line.Time, Kind: line.Kind, V: line.V, Data: line.Data})
		if err != nil {
			return err
		}
		if problem := line.misplaced(f, from, len(facts)); problem != "" {
			return &FactError{Session: session, Seq: line.Seq, Kind: line.Kind, Problem: problem}
		}
		from, facts = line.Session, append(facts, f)
	}
	if len(facts) == 0 {
		return &ForkError{From: from, To: session, Problem: "there is nothing to import"}
	}
	own, err := copies(from, session, facts, 0)
	if err != nil {
		return err
	}
	if len(own) == 0 {
		return &ForkError{From: from, To: session, Problem: "nothing is finished in it"}
	}
	return a.copyTo(ctx, from, session, own)
}

// misplaced says why a line can't be the one after n others, of a session.
func (l *exported) misplaced(f Fact, session string, n int) string {
	_, pruned := f.(Snapshot)
	switch {
	case l.Session == "":
		return "it names no session"
	case n > 0 && l.Session != session:
		return fmt.Sprintf("it is of session %q, and those before it of %q", l.Session, session)
	case n == 0 && l.Seq != 1 && !pruned:
		return "it isn't the first of its session, which is number 1 or a snapshot"
	}
	return ""
}
