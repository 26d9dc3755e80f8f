package wirediff

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"
)

// A value is a JSON value whose members keep their order and whose scalars keep their spelling.
type value struct {
	kind byte   // '{', '[', '"', or '0' for a number, true, false and null
	raw  string // of a scalar
	keys []string
	vals []*value
}

// parse returns the value of a JSON text, or nil if it isn't one.
func parse(text string) *value {
	if !json.Valid([]byte(text)) {
		return nil
	}
	p := parser{text}
	return p.value()
}

// A parser reads JSON that is known to be valid.
type parser struct{ rest string }

func (p *parser) blank() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

func (p *parser) value() *value {
	p.blank()
	switch open := p.rest[0]; open {
	case '{', '[':
		v := &value{kind: open}
		for p.rest = p.rest[1:]; ; {
			if p.blank(); p.rest[0] == open+2 {
				p.rest = p.rest[1:]
				return v
			}
			if p.rest[0] == ',' {
				p.rest = p.rest[1:]
				p.blank()
			}
			if open == '{' {
				v.keys = append(v.keys, p.text())
				p.blank()
				p.rest = p.rest[1:] // the colon
			}
			v.vals = append(v.vals, p.value())
		}
	case '"':
		return &value{kind: '"', raw: p.text()}
	}
	end := strings.IndexAny(p.rest, ",]} \t\r\n")
	if end < 0 {
		end = len(p.rest)
	}
	v := &value{kind: '0', raw: p.rest[:end]}
	p.rest = p.rest[end:]
	return v
}

// text returns the string that is next, with its quotes.
func (p *parser) text() string {
	end := 1
	for p.rest[end] != '"' {
		if p.rest[end] == '\\' {
			end++
		}
		end++
	}
	s := p.rest[:end+1]
	p.rest = p.rest[end+1:]
	return s
}

// clone returns a value that shares nothing that changes.
func (v *value) clone() *value {
	c := &value{kind: v.kind, raw: v.raw, keys: slices.Clone(v.keys), vals: slices.Clone(v.vals)}
	for i := range c.vals {
		c.vals[i] = c.vals[i].clone()
	}
	return c
}

// at returns the value under a path of keys and indexes, or nil.
func (v *value) at(path ...any) *value {
	for _, step := range path {
		if v == nil {
			return nil
		}
		i := -1
		switch s := step.(type) {
		case string:
			i = slices.Index(v.keys, `"`+s+`"`)
		case int:
			if v.kind == '[' && s < len(v.vals) {
				i = s
			}
		}
		if i < 0 {
			return nil
		}
		v = v.vals[i]
	}
	return v
}

// set sets a member of an object to a JSON text.
func (v *value) set(key, text string) {
	key = `"` + key + `"`
	if i := slices.Index(v.keys, key); i >= 0 {
		v.vals[i] = parse(text)
		return
	}
	v.keys, v.vals = append(v.keys, key), append(v.vals, parse(text))
}

// remove removes the member at i.
func (v *value) remove(i int) {
	v.vals = slices.Delete(v.vals, i, i+1)
	if v.kind == '{' {
		v.keys = slices.Delete(v.keys, i, i+1)
	}
}

// string returns the text of a string, and whether it is one that stays the same when it is
// encoded again.
func (v *value) string() (string, bool) {
	if v == nil || v.kind != '"' || strings.Contains(v.raw, `\ud`) || strings.Contains(v.raw, `\uD`) {
		return "", false
	}
	var s string
	if json.Unmarshal([]byte(v.raw), &s) != nil || strings.ContainsRune(s, utf8.RuneError) {
		return "", false
	}
	return s, true
}

// is reports whether the value is a string with that text.
func (v *value) is(text string) bool { return v != nil && v.raw == `"`+text+`"` }

// each calls f with all objects and lists of a value, and with the scalars in them, but not with
// what is in arguments, which belong to the model.
func (v *value) each(f func(v *value)) {
	f(v)
	for i, child := range v.vals {
		if v.kind == '{' && free[v.keys[i]] {
			continue
		}
		child.each(f)
	}
}

// free are the members in which anything may be.
var free = map[string]bool{`"args"`: true, `"input"`: true, `"arguments"`: true, `"partialArgs"`: true,
	`"action"`: true, `"operation"`: true, `"error"`: true, `"extra_content"`: true,
	`"jsonPath"`: true, `"parameters"`: true}

// A spelling says how a JSON text is written. The zero spelling is the shortest.
type spelling struct {
	r      *rand.Rand
	blanks bool // between tokens
	lines  bool // between some tokens, so that the text has several lines
	escape int  // one of so many characters is written as an escape
}

func (v *value) text(sp spelling) string {
	var b strings.Builder
	v.write(&b, sp)
	return b.String()
}

func (v *value) write(b *strings.Builder, sp spelling) {
	switch v.kind {
	case '"':
		sp.string(b, v.raw)
		return
	case '0':
		b.WriteString(v.raw)
		return
	}
	b.WriteByte(v.kind)
	for i, child := range v.vals {
		if i > 0 {
			b.WriteByte(',')
		}
		sp.blank(b)
		if v.kind == '{' {
			b.WriteString(v.keys[i])
			sp.blank(b)
			b.WriteByte(':')
			sp.blank(b)
		}
		child.write(b, sp)
		sp.blank(b)
	}
	b.WriteByte(v.kind + 2)
}

func (sp spelling) blank(b *strings.Builder) {
	switch {
	case sp.blanks && sp.r.IntN(3) == 0:
		b.WriteString([]string{" ", "  ", "\t"}[sp.r.IntN(3)])
	case sp.lines && sp.r.IntN(4) == 0:
		b.WriteByte('\n')
	}
}

func (sp spelling) string(b *strings.Builder, raw string) {
	v := value{kind: '"', raw: raw}
	text, ok := v.string()
	if sp.escape == 0 || !ok {
		b.WriteString(raw)
		return
	}
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '/' && sp.r.IntN(2) == 0:
			b.WriteString(`\/`)
		case c < ' ' || c == '"' || c == '\\' || sp.r.IntN(sp.escape) == 0:
			if c > 0xffff {
				c -= 0x10000
				fmt.Fprintf(b, `\u%04x\u%04X`, 0xd800+c>>10, 0xdc00+c&0x3ff)
			} else {
				fmt.Fprintf(b, `\u%04x`, c)
			}
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
}

// quote returns a text as JSON.
func quote(text string) string {
	data, _ := json.Marshal(text) // of a string
	return string(data)
}
