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

// A trait says when a fact may come, beside the stages of the run, and what follows from it.
type trait uint8

const (
	anytime trait = 1 << iota // it may also come between runs, and while the run waits
	idle                      // the run did nothing by it, so its Last stays
	inLists                   // lists show what it changes: see ChangesHead, which has those that do it at times
)

// facts has one of each kind.
var facts = []struct {
	Fact
	traits trait
}{
	{&RunStarted{}, inLists},
	{&StepStarted{}, 0},
	{&Compacted{}, anytime},
	{&NoteWritten{}, 0},
	{&Replied{}, 0},
	{&StepFailed{}, 0},
	{&ToolStarted{}, 0},
	{&ToolFinished{}, 0},
	{&Suspended{}, 0},
	{&Decided{}, inLists},
	{&Steered{}, 0},
	{&SentBack{}, 0},
	{&ModeChanged{}, anytime | inLists},
	{&PhaseChanged{}, 0},
	{&ContextResetRequested{}, 0},
	{&ToolsChanged{}, 0},
	{&Continued{}, inLists},
	{&RuleRevoked{}, anytime | idle},
	{&TitleChanged{}, anytime | idle | inLists},
	{&LabelChanged{}, anytime | idle | inLists},
	{&Emitted{}, anytime},
	{&Undone{}, idle},
	{&Delivered{}, anytime | idle | inLists},
	{&Snapshot{}, idle | inLists},
	{&RunEnded{}, inLists},
}

var (
	factTypes  = make(map[string]reflect.Type) // the struct of each kind
	factTraits = make(map[string]trait)        // by kind
	isFactType = make(map[reflect.Type]bool)   // the pointers to them
)

func init() {
	for _, f := range facts {
		addFact(f.Fact, f.traits)
	}
}

func addFact(f Fact, traits trait) {
	t := reflect.TypeOf(f)
	factTypes[f.kind()], factTraits[f.kind()], isFactType[t] = t.Elem(), traits, true
}

// has reports whether facts of a kind have a trait.
func has(f Fact, t trait) bool { return factTraits[f.kind()]&t != 0 }

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
