package machine

import (
	"fmt"
	"reflect"
)

// This file lists the facts. A new fact gets a type, the methods kind, apply and redact, and a line
// in the list facts: see newfact_test.go.

// KindSnapshot is the kind of a record with a [Snapshot].
const KindSnapshot = "snapshot"

func (*RunStarted) kind() string            { return "run_started" }
func (*StepStarted) kind() string           { return "step_started" }
func (*Compacted) kind() string             { return "compacted" }
func (*NoteWritten) kind() string           { return "note_written" }
func (*Replied) kind() string               { return "replied" }
func (*StepFailed) kind() string            { return "step_failed" }
func (*ToolStarted) kind() string           { return "tool_started" }
func (*ToolFinished) kind() string          { return "tool_finished" }
func (*Suspended) kind() string             { return "suspended" }
func (*Decided) kind() string               { return "decided" }
func (*Steered) kind() string               { return "steered" }
func (*SentBack) kind() string              { return "sent_back" }
func (*ModeChanged) kind() string           { return "mode_changed" }
func (*PhaseChanged) kind() string          { return "phase_changed" }
func (*ContextResetRequested) kind() string { return "context_reset_requested" }
func (*ToolsChanged) kind() string          { return "tools_changed" }
func (*Continued) kind() string             { return "continued" }
func (*RuleRevoked) kind() string           { return "rule_revoked" }
func (*TitleChanged) kind() string          { return "title_changed" }
func (*LabelChanged) kind() string          { return "label_changed" }
func (*Emitted) kind() string               { return "emitted" }
func (*Undone) kind() string                { return "undone" }
func (*Delivered) kind() string             { return "delivered" }
func (*Snapshot) kind() string              { return KindSnapshot }
func (*RunEnded) kind() string              { return "run_ended" }

// facts has one of each kind.
var facts = []Fact{
	&RunStarted{}, &StepStarted{}, &Compacted{}, &NoteWritten{}, &Replied{}, &StepFailed{},
	&ToolStarted{}, &ToolFinished{}, &Suspended{}, &Decided{}, &Steered{}, &SentBack{},
	&ModeChanged{}, &PhaseChanged{}, &ContextResetRequested{}, &ToolsChanged{}, &Continued{},
	&RuleRevoked{}, &TitleChanged{}, &LabelChanged{}, &Emitted{}, &Undone{}, &Delivered{}, &Snapshot{},
	&RunEnded{},
}

var (
	factTypes  = make(map[string]reflect.Type) // the struct of each kind
	isFactType = make(map[reflect.Type]bool)   // the pointers to them
)

func init() {
	for _, f := range facts {
		addFact(f)
	}
}

func addFact(f Fact) {
	t := reflect.TypeOf(f)
	factTypes[f.kind()], isFactType[t] = t.Elem(), true
}

// valid returns an error unless f is a fact of this package, and not nil.
func valid(f Fact) *FactError {
	if isFactType[reflect.TypeOf(f)] && !reflect.ValueOf(f).IsNil() {
		return nil
	}
	return &FactError{Kind: fmt.Sprintf("%T", f),
		Problem: "it isn't a fact; facts are pointers to types of package agent/machine"}
}

// Stamp sets the envelope of a fact that nobody else has yet, and returns the fact.
func Stamp(f Fact, m Meta) Fact {
	if valid(f) == nil {
		*f.meta() = m
	}
	return f
}

// clone returns a copy of a fact that shares what it contains.
func clone(f Fact) Fact {
	v := reflect.New(reflect.TypeOf(f).Elem())
	v.Elem().Set(reflect.ValueOf(f).Elem())
	return v.Interface().(Fact)
}
