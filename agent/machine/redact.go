package machine

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A Redactor replaces what must not be stored or shown to a model in a text. Its results are
// redacted again when they become part of a later fact, so it must leave its own replacements
// alone. A nil Redactor replaces nothing. If it panics, the text is withheld. The methods return
// valid UTF-8 in any case, because a journal returns nothing else. They don't change their
// arguments.
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

// JSON returns a JSON value with the strings and the keys in it redacted. A key that is equal to
// another one of its object after that gets a number. What isn't JSON isn't redacted. A nil
// Redactor also returns JSON as each release of Go stores it: see [provider.EscapeSeparators].
func (r Redactor) JSON(raw json.RawMessage) json.RawMessage {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if r != nil && len(raw) > 0 {
		if out, ok := mapStrings(raw, r.Text); ok {
			raw = out
		}
	}
	return provider.EscapeSeparators(raw)
}

// Parts returns parts with their text redacted, including the inputs of calls. It doesn't change
// its argument, and returns it if nothing is to be replaced.
func (r Redactor) Parts(parts []provider.Part) []provider.Part {
	var own []provider.Part
	for i := range parts {
		p, changed := r.part(parts[i])
		if changed && own == nil {
			own = slices.Clone(parts)
		}
		if changed {
			own[i] = p
		}
	}
	if own == nil {
		return parts
	}
	return own
}

// part returns a part with its text redacted, and whether that has changed it.
func (r Redactor) part(p provider.Part) (_ provider.Part, changed bool) {
	if text := r.Text(p.Text); text != p.Text {
		p.Text, changed = text, true
	}
	if p.Call != nil {
		input, invalid := r.JSON(p.Call.Input), r.Text(p.Call.Invalid)
		if invalid != p.Call.Invalid || string(input) != string(p.Call.Input) {
			call := *p.Call
			call.Input, call.Invalid = input, invalid
			p.Call, changed = &call, true
		}
	}
	if p.Result != nil {
		if parts := r.Parts(p.Result.Parts); !samePlace(parts, p.Result.Parts) {
			res := *p.Result
			res.Parts = parts
			p.Result, changed = &res, true
		}
	}
	if p.Source != nil {
		source := *p.Source
		source.URL, source.Title, source.Text = r.Text(source.URL), r.Text(source.Title), r.Text(source.Text)
		if source != *p.Source {
			p.Source, changed = &source, true
		}
	}
	if p.Media != nil {
		if name := r.Text(p.Media.Name); name != p.Media.Name {
			media := *p.Media
			media.Name = name
			p.Media, changed = &media, true
		}
	}
	return p, changed
}

// samePlace reports whether two slices of parts are the very same.
func samePlace(a, b []provider.Part) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// Messages returns messages with their parts redacted.
func (r Redactor) Messages(messages []provider.Message) []provider.Message {
	own := slices.Clone(messages)
	for i := range own {
		own[i].Parts = r.Parts(own[i].Parts)
	}
	return own
}

// Result returns res with its texts redacted. It doesn't change its argument, and returns it if
// nothing is to be replaced.
func (r Redactor) Result(res *ToolResult) *ToolResult {
	if res == nil {
		return nil
	}
	parts, data, cause, mismatch := r.Parts(res.Parts), r.JSON(res.Data), r.Text(res.Cause), r.mismatch(res.Mismatch)
	exit := r.exit(res.Exit)
	if cause == res.Cause && exit == res.Exit && string(data) == string(res.Data) && mismatch == res.Mismatch &&
		samePlace(parts, res.Parts) {
		return res
	}
	own := *res
	own.Parts, own.Data, own.Cause, own.Mismatch, own.Exit = parts, data, cause, mismatch, exit
	return &own
}

// exit returns e if nothing of it is to be replaced.
func (r Redactor) exit(e *tools.Exit) *tools.Exit {
	if e == nil {
		return nil
	}
	own := *e
	own.Signal, own.File = r.Text(e.Signal), r.Text(e.File)
	if own == *e {
		return e
	}
	return &own
}

func (r Redactor) mismatch(m *tools.Mismatch) *tools.Mismatch {
	if m == nil {
		return nil
	}
	return &tools.Mismatch{Expected: r.Text(m.Expected), Actual: r.Text(m.Actual), Suggestion: r.Text(m.Suggestion)}
}

// Decision returns d with its texts redacted. Who is a name, and only made valid UTF-8.
func (r Redactor) Decision(d Decision) Decision {
	d.User, d.Reason, d.Input, d.Value = ValidText(d.User), r.Text(d.Reason), r.JSON(d.Input), r.JSON(d.Value)
	d.Scope = r.Text(d.Scope)
	return d
}

// Context returns c with its texts redacted, except for the goal, which is a conversation's own.
func (r Redactor) Context(c *memory.Context) *memory.Context {
	if c == nil {
		return nil
	}
	own := *c
	own.User, own.Screen, own.HostNote = r.Text(c.User), r.Text(c.Screen), r.Text(c.HostNote)
	own.Fetched = slices.Clone(c.Fetched)
	for i := range own.Fetched {
		f := &own.Fetched[i]
		f.Name, f.Text = r.Text(f.Name), r.Text(f.Text)
	}
	return &own
}

func (r Redactor) spans(spans []Span) []Span {
	spans = slices.Clone(spans)
	for i := range spans {
		spans[i].Messages = r.Messages(spans[i].Messages)
	}
	return spans
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
	p.Title = tools.CleanTitle(r.Text(p.Title))
	p.For = CleanName(r.Text(p.For))
	p.Reason, p.Scope, p.Refused = r.Text(p.Reason), r.Text(p.Scope), r.Text(p.Refused)
	p.Preview, p.Scopes = r.Text(p.Preview), slices.Clone(p.Scopes)
	for i, s := range p.Scopes {
		p.Scopes[i] = tools.Scope{Name: r.Text(s.Name), Text: tools.CleanTitle(r.Text(s.Text))}
	}
	p.Nested = slices.Clone(p.Nested)
	for i := range p.Nested {
		n := r.pause(p.Nested[i])
		if n.Call.Input = r.JSON(n.Call.Input); n.Call.Invalid != "" { // the call that runs is in the other agent's log
			n.Call.Invalid = r.Text(n.Call.Invalid)
		}
		p.Nested[i] = n
	}
	return p
}

// ValidText returns s with invalid UTF-8 replaced by U+FFFD.
func ValidText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
