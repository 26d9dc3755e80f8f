package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A Line is the JSON form of a fact: a line of an export. Data is that of its record in a journal.
// The notes of package agent have the same form, without Seq and Time.
type Line struct {
	V       int             `json:"v"`
	Kind    string          `json:"kind"`
	Session string          `json:"session"`
	Seq     uint64          `json:"seq,omitempty"`
	Time    time.Time       `json:"time,omitzero"`
	Data    json.RawMessage `json:"data"`
}

// Marshal returns a fact as the JSON of a [Line].
func Marshal(f machine.Fact) ([]byte, error) {
	rec, err := machine.Encode(f)
	if err != nil {
		return nil, err
	}
	return machine.Marshal(Line{rec.V, rec.Kind, f.Envelope().Session(), rec.Seq, rec.Time, rec.Data})
}

// Fact returns the fact of a line, as one of a session. The error is a *[machine.FactError].
func (l *Line) Fact(session string) (machine.Fact, error) {
	return machine.Decode(session, journal.Record{Seq: l.Seq, Time: l.Time, Kind: l.Kind, V: l.V, Data: l.Data})
}

// Export writes the facts of a session, a [Line] each. The code of the error for an unknown session
// is [machine.ErrNothingOpen]. After an error, w may have received a part of them.
func Export(ctx context.Context, s *session.Sessions, name string, w io.Writer) error {
	if w == nil {
		return fault.Errorf(fault.Invalid, "agent: exporting a session: the Writer is nil")
	}
	facts, err := s.Facts(ctx, name, 0, 0)
	if err != nil {
		return err
	}
	if len(facts) == 0 {
		return session.NothingOpen(name, "")
	}
	for _, f := range facts {
		line, err := Marshal(f)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("agent: exporting session %q: %w", name, err)
		}
	}
	return nil
}

// Import creates a session from the output of [Export]. It is a copy of the one that was exported:
// see [Fork]. A line that can't be the next fact of one session is a *[machine.FactError].
func Import(ctx context.Context, s *session.Sessions, name string, r io.Reader) error {
	if r == nil {
		return fault.Errorf(fault.Invalid, "agent: importing session %q: the Reader is nil", name)
	}
	var facts []machine.Fact
	from := ""
	for dec := json.NewDecoder(r); ; {
		var l Line
		err := dec.Decode(&l)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("agent: importing session %q: line %d: %w", name, len(facts)+1, err)
		}
		f, err := l.Fact(name)
		if err != nil {
			return err
		}
		if problem := l.misplaced(f, from, len(facts)); problem != "" {
			return &machine.FactError{Session: name, Seq: l.Seq, Kind: l.Kind, Problem: problem}
		}
		from, facts = l.Session, append(facts, f)
	}
	if len(facts) == 0 {
		return cannotFork(name, "there is nothing to import")
	}
	return create(ctx, s, from, name, facts, 0, fmt.Sprintf("nothing is finished in the log of session %q", from))
}

// misplaced says why a line, whose fact is f, can't be the one after n others, of a session.
func (l *Line) misplaced(f machine.Fact, session string, n int) string {
	_, pruned := f.(*machine.Snapshot)
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
