package machine

import (
	"fmt"
	"reflect"
)

// This file lists the facts. A new fact gets a line in each of the three lists, and a case in
// Machine.fold.

// KindSnapshot is the kind of a record with a [Snapshot].
const KindSnapshot = "snapshot"

func (RunStarted) kind() string            { return "run_started" }
func (StepStarted) kind() string           { return "step_started" }
func (Compacted) kind() string             { return "compacted" }
func (NoteWritten) kind() string           { return "note_written" }
func (Replied) kind() string               { return "replied" }
func (StepFailed) kind() string            { return "step_failed" }
func (ToolStarted) kind() string           { return "tool_started" }
func (ToolFinished) kind() string          { return "tool_finished" }
func (Suspended) kind() string             { return "suspended" }
func (Decided) kind() string               { return "decided" }
func (Steered) kind() string               { return "steered" }
func (SentBack) kind() string              { return "sent_back" }
func (ModeChanged) kind() string           { return "mode_changed" }
func (PhaseChanged) kind() string          { return "phase_changed" }
func (ContextResetRequested) kind() string { return "context_reset_requested" }
func (ToolsChanged) kind() string          { return "tools_changed" }
func (Continued) kind() string             { return "continued" }
func (RuleRevoked) kind() string           { return "rule_revoked" }
func (TitleChanged) kind() string          { return "title_changed" }
func (Emitted) kind() string               { return "emitted" }
func (Undone) kind() string                { return "undone" }
func (Snapshot) kind() string              { return KindSnapshot }
func (RunEnded) kind() string              { return "run_ended" }

func (f RunStarted) with(m Meta) Fact            { f.Meta = m; return f }
func (f StepStarted) with(m Meta) Fact           { f.Meta = m; return f }
func (f Compacted) with(m Meta) Fact             { f.Meta = m; return f }
func (f NoteWritten) with(m Meta) Fact           { f.Meta = m; return f }
func (f Replied) with(m Meta) Fact               { f.Meta = m; return f }
func (f StepFailed) with(m Meta) Fact            { f.Meta = m; return f }
func (f ToolStarted) with(m Meta) Fact           { f.Meta = m; return f }
func (f ToolFinished) with(m Meta) Fact          { f.Meta = m; return f }
func (f Suspended) with(m Meta) Fact             { f.Meta = m; return f }
func (f Decided) with(m Meta) Fact               { f.Meta = m; return f }
func (f Steered) with(m Meta) Fact               { f.Meta = m; return f }
func (f SentBack) with(m Meta) Fact              { f.Meta = m; return f }
func (f ModeChanged) with(m Meta) Fact           { f.Meta = m; return f }
func (f PhaseChanged) with(m Meta) Fact          { f.Meta = m; return f }
func (f ContextResetRequested) with(m Meta) Fact { f.Meta = m; return f }
func (f ToolsChanged) with(m Meta) Fact          { f.Meta = m; return f }
func (f Continued) with(m Meta) Fact             { f.Meta = m; return f }
func (f RuleRevoked) with(m Meta) Fact           { f.Meta = m; return f }
func (f TitleChanged) with(m Meta) Fact          { f.Meta = m; return f }
func (f Emitted) with(m Meta) Fact               { f.Meta = m; return f }
func (f Undone) with(m Meta) Fact                { f.Meta = m; return f }
func (f Snapshot) with(m Meta) Fact              { f.Meta = m; return f }
func (f RunEnded) with(m Meta) Fact              { f.Meta = m; return f }

// factTypes maps the kind of each fact to its type.
var factTypes = make(map[string]reflect.Type)

// isFactType holds the same types.
var isFactType = make(map[reflect.Type]bool)

func init() {
	for _, f := range []Fact{
		RunStarted{}, StepStarted{}, Compacted{}, NoteWritten{}, Replied{}, StepFailed{}, ToolStarted{}, ToolFinished{},
		Suspended{}, Decided{},
		Steered{}, SentBack{}, ModeChanged{}, PhaseChanged{}, ContextResetRequested{}, ToolsChanged{},
		Continued{}, RuleRevoked{}, TitleChanged{}, Emitted{}, Undone{}, Snapshot{}, RunEnded{},
	} {
		factTypes[f.kind()] = reflect.TypeOf(f)
		isFactType[reflect.TypeOf(f)] = true
	}
}

// plain returns the fact itself. A struct that embeds a fact, as agent.RunEnded does, stands for
// it. Anything else that implements [Fact], such as nil or a pointer to a fact, is an error.
func plain(f Fact) (Fact, *FactError) {
	if isFactType[reflect.TypeOf(f)] {
		return f, nil
	}
	if v := reflect.ValueOf(f); v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.Anonymous && isFactType[field.Type] {
				return v.Field(i).Interface().(Fact), nil
			}
		}
	}
	return nil, &FactError{Kind: fmt.Sprintf("%T", f),
		Problem: "it isn't a fact; facts are the types of package agent/machine, by value"}
}

// Stamp returns f with the envelope m. It returns f as it is if f isn't a fact of this package.
func Stamp(f Fact, m Meta) Fact {
	own, err := plain(f)
	if err != nil {
		return f
	}
	return own.with(m)
}
