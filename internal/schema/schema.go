package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// A Schema judges JSON texts. It is immutable and safe for concurrent use. Get one from [For], [Of] or [Parse].
type Schema struct {
	text     json.RawMessage // what is shown
	hash     string
	document any // what is checked with, decoded
	full     *validator.Schema
	root     *node
}

// For infers the schema of T. It is [Of] for a type known at compile time.
func For[T any](overlay json.RawMessage) (*Schema, error) {
	return Of(reflect.TypeFor[T](), overlay)
}

// Of infers the schema of a Go type from what encoding/json reads and writes for it.
//
// Structs are closed objects: other keys aren't allowed. Fields with omitempty or omitzero, pointers, fields of embedded
// pointers and fields with a default are optional, all others required. Pointers have the schema of what they point to,
// slices are plain lists; none is declared nullable, because some providers refuse that. Types with a text form are
// strings, []byte is base64, time.Time an RFC 3339 time, time.Duration an integer of nanoseconds, json.RawMessage and any
// are anything. A type that contains itself is under "$defs", and "$ref" refers to it.
//
// A `description:"…"` or `jsonschema:"…"` tag is a field's description. The tags enum, minimum, maximum, pattern, format
// and default are keywords of the same name; package tools documents them. A type, or a pointer to it, with a method
// JSONSchema() json.RawMessage describes itself ([Describer]); its schema must not use $ref.
//
// Integers and floats are also held to the range of their Go type, which for 64 bits the schema doesn't show.
//
// The overlay may be nil. It is a schema laid over the inferred one: its keywords replace the inferred ones; under
// "properties" it is merged name by name, new names go behind; "items" and "additionalProperties" are merged keyword by
// keyword. Of a type that contains itself it is laid over the outermost value only.
//
// Types without a JSON form, types with their own marshaler but without JSONSchema, tags that don't fit their field, and
// defaults that their own schema refuses are errors that name the type and the field.
func Of(t reflect.Type, overlay json.RawMessage) (*Schema, error) {
	shown, checked, err := infer(t)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if len(overlay) > 0 {
		if overlay, err = document(overlay); err != nil {
			return nil, fmt.Errorf("schema: overlay of %s: %w", t, err)
		}
		shown, checked = merge(shown, overlay), merge(checked, overlay)
	}
	s, err := compile(shown, checked, true)
	if err != nil {
		return nil, fmt.Errorf("schema: %s: %w", t, err)
	}
	return s, nil
}

// Parse compiles a schema document: draft 2020-12, unless "$schema" names an earlier draft; what isn't valid there is
// tried as draft 7. References that lead out of the document are errors; nothing is ever loaded. Formats are checked.
// A default that its own schema refuses is never filled in.
func Parse(raw json.RawMessage) (*Schema, error) {
	doc, err := document(raw)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s, err := compile(doc, doc, false)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return s, nil
}

func compile(shown, checked json.RawMessage, inferred bool) (*Schema, error) {
	full, part, err := compileFull(checked, inferred)
	if err != nil {
		return nil, err
	}
	s := &Schema{text: shown, full: full}
	if s.document, err = decode(checked); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(shown)
	s.hash = hex.EncodeToString(sum[:16])
	g := newGraph(checked, inferred)
	s.root = g.build(checked, "")
	defaults := settler{s: s, part: part, state: map[*property]bool{}}
	for _, n := range g.all {
		for i := range n.properties {
			defaults.settle(&n.properties[i])
		}
	}
	if inferred && defaults.refused != nil {
		return nil, defaults.refused
	}
	return s, nil
}

// JSON returns the schema's document, compact. The same type and overlay give the same bytes on every run; properties
// are in the order of the Go fields, or of the parsed document. The caller must not change it.
func (s *Schema) JSON() json.RawMessage { return s.text }

// Hash returns 32 hex digits that stand for [Schema.JSON].
func (s *Schema) Hash() string { return s.hash }

// IsObject says whether the schema takes objects and nothing else.
func (s *Schema) IsObject() bool { return s.root.kinds == kindObject }

// Accept is [Schema.Prepare] and then [Schema.Validate] of its result. For an input that is canonical and plainly valid it
// returns the input itself, after reading it once.
func (s *Schema) Accept(input json.RawMessage) (json.RawMessage, error) {
	if err := checkCount(input); err != nil {
		return nil, err
	}
	out, valid, err := s.read(s.orEmpty(input), false)
	if err == nil && !valid && !bytes.Equal(out, input) {
		_, valid, err = s.read(out, false)
	}
	if err == nil && !valid {
		err = s.judge(s.full, out)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Prepare brings a text into canonical form: compact; strings with no more escapes than they need; integers as plain
// integers (1.0 and 1e2 become 1 and 100) where the schema wants integers; defaults filled in where an object is present and the
// key is not; optional keys dropped whose value is null where null isn't allowed, as models like to send them. For schemas of Go
// types, null in place of a required list, map or []byte becomes the empty one, which is what encoding/json writes null
// for. Key order stays.
//
// Empty text and null count as {} where the schema takes objects only: models send them for tools without arguments.
//
// Text that isn't one value of valid UTF-8 JSON, nests deeper than 128 levels, has more than 10,000 keys or 100,000 values, holds numbers of more than 1,000
// characters or with exponents beyond ±400, or has a key twice is an [*InvalidError]. So is one with two keys that differ only in case, one
// of them declared or not, because a decoder would take one for the other; in objects whose keys are data (they have
// "additionalProperties" or "patternProperties" and declare no key) only the same key counts as twice.
//
// Canonical input comes back as it is, without allocation. Prepare doesn't judge: see [Schema.Validate].
func (s *Schema) Prepare(input json.RawMessage) (json.RawMessage, error) {
	if err := checkCount(input); err != nil {
		return nil, err
	}
	out, _, err := s.read(s.orEmpty(input), false)
	return out, err
}

// Validate judges a text as it stands: nothing is filled in or taken for something else. What Prepare refuses, it refuses
// too. The error is an [*InvalidError] unless the schema itself can't be applied.
func (s *Schema) Validate(input json.RawMessage) error {
	out, valid, err := s.read(input, true)
	if err == nil && !valid {
		err = s.judge(s.full, out)
	}
	return err
}

// read returns a text in canonical form, and whether it was so before and is certainly valid.
func (s *Schema) read(input json.RawMessage, keep bool) (out json.RawMessage, valid bool, err error) {
	r := reader{in: input, keep: keep}
	if err := r.run(s.root); err != nil {
		return nil, false, err
	}
	return r.output(), r.valid && r.isCanonical(), nil
}

// orEmpty returns {} in place of nothing where the schema takes objects only.
func (s *Schema) orEmpty(input json.RawMessage) json.RawMessage {
	if trimmed := bytes.TrimSpace(input); s.IsObject() && (len(trimmed) == 0 || string(trimmed) == "null") {
		return json.RawMessage("{}")
	}
	return input
}
