package machine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// A Redactor replaces what must not be stored or shown to a model in a text. Its results are redacted again when they become part of a
// later fact, so it must leave its own replacements alone. A nil Redactor replaces nothing. If it panics, the text is withheld. The
// methods return valid UTF-8 in any case, because a journal returns nothing else. They don't change their arguments.
type Redactor func(string) string

// withheld replaces a text if redacting it has panicked.
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

// JSON returns a JSON value with the strings in it redacted, except for keys. It returns raw as it is if that isn't JSON.
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

// Parts returns parts with their texts redacted, including the inputs of calls and the results. URLs, media and opaque data stay as
// they are: a provider needs them verbatim.
func (r Redactor) Parts(parts []provider.Part) []provider.Part {
	own := slices.Clone(parts)
	for i := range own {
		p := &own[i]
		p.Text = r.Text(p.Text)
		if p.Call != nil {
			call := *p.Call
			call.Input, call.Invalid = r.JSON(call.Input), r.Text(call.Invalid)
			p.Call = &call
		}
		if p.Result != nil {
			res := *p.Result
			res.Parts = r.Parts(res.Parts)
			p.Result = &res
		}
		if p.Source != nil {
			source := *p.Source
			source.Title, source.Text = r.Text(source.Title), r.Text(source.Text)
			p.Source = &source
		}
	}
	return own
}

// Messages returns messages with their parts redacted.
func (r Redactor) Messages(messages []provider.Message) []provider.Message {
	own := slices.Clone(messages)
	for i := range own {
		own[i].Parts = r.Parts(own[i].Parts)
	}
	return own
}

// Result returns res with its texts redacted. It doesn't change its argument; nil is nil.
func (r Redactor) Result(res *ToolResult) *ToolResult {
	if res == nil {
		return nil
	}
	own := *res
	own.Parts, own.Data, own.Cause = r.Parts(own.Parts), r.JSON(own.Data), r.Text(own.Cause)
	return &own
}

// Decision returns d with its texts redacted. Who is a name, and only made valid UTF-8.
func (r Redactor) Decision(d Decision) Decision {
	d.Who, d.Reason, d.Input, d.Value = ValidText(d.Who), r.Text(d.Reason), r.JSON(d.Input), r.JSON(d.Value)
	return d
}

// Fact returns f with its texts redacted: everything that a person, a model, a tool or the host has written. Names, ids and schemas
// stay as they are, and so does a [Snapshot], whose texts were redacted in the facts that it stands for.
//
// The input of a call is redacted in the reply that makes the call, and in the decision that edits it. The facts that repeat it later
// keep it as it is, because the input that is recorded must be the one that runs.
func (r Redactor) Fact(f Fact) Fact {
	switch f := f.(type) {
	case RunStarted:
		f.History, f.Message.Parts = r.Messages(f.History), r.Parts(f.Message.Parts)
		return f
	case StepStarted:
		f.System, f.Note, f.Messages, f.Context = r.Text(f.System), r.Text(f.Note), r.Messages(f.Messages), r.context(f.Context)
		return f
	case Compacted:
		f.Spans = slices.Clone(f.Spans)
		for i := range f.Spans {
			f.Spans[i].Messages = r.Messages(f.Spans[i].Messages)
		}
		f.Report = r.report(f.Report)
		return f
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
		f.Result = r.Result(f.Result)
		return f
	case Suspended:
		f.Pause = r.pause(f.Pause)
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

func (r Redactor) context(c *memory.Context) *memory.Context {
	if c == nil {
		return nil
	}
	own := *c
	own.User, own.Screen, own.Told = r.Text(c.User), r.Text(c.Screen), r.Text(c.Told)
	own.Fetched = slices.Clone(c.Fetched)
	for i := range own.Fetched {
		f := &own.Fetched[i]
		f.Name, f.Text = r.Text(f.Name), r.Text(f.Text)
	}
	return &own
}

func (r Redactor) report(report *memory.Report) *memory.Report {
	if report == nil {
		return nil
	}
	own := *report
	own.Trigger = r.Text(own.Trigger)
	own.Steps = slices.Clone(report.Steps)
	for i := range own.Steps {
		s := &own.Steps[i]
		s.Skipped, s.Error = r.Text(s.Skipped), r.Text(s.Error)
	}
	return &own
}

func (r Redactor) pause(p Pause) Pause {
	p.Reason = r.Text(p.Reason)
	p.Nested = slices.Clone(p.Nested)
	for i := range p.Nested {
		p.Nested[i] = r.pause(p.Nested[i])
	}
	return p
}

// ValidText returns s with invalid UTF-8 replaced by U+FFFD.
func ValidText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
