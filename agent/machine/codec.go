package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// Version is the version of the form in which facts are stored. Records of another version are refused.
const Version = 2

// Encode returns a fact as a record of a journal.
func Encode(f Fact) (journal.Record, error) {
	if err := isFact(f); err != nil {
		return journal.Record{}, err
	}
	rec := Record(f)
	bad := func(problem string) error {
		return &FactError{Session: f.Envelope().Session, Seq: rec.Seq, Kind: rec.Kind, Problem: problem}
	}
	if f.Envelope().Run == "" {
		return journal.Record{}, bad("it names no run")
	}
	data, err := Marshal(f)
	if err != nil {
		return journal.Record{}, fmt.Errorf("agent: encoding a fact of kind %s: %w", rec.Kind, err)
	}
	if TooDeep(data) && json.Unmarshal(data, new(any)) != nil { // encoding/json writes deeper than it reads
		return journal.Record{}, bad("it is nested too deep to be read back")
	}
	rec.Value, rec.Data = nil, data
	return rec, nil
}

// Record returns a fact as a record that isn't encoded, for a store in the same process that keeps it as it is.
func Record(f Fact) journal.Record {
	meta := f.Envelope()
	return journal.Record{Seq: meta.Seq, Time: meta.Time, Kind: f.kind(), V: Version, Value: f}
}

// Decode returns the fact of a record. A record of another version, or of a kind that this release doesn't know, is a
// *[FactError]: the state can't be rebuilt without it.
func Decode(session string, rec journal.Record) (Fact, error) {
	bad := func(format string, args ...any) error {
		return &FactError{Session: session, Seq: rec.Seq, Kind: rec.Kind, Problem: fmt.Sprintf(format, args...)}
	}
	if rec.V != Version {
		return nil, bad("it was stored in version %d, and this release reads version %d", rec.V, Version)
	}
	if f, ok := rec.Value.(Fact); ok {
		return f, nil
	}
	t, ok := factTypes[rec.Kind]
	if !ok {
		return nil, bad("its kind is unknown to this release")
	}
	v := reflect.New(t)
	if err := json.Unmarshal(rec.Data, v.Interface()); err != nil {
		return nil, bad("it can't be read: %v", err)
	}
	f := v.Elem().Interface().(Fact)
	meta := f.Envelope()
	if meta.Run == "" {
		return nil, bad("it names no run")
	}
	meta.Session, meta.Seq, meta.Time, meta.V = session, rec.Seq, rec.Time, rec.V
	return f.with(meta), nil
}

// Truncate returns a fact without a part of what makes it too large for a record, and false if it can't be made smaller. Only
// the result of a call can: first its Data go, which are for the host, then what the model reads.
func Truncate(f Fact) (Fact, bool) {
	end, ok := f.(ToolFinished)
	if !ok || end.Result == nil {
		return f, false
	}
	res := *end.Result
	switch n := len(res.Data); {
	case n > 0:
		res.Data, res.Cause = nil, JoinLines(res.Cause, fmt.Sprintf("agent: Data has %d bytes, is too large for the journal, and left out", n))
	case res.Cut < 0 || len(res.Parts) == 1 && res.Parts[0].Text == tooLarge:
		return f, false
	default:
		res.Parts, res.Notes, res.Cause = []provider.Part{provider.TextPart(tooLarge)}, 0, ""
		if res.Status == tools.OK {
			res.Status, res.Error, res.Class = tools.Failed, true, fault.Permanent
		}
	}
	end.Result = &res
	return end, true
}

const tooLarge = "The call ran, but its result is too large to be kept."

// Marshal encodes v as JSON without escaping <, > and &, and without a newline.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
