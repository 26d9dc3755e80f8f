package plan

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
)

// Version is the version of the encoding of facts. Records of another version are refused.
const Version = 1

// A FactError says that a fact can't be recorded or read, or doesn't fit the state of its run. Its
// class is permanent.
type FactError struct {
	Log     string
	Seq     uint64
	Kind    string
	Problem string
}

// Error returns the text of the error.
func (e *FactError) Error() string {
	return fmt.Sprintf("plan: run %q: fact %d (%s): %s", e.Log, e.Seq, e.Kind, e.Problem)
}

// Fault returns permanent.
func (e *FactError) Fault() fault.Class { return fault.Permanent }

var (
	factTypes  = make(map[string]reflect.Type) // the struct of each kind
	isFactType = make(map[reflect.Type]bool)   // the pointers to them
)

func init() {
	for _, f := range []Fact{&Proposed{}, &Approved{}, &Rejected{}, &NodeStarted{}, &NodeEnded{}, &Judged{}, &Waived{},
		&Skipped{}, &Retried{}, &Granted{}, &Revised{}, &GaveUp{}, &Undone{}, &Failed{}, &Ended{}} {
		t := reflect.TypeOf(f)
		factTypes[f.kind()], isFactType[t] = t.Elem(), true
	}
}

func (*Proposed) kind() string    { return "plan.proposed" }
func (*Approved) kind() string    { return "plan.approved" }
func (*Rejected) kind() string    { return "plan.rejected" }
func (*NodeStarted) kind() string { return "plan.node_started" }
func (*NodeEnded) kind() string   { return "plan.node_ended" }
func (*Judged) kind() string      { return "plan.judged" }
func (*Waived) kind() string      { return "plan.waived" }
func (*Skipped) kind() string     { return "plan.skipped" }
func (*Retried) kind() string     { return "plan.retried" }
func (*Granted) kind() string     { return "plan.granted" }
func (*Revised) kind() string     { return "plan.revised" }
func (*GaveUp) kind() string      { return "plan.gave_up" }
func (*Undone) kind() string      { return "plan.undone" }
func (*Failed) kind() string      { return "plan.failed" }
func (*Ended) kind() string       { return "plan.ended" }

func (f *NodeStarted) node() string { return f.Node }
func (f *NodeEnded) node() string   { return f.Node }
func (f *Judged) node() string      { return f.Node }
func (f *Waived) node() string      { return f.Node }
func (f *Skipped) node() string     { return f.Node }
func (f *Retried) node() string     { return f.Node }
func (f *Granted) node() string     { return f.Node }
func (f *Undone) node() string      { return f.Node }

// valid returns an error unless f is a fact of this package, and not nil.
func valid(f Fact) *FactError {
	if isFactType[reflect.TypeOf(f)] && !reflect.ValueOf(f).IsNil() {
		return nil
	}
	return &FactError{Kind: fmt.Sprintf("%T", f),
		Problem: "it isn't a fact; facts are pointers to types of package plan"}
}

// stamp sets the envelope of a fact that nobody else has yet, and returns the fact.
func stamp(f Fact, m Meta) Fact {
	*f.meta() = m
	return f
}

// Encode returns a fact as a record of a journal. The error is a *[FactError].
func Encode(f Fact) (journal.Record, error) {
	if err := valid(f); err != nil {
		return journal.Record{}, err
	}
	meta := f.meta()
	data, err := json.Marshal(f)
	if err != nil {
		return journal.Record{}, &FactError{Log: meta.Log, Seq: meta.Seq, Kind: f.kind(),
			Problem: fmt.Sprintf("it can't be encoded: %v", err)}
	}
	return journal.Record{Seq: meta.Seq, Time: meta.Time, Kind: f.kind(), V: Version, Data: data}, nil
}

// Decode returns the fact of a record. If the record can't be read, or is of another version or an
// unknown kind, the error is a *[FactError].
func Decode(log string, rec journal.Record) (Fact, error) {
	bad := func(format string, args ...any) (Fact, error) {
		return nil, &FactError{Log: log, Seq: rec.Seq, Kind: rec.Kind, Problem: fmt.Sprintf(format, args...)}
	}
	if rec.V != Version {
		return bad("it was stored in version %d, and this release reads version %d", rec.V, Version)
	}
	t, ok := factTypes[rec.Kind]
	if !ok {
		return bad("its kind is unknown to this release")
	}
	f := reflect.New(t).Interface().(Fact)
	if err := json.Unmarshal(rec.Data, f); err != nil {
		return bad("it can't be read: %v", err)
	}
	meta := f.meta()
	meta.Log, meta.Seq, meta.Time = log, rec.Seq, rec.Time
	return f, nil
}
