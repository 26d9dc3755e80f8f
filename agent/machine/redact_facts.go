package machine

import (
	"slices"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/provider"
)

// Fact redacts the texts of f: everything that a person, a model, a tool or the host has written.
// Names, ids and schemas stay as they are, and so does a [Snapshot], whose texts were redacted in
// the facts that it stands for. Fact changes f, which nobody else may have yet, but nothing that f
// shares with others.
//
// The input of a call is redacted in the reply that makes the call, and in the decision that edits
// it. The facts that repeat it later keep it as it is, because the input that is recorded must be
// the one that runs.
func (r Redactor) Fact(f Fact) {
	if valid(f) == nil {
		f.redact(r)
	}
}

// Facts without texts.

func (*ToolStarted) redact(Redactor)           {}
func (*PhaseChanged) redact(Redactor)          {}
func (*ContextResetRequested) redact(Redactor) {}
func (*ToolsChanged) redact(Redactor)          {}
func (*Continued) redact(Redactor)             {}
func (*RuleRevoked) redact(Redactor)           {}
func (*Delivered) redact(Redactor)             {}
func (*Snapshot) redact(Redactor)              {}

func (f *RunStarted) redact(r Redactor) {
	f.History, f.Message.Parts = r.Messages(f.History), r.Parts(f.Message.Parts)
	f.Outside = r.texts(f.Outside)
	if p := f.Replaces; p != nil {
		p.Before, p.Note = r.spans(p.Before), r.Text(p.Note)
	}
	if f.Call != nil {
		p, _ := r.part(provider.Part{Call: f.Call})
		f.Call = p.Call
	}
}

func (f *StepStarted) redact(r Redactor) {
	f.System, f.Note, f.Messages, f.Context = r.Text(f.System), r.Text(f.Note), r.Messages(f.Messages),
		r.Context(f.Context)
}

func (f *Compacted) redact(r Redactor) {
	f.Spans, f.Report = r.spans(f.Spans), r.report(f.Report)
}

func (f *NoteWritten) redact(r Redactor) { f.Note, f.Error = r.JSON(f.Note), r.Text(f.Error) }

func (f *Replied) redact(r Redactor) {
	f.Message.Parts, f.Outside = r.Parts(f.Message.Parts), r.texts(f.Outside)
}

func (f *StepFailed) redact(r Redactor) {
	f.Partial.Parts, f.Error = r.Parts(f.Partial.Parts), r.Text(f.Error)
}

func (f *ToolFinished) redact(r Redactor) { f.Result = r.Result(f.Result) }

func (f *Suspended) redact(r Redactor) { f.Pause, f.State = r.pause(f.Pause), r.JSON(f.State) }

func (f *Decided) redact(r Redactor) { f.Decision = r.Decision(f.Decision) }

func (f *Steered) redact(r Redactor) {
	f.Message.Parts, f.Outside = r.Parts(f.Message.Parts), r.texts(f.Outside)
}

// texts redacts texts in a slice of their own.
func (r Redactor) texts(all []string) []string {
	all = slices.Clone(all)
	for i := range all {
		all[i] = r.Text(all[i])
	}
	return all
}

func (f *SentBack) redact(r Redactor) { f.Text = r.Text(f.Text) }

func (f *ModeChanged) redact(r Redactor) { f.Reason = r.Text(f.Reason) }

func (f *TitleChanged) redact(r Redactor) { f.Title = cut.Line(r.Text(f.Title), journal.MaxTitle) }

func (f *LabelChanged) redact(Redactor) {} // like the labels of a run, it is to be found by its value

func (f *Emitted) redact(r Redactor) { f.Value = r.JSON(f.Value) }

func (f *Undone) redact(r Redactor) {
	f.Calls = slices.Clone(f.Calls)
	for i := range f.Calls {
		f.Calls[i].Why = r.Text(f.Calls[i].Why)
	}
	f.Message.Parts = r.Parts(f.Message.Parts)
}

func (f *RunEnded) redact(r Redactor) {
	f.Reason, f.Missing = r.Text(f.Reason), r.texts(f.Missing)
}
