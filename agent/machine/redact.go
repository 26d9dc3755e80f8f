package machine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// A Redactor replaces what must not be stored or shown to a model, in text. Its results are redacted again when they are
// part of a later fact, so it should leave its own replacements alone. nil replaces nothing. What a Redactor returns is
// valid UTF-8 in any case, because a journal gives back nothing else.
type Redactor func(string) string

// withheld stands for a text whose redaction has panicked.
const withheld = "[withheld: redacting it failed]"

// Text returns s redacted.
func (r Redactor) Text(s string) (out string) {
	if r == nil {
		return ValidText(s)
	}
	defer func() {
		if recover() != nil {
			out = withheld
		}
	}()
	return ValidText(r(s))
}

// JSON returns a JSON value with the strings in it redacted, except for keys.
func (r Redactor) JSON(raw json.RawMessage) json.RawMessage {
	if r == nil || len(raw) == 0 {
		return raw
	}
	out, ok := mapStrings(raw, r.Text)
	if !ok {
		return raw
	}
	return out
}

// Parts returns parts with their text redacted, including the inputs of calls. It doesn't change its argument, and returns it
// if nothing is to be replaced.
func (r Redactor) Parts(parts []provider.Part) []provider.Part {
	own := parts
	for i := range parts {
		p, changed := r.part(parts[i])
		if !changed {
			continue
		}
		if &own[0] == &parts[0] {
			own = slices.Clone(parts)
		}
		own[i] = p
	}
	return own
}

func (r Redactor) part(p provider.Part) (provider.Part, bool) {
	changed := false
	if text := r.Text(p.Text); text != p.Text {
		p.Text, changed = text, true
	}
	if p.Call != nil {
		call := *p.Call
		call.Input, call.Invalid = r.JSON(call.Input), r.Text(call.Invalid)
		if string(call.Input) != string(p.Call.Input) || call.Invalid != p.Call.Invalid {
			p.Call, changed = &call, true
		}
	}
	if p.Result != nil {
		res := *p.Result
		res.Parts = r.Parts(res.Parts)
		if len(res.Parts) > 0 && &res.Parts[0] != &p.Result.Parts[0] {
			p.Result, changed = &res, true
		}
	}
	return p, changed
}

// Messages returns messages with their parts redacted. It doesn't change its argument.
func (r Redactor) Messages(messages []provider.Message) []provider.Message {
	own := slices.Clone(messages)
	for i := range own {
		own[i].Parts = r.Parts(own[i].Parts)
	}
	return own
}

// Fact returns f with its texts redacted: everything that a person, a model, a tool or the host has written. The input of a
// call is redacted in the reply that makes it, and in the decision that edits it; the facts that repeat it later keep it as
// it is, because what is recorded is what runs.
func (r Redactor) Fact(f Fact) Fact {
	switch f := f.(type) {
	case RunStarted:
		f.History, f.Message.Parts = r.Messages(f.History), r.Parts(f.Message.Parts)
		return f
	case StepStarted:
		f.System, f.Note, f.Messages = r.Text(f.System), r.Text(f.Note), r.Messages(f.Messages)
		return f
	case Compacted:
		return r.compacted(f)
	case NoteWritten:
		f.Note, f.Error = r.JSON(f.Note), r.Text(f.Error)
		return f
	case Replied:
		f.Message.Parts = r.Parts(f.Message.Parts)
		return f
	case StepFailed:
		f.Partial.Parts, f.Error = r.Parts(f.Partial.Parts), r.Text(f.Error)
		return f
	case ToolFinished:
		if f.Result != nil {
			res := *f.Result
			res.Parts, res.Data, res.Cause = r.Parts(res.Parts), r.JSON(res.Data), r.Text(res.Cause)
			f.Result = &res
		}
		return f
	case Suspended:
		f.Pause.Reason = r.Text(f.Pause.Reason)
		return f
	case Decided:
		f.Decision = r.Decision(f.Decision)
		return f
	case Steered:
		f.Message.Parts = r.Parts(f.Message.Parts)
		return f
	case SentBack:
		f.Text = r.Text(f.Text)
		return f
	case ModeChanged:
		f.Reason = r.Text(f.Reason)
		return f
	case Undone:
		f.Calls = slices.Clone(f.Calls)
		for i := range f.Calls {
			f.Calls[i].Why = r.Text(f.Calls[i].Why)
		}
		f.Message.Parts = r.Parts(f.Message.Parts)
		return f
	case RunEnded:
		f.Reason = r.Text(f.Reason)
		return f
	}
	return f
}

// Decision returns d with its texts redacted.
func (r Redactor) Decision(d Decision) Decision {
	d.Who, d.Reason, d.Input, d.Value = ValidText(d.Who), r.Text(d.Reason), r.JSON(d.Input), r.JSON(d.Value)
	return d
}

func (r Redactor) compacted(f Compacted) Compacted {
	f.Spans = slices.Clone(f.Spans)
	for i := range f.Spans {
		f.Spans[i].Messages = r.Messages(f.Spans[i].Messages)
	}
	if f.Report != nil {
		report := *f.Report
		report.Steps = append([]memory.StepReport(nil), report.Steps...)
		for i := range report.Steps {
			report.Steps[i].Error = r.Text(report.Steps[i].Error)
		}
		f.Report = &report
	}
	return f
}

// ValidText returns s with bytes that aren't UTF-8 replaced.
func ValidText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
