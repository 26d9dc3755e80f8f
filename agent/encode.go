package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/pawlkit/pawl/agent/journal"
)

// factVersion is the version of the form in which facts are written.
const factVersion = 1

// factTypes are the facts by their kind.
var factTypes = func() map[string]reflect.Type {
	types := make(map[string]reflect.Type)
	for _, f := range []Fact{RunStarted{}, StepStarted{}, Compacted{}, NoteWritten{}, Replied{}, StepFailed{}, ToolStarted{}, ToolFinished{}, Suspended{},
		Decided{}, Steered{}, SentBack{}, ModeChanged{}, PhaseChanged{}, ContextResetRequested{}, Continued{}, RuleRevoked{}, Undone{}, Snapshot{}, RunEnded{}} {
		types[f.kind()] = reflect.TypeOf(f)
	}
	return types
}()

// EncodeFact returns a fact as a record of a journal.
func EncodeFact(f Fact) (journal.Record, error) {
	var w writer
	w.b.Grow(512)
	return w.encode(f)
}

// encode encodes a fact into w's buffer, behind what is there. Its data are those of the buffer.
func (w *writer) encode(f Fact) (journal.Record, error) {
	if err := isFact(f); err != nil {
		return journal.Record{}, err
	}
	meta := f.Envelope()
	if meta.Origin == nil {
		return journal.Record{}, &FactError{Seq: meta.Seq, Kind: f.kind(), Problem: "it names no run"}
	}
	data, ok, err := w.fact(f)
	if !ok || err != nil { // which says it in its own words
		data, err = marshal(f)
	}
	if err != nil {
		return journal.Record{}, fmt.Errorf("agent: encoding a fact of kind %s: %w", f.kind(), err)
	}
	if tooDeep(data) && json.Unmarshal(data, new(any)) != nil { // encoding/json writes deeper than it reads
		return journal.Record{}, &FactError{Seq: meta.Seq, Kind: f.kind(), Problem: "it is nested too deep to be read back"}
	}
	return journal.Record{Seq: meta.Seq, Time: meta.Time, Kind: f.kind(), V: factVersion, Data: data}, nil
}

// DecodeFact returns the fact of a record. A record of a newer version, or of a kind that this release doesn't know, is an
// error: the state can't be rebuilt without it.
func DecodeFact(session string, rec journal.Record) (Fact, error) {
	return new(reader).decode(session, rec)
}

func (r *reader) decode(session string, rec journal.Record) (Fact, error) {
	bad := func(format string, args ...any) error {
		return &FactError{Session: session, Seq: rec.Seq, Kind: rec.Kind, Problem: fmt.Sprintf(format, args...)}
	}
	t, ok := factTypes[rec.Kind]
	if !ok {
		return nil, bad("its kind is unknown to this release")
	}
	if rec.V > factVersion || rec.V < 1 {
		return nil, bad("its version is %d, and this release reads up to %d", rec.V, factVersion)
	}
	if f, ok := r.fact(rec.Kind, session, rec.Data); ok {
		return stamped(f, rec), nil
	}
	return decodeAny(t, session, rec, bad)
}

// decodeAny decodes a fact with encoding/json.
func decodeAny(t reflect.Type, session string, rec journal.Record, bad func(string, ...any) error) (Fact, error) {
	v := reflect.New(t)
	if err := json.Unmarshal(rec.Data, v.Interface()); err != nil {
		return nil, bad("it can't be read: %v", err)
	}
	meta := v.Elem().FieldByName("Meta").Addr().Interface().(*Meta)
	if meta.Origin == nil {
		return nil, bad("it names no run")
	}
	meta.Session, meta.Seq, meta.Time, meta.V = session, rec.Seq, rec.Time, rec.V
	return v.Elem().Interface().(Fact), nil
}

// stamped returns one of the facts that every step has, with what the record says.
func stamped(f Fact, rec journal.Record) Fact {
	stamp := func(m *Meta) { m.Seq, m.Time, m.V = rec.Seq, rec.Time, rec.V }
	switch f := f.(type) {
	case StepStarted:
		stamp(&f.Meta)
		return f
	case Replied:
		stamp(&f.Meta)
		return f
	case ToolStarted:
		stamp(&f.Meta)
		return f
	case ToolFinished:
		stamp(&f.Meta)
		return f
	}
	return f
}

// marshal encodes v as JSON without escaping <, > and &, and without a newline.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
