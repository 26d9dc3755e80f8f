package plan

import (
	"encoding/json"
	"fmt"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// version is the version of the encoding of facts. Records of another version are refused.
const version = 2

func (*proposed) kind() string    { return "plan.proposed" }
func (*decided) kind() string     { return "plan.decided" }
func (*NodeStarted) kind() string { return "plan.node_started" }
func (*NodeEnded) kind() string   { return "plan.node_ended" }
func (*judged) kind() string      { return "plan.judged" }
func (*undone) kind() string      { return "plan.undone" }
func (*Failed) kind() string      { return "plan.failed" }
func (*Ended) kind() string       { return "plan.ended" }

// newFact returns an empty fact of a kind; nil for a kind that this release doesn't know.
func newFact(kind string) fact {
	for _, f := range []fact{&proposed{}, &decided{}, &NodeStarted{}, &NodeEnded{}, &judged{}, &undone{}, &Failed{},
		&Ended{}} {
		if f.kind() == kind {
			return f
		}
	}
	return nil
}

// stamp sets the envelope of a fact that nobody else has yet, and returns the fact.
func stamp(f fact, m Meta) fact {
	*f.meta() = m
	return f
}

// factError returns the error for a fact that can't be stored or read, or doesn't fit the state.
func factError(run string, seq uint64, kind, format string, args ...any) error {
	return &machine.SessionError{Session: run, Code: machine.ErrJournal,
		Problem: fmt.Sprintf("fact %d (%s): %s", seq, kind, fmt.Sprintf(format, args...))}
}

// encode returns a fact as a record of a journal.
func encode(f fact) (journal.Record, error) {
	meta := f.meta()
	data, err := json.Marshal(f)
	if err != nil {
		return journal.Record{}, factError(meta.Run, meta.Seq, f.kind(), "it can't be encoded: %v", err)
	}
	return journal.Record{Seq: meta.Seq, Time: meta.Time, Kind: f.kind(), V: version, Data: data}, nil
}

// decodeFact returns the fact of a record.
func decodeFact(run string, rec journal.Record) (fact, error) {
	if rec.V != version {
		return nil, factError(run, rec.Seq, rec.Kind, "it was stored in version %d, and this release reads version %d",
			rec.V, version)
	}
	f := newFact(rec.Kind)
	if f == nil {
		return nil, factError(run, rec.Seq, rec.Kind, "its kind is unknown to this release")
	}
	if err := json.Unmarshal(rec.Data, f); err != nil {
		return nil, factError(run, rec.Seq, rec.Kind, "it can't be read: %v", err)
	}
	meta := f.meta()
	meta.Run, meta.Seq, meta.Time = run, rec.Seq, rec.Time
	return f, nil
}
