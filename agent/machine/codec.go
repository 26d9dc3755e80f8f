package machine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// Version is the version of the encoding of facts. Records of another version are refused, and so
// are kinds of facts that a release doesn't know, which need no other version.
const Version = 2

// Encode returns a fact as a record of a journal, with its JSON as data. The error is a
// *[FactError] if f isn't a fact, names no run, or is nested too deep to be read back.
func Encode(f Fact) (journal.Record, error) {
	if err := valid(f); err != nil {
		return journal.Record{}, err
	}
	rec := Record(f)
	bad := func(problem string) error {
		return &FactError{Session: f.Envelope().Session(), Seq: rec.Seq, Kind: rec.Kind, Problem: problem}
	}
	if f.Envelope().Run() == "" {
		return journal.Record{}, bad("it names no run")
	}
	const tooDeep = "it is nested too deep to be read back"
	data, err := Marshal(f)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax) && strings.Contains(syntax.Error(), "max depth"): // from Go 1.27 on
		return journal.Record{}, bad(tooDeep)
	case err != nil:
		return journal.Record{}, fmt.Errorf("agent: encoding a fact of kind %s: %w", rec.Kind, err)
	case TooDeep(data) && json.Unmarshal(data, new(any)) != nil: // Go 1.26 writes deeper than it reads
		return journal.Record{}, bad(tooDeep)
	}
	rec.Value, rec.Data = nil, data
	return rec, nil
}

// Record returns a fact as a record with a Value and no data, for a store that keeps facts in the
// same process.
func Record(f Fact) journal.Record {
	if valid(f) != nil {
		return journal.Record{}
	}
	meta := f.meta()
	return journal.Record{Seq: meta.Seq, Time: meta.Time, Kind: f.kind(), V: Version, Value: f}
}

// Decode returns the fact of a record. If the record can't be read, or is of another version or an
// unknown kind, the error is a *[FactError]: the state can't be rebuilt without the fact.
func Decode(session string, rec journal.Record) (Fact, error) {
	bad := func(format string, args ...any) (Fact, error) {
		return nil, &FactError{Session: session, Seq: rec.Seq, Kind: rec.Kind, Problem: fmt.Sprintf(format, args...)}
	}
	if rec.V != Version {
		return bad("it was stored in version %d, and this release reads version %d", rec.V, Version)
	}
	f, held := rec.Value.(Fact)
	if !held {
		t, ok := factTypes[rec.Kind]
		if !ok {
			return bad("its kind is unknown to this release")
		}
		f = reflect.New(t).Interface().(Fact)
		if err := json.Unmarshal(rec.Data, f); err != nil {
			return bad("it can't be read: %v", err)
		}
	}
	if valid(f) != nil {
		return bad("its value isn't a fact")
	}
	origin := *f.meta().Origin.orZero()
	if origin.Run == "" {
		return bad("it names no run")
	}
	meta := *f.meta()
	if meta.Seq, meta.Time, meta.V = rec.Seq, rec.Time, rec.V; held {
		if meta == *f.meta() && origin.Session == session {
			return f, nil
		}
		f = clone(f) // others read it, too
	}
	origin.Session = session
	meta.Origin = &origin
	return Stamp(f, meta), nil
}

// Truncate returns a smaller fact, for one that is too large for a record. It returns false if the
// fact can't be made smaller. Only the result of a call can: first it loses its Data, which are for
// the host, and then what the model would read.
func Truncate(f Fact) (Fact, bool) {
	end, ok := f.(*ToolFinished)
	if !ok || end.Result == nil {
		return f, false
	}
	res := *end.Result
	switch n := len(res.Data); {
	case n > 0:
		res.Data, res.Cause = nil,
			JoinLines(res.Cause, fmt.Sprintf("agent: Data has %d bytes, is too large for the journal, and left out", n))
	case len(res.Parts) == 1 && res.Parts[0].Text == tooLarge:
		return f, false
	default:
		res.Parts, res.Notes, res.Cause = []provider.Part{provider.TextPart(tooLarge)}, 0, ""
		if res.Status == tools.OK {
			res.Status, res.Error, res.Class = tools.Failed, true, fault.Permanent
		}
	}
	shorter := *end
	shorter.Result = &res
	return &shorter, true
}

// tooLarge is what the model reads instead of a result that is too large.
const tooLarge = "The call ran, but its result is too large to be kept."

// Marshal encodes v as JSON without escaping <, > and &, and without a newline. All releases of Go
// write the same.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	out := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if !utf8.Valid(out) {
		out = bytes.ToValidUTF8(out, []byte("\uFFFD"))
	}
	return provider.EscapeSeparators(out), nil
}
