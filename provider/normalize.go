package provider

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// The results of a Collector survive JSON, and so a journal, byte for byte: text is valid UTF-8,
// arguments are compact JSON.

// valid returns s as valid UTF-8.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// arguments returns raw as compact JSON, or as text if it isn't JSON. It returns raw itself if that
// has no blanks and no separators of lines.
func arguments(raw []byte) (input json.RawMessage, invalid string) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, ""
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if !bytes.ContainsAny(raw, " \t\r\n") && json.Valid(raw) {
		return EscapeSeparators(raw), ""
	}
	var b bytes.Buffer
	b.Grow(len(raw))
	if json.Compact(&b, raw) != nil {
		return nil, string(raw)
	}
	return EscapeSeparators(b.Bytes()), ""
}

// EscapeSeparators returns JSON with the line and paragraph separators of Unicode (U+2028, U+2029)
// escaped. Releases of Go differ in whether package encoding/json escapes them in a
// json.RawMessage, so JSON that is stored, hashed or compared has them escaped: then all releases
// write the same. It returns raw itself if there are none.
func EscapeSeparators(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte("\u2028")) && !bytes.Contains(raw, []byte("\u2029")) {
		return raw
	}
	raw = bytes.ReplaceAll(raw, []byte("\u2028"), []byte(`\u2028`))
	return bytes.ReplaceAll(raw, []byte("\u2029"), []byte(`\u2029`))
}

// normalizeDetails returns details in a form that survives JSON. What isn't JSON is null.
func normalizeDetails(details map[string]json.RawMessage) map[string]json.RawMessage {
	if len(details) == 0 {
		return nil
	}
	out := make(map[string]json.RawMessage, len(details))
	for name, raw := range details {
		value, _ := arguments(bytes.Clone(raw))
		if value == nil {
			value = json.RawMessage("null")
		}
		out[valid(name)] = value
	}
	return out
}

// normalizePart returns a part in a form that survives JSON. The given part isn't changed.
func normalizePart(p *Part) *Part {
	out := *p
	out.Text = valid(p.Text)
	if p.Call != nil {
		c := *p.Call
		c.ID, c.ProviderID, c.Name, c.Invalid = valid(c.ID), valid(c.ProviderID), valid(c.Name), valid(c.Invalid)
		if len(c.Input) > 0 {
			var invalid string
			if c.Input, invalid = arguments(bytes.Clone(c.Input)); invalid != "" {
				c.Invalid = invalid
			}
		}
		out.Call = &c
	}
	if p.Result != nil {
		r := *p.Result
		r.CallID, r.Name = valid(r.CallID), valid(r.Name)
		r.Parts = make([]Part, len(p.Result.Parts))
		for i := range r.Parts {
			r.Parts[i] = *normalizePart(&p.Result.Parts[i])
		}
		if len(r.Parts) == 0 {
			r.Parts = nil
		}
		out.Result = &r
	}
	if p.Media != nil {
		m := *p.Media
		m.Data = bytes.Clone(m.Data)
		m.Type, m.Name, m.URL, m.FileID = valid(m.Type), valid(m.Name), valid(m.URL), valid(m.FileID)
		out.Media = &m
	}
	if p.Source != nil {
		s := *p.Source
		s.ID, s.URL, s.Title, s.Text = valid(s.ID), valid(s.URL), valid(s.Title), valid(s.Text)
		out.Source = &s
	}
	if p.Opaque != nil {
		o := *p.Opaque
		o.Provider, o.Kind, o.Data = valid(o.Provider), valid(o.Kind), valid(o.Data)
		out.Opaque = &o
	}
	return &out
}

// Normalize returns parts in the form in which a [Collector] returns them, which survives JSON byte
// for byte: text is valid UTF-8, arguments are compact JSON or else text in [ToolCall].Invalid. It
// is for parts from other sources. The given parts aren't changed.
func Normalize(parts []Part) []Part {
	if len(parts) == 0 {
		return nil
	}
	out := make([]Part, len(parts))
	for i := range parts {
		out[i] = *normalizePart(&parts[i])
	}
	return out
}
