package erase

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
)

// sealed are the members of a provider's data that hold names, or what is encrypted.
var sealed = set("id call_id tool_use_id item_id type encrypted_content encrypted_index signature thoughtSignature")

// inputs are the members of a provider's data that hold the input of a tool.
var inputs = set("input args arguments")

// parts returns the parts of a message. What a provider has added to them belongs together: if one
// of them loses it, all do, as if another provider had made the message.
func (p *parser) parts(at place) ([]byte, bool) {
	from, before := p.at, p.dropped
	p.dropped = false
	out, changed := p.list(at)
	if p.dropped && !p.drop {
		p.at, p.drop = from, true
		out, changed = p.list(at)
		p.drop = false
	}
	p.dropped = before
	return out, changed
}

// opaque returns the data of a provider as it is, or nil if it has a text to replace: the provider
// wants it back verbatim, or not at all. A part without it isn't sent, or as that of another
// provider.
func (p *parser) opaque(at place) (_ []byte, changed bool) {
	from := p.at
	dec := json.NewDecoder(bytes.NewReader(p.raw[from:]))
	var o provider.Opaque
	if dec.Decode(&o) != nil || strings.HasPrefix(o.Provider, "pawl/") { // the library's own, which isn't sent
		return p.object(at)
	}
	p.at += int(dec.InputOffset())
	if p.drop || p.w.finds(o.Data, at.depth) {
		p.dropped = true
		return nil, true
	}
	return p.raw[from:p.at], false
}

// finds reports whether the data of a provider has a text to replace. What isn't JSON has no texts:
// it is a signature, or a name.
func (w *Walk) finds(data string, depth int) (found bool) {
	if depth >= maxDepth || !strings.HasPrefix(data, "{") && !strings.HasPrefix(data, "[") ||
		!json.Valid([]byte(data)) {
		return false
	}
	probe := &Walk{Text: func(text string) string {
		found = w.Text(text) != text || found
		return text
	}}
	probe.json([]byte(data), place{sealed: true, depth: depth + 1})
	return found
}

// encoded reports whether a text is base64 of something that isn't a text, also as addresses have
// it.
func encoded(s string) bool {
	d, is := fromBase64(s)
	return len(s) >= leastBinary && (!is || !utf8.ValidString(d)) && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+/-_=", r)
	})
}

// unsigned returns the members of an object that are left: without a provider's data that was
// dropped, and without that of a reasoning whose text was replaced. It is the text's signature, and
// no provider takes another text with it.
func (p *parser) unsigned(all []member, at place) (out []member) {
	reasoning, changed := false, false
	for _, m := range all {
		reasoning = reasoning || m.key == "kind" && string(m.value) == `"`+string(provider.PartReasoning)+`"`
		changed = changed || m.key == "text" && m.changed
	}
	for _, m := range all {
		if m.key == "opaque" && !at.free && reasoning && changed {
			m.value, p.dropped = nil, true
		}
		if m.value != nil {
			out = append(out, m)
		}
	}
	return out
}
