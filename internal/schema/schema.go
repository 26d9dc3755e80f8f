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

// A Schema validates JSON texts. It is immutable and safe for concurrent use. Make one with [For],
// [Of] or [Parse].
type Schema struct {
	text     json.RawMessage // the document that is shown
	hash     string
	document any // the document for validation, decoded
	full     *validator.Schema
	root     *node
}

// For infers the schema of T. It is [Of] for a type known at compile time.
func For[T any](overlay json.RawMessage) (*Schema, error) {
	return Of(reflect.TypeFor[T](), overlay)
}

// Of infers the schema of a Go type from its form in encoding/json.
//
// Structs are closed objects: other keys aren't allowed. Fields with omitempty or omitzero,
// pointers, fields of embedded pointers and fields with a default are optional, all others
// required. Pointers have the schema of their element, slices are plain lists; none is declared
// nullable, because some providers reject that. Types with a text form are strings, []byte is
// base64, time.Time an RFC 3339 time, time.Duration an integer of nanoseconds, json.RawMessage and
// any accept any JSON. A type that contains itself is under "$defs", and "$ref" refers to it.
//
// A `description:"…"` or `jsonschema:"…"` tag is a field's description. The tags enum, minimum,
// maximum, pattern, format and default are keywords of the same name; package tools documents them.
// A type, or a pointer to it, with a method JSONSchema() json.RawMessage describes itself
// ([Describer]); its schema must not use $ref.
//
// Integers and floats are also restricted to the range of their Go type, which the schema doesn't
// show for 64 bits.
//
// The overlay may be nil. It is a schema that is merged into the inferred one: its keywords replace
// the inferred ones; under "properties" it is merged name by name, with new names at the end, and
// null leaves out one that isn't required, and is an error for one that is; "items" and
// "additionalProperties" are merged keyword by keyword. For a type that contains itself it applies
// only to the outermost value.
//
// Types without a JSON form, types with their own marshaler but without JSONSchema, tags that don't
// match their field, and defaults that their own schema rejects are errors that name the type and
// the field.
//
// The newest 500 schemas are kept, because a program that makes many agents defines the same tools
// again and again, and that takes milliseconds.
func Of(t reflect.Type, overlay json.RawMessage) (*Schema, error) {
	key := typeKey{t, string(overlay)}
	if s := kept.get(key); s != nil {
		return s, nil
	}
	s, err := compileType(t, overlay)
	if err == nil {
		kept.put(key, s)
	}
	return s, err
}

// compileType infers and compiles a schema.
func compileType(t reflect.Type, overlay json.RawMessage) (*Schema, error) {
	shown, checked, err := infer(t)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if len(overlay) > 0 {
		if overlay, err = document(overlay); err != nil {
			return nil, fmt.Errorf("schema: overlay of %s: %w", t, err)
		}
		shown, checked = merge(shown, overlay), merge(checked, overlay)
		if err := checkLeftOut(overlay, checked); err != nil {
			return nil, fmt.Errorf("schema: overlay of %s: %w", t, err)
		}
	}
	s, err := compile(shown, checked, true)
	if err != nil {
		return nil, fmt.Errorf("schema: %s: %w", t, err)
	}
	return s, nil
}

// Parse compiles a schema document: draft 2020-12, unless "$schema" names an earlier draft; a
// document that isn't valid there is compiled as draft 7. References that lead out of the document
// are errors; nothing is ever loaded. Formats are checked. A default that its own schema rejects is
// never filled in.
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

// JSON returns the schema's document, compact. The same type and overlay give the same bytes on
// every run; properties are in the order of the Go fields, or of the parsed document. The caller
// must not change it.
func (s *Schema) JSON() json.RawMessage { return s.text }

// Hash returns 32 hex digits that identify [Schema.JSON].
func (s *Schema) Hash() string { return s.hash }

// IsObject reports whether the schema accepts only objects.
func (s *Schema) IsObject() bool { return s.root.kinds == kindObject }

// Accept is [Schema.Prepare] followed by [Schema.Validate]. For an input that is canonical and
// plainly valid it returns the input itself, after reading it once.
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

// Prepare converts a text to canonical form: compact; strings with only the necessary escapes;
// integers as plain integers (1.0 and 1e2 become 1 and 100) where the schema requires integers;
// with defaults for absent keys of objects that are present; without optional keys whose value is
// null although null isn't allowed, which models often send. For schemas of Go types, null instead
// of a required list, map or []byte becomes the empty one, because encoding/json encodes nil as
// null. The order of keys stays.
//
// Empty text and null count as {} if the schema accepts only objects: models send them for tools
// without arguments.
//
// Text that isn't one value of valid UTF-8 JSON, nests deeper than 128 levels, has more than 10,000
// keys or 100,000 values, contains numbers of more than 1,000 characters or with exponents beyond
// ±400, or has a duplicate key is an [*InvalidError]. So is text with two keys that differ only in
// case, because a decoder would confuse them; in objects whose keys are data (they have
// "additionalProperties" or "patternProperties" and declare no key) only equal keys are duplicates.
//
// Canonical input is returned unchanged, without allocation. Prepare doesn't validate: see
// [Schema.Validate].
func (s *Schema) Prepare(input json.RawMessage) (json.RawMessage, error) {
	if err := checkCount(input); err != nil {
		return nil, err
	}
	out, _, err := s.read(s.orEmpty(input), false)
	return out, err
}

// Validate validates a text without changing it: no defaults, no replacements. It rejects
// everything that Prepare rejects, too. The error is an [*InvalidError] unless the schema itself
// can't be applied.
func (s *Schema) Validate(input json.RawMessage) error {
	out, valid, err := s.read(input, true)
	if err == nil && !valid {
		err = s.judge(s.full, out)
	}
	return err
}

// read returns a text in canonical form, and whether it was canonical before and is certainly
// valid.
func (s *Schema) read(input json.RawMessage, keep bool) (out json.RawMessage, valid bool, err error) {
	r := reader{in: input, keep: keep}
	if err := r.run(s.root); err != nil {
		return nil, false, err
	}
	return r.output(), r.valid && r.isCanonical(), nil
}

// orEmpty returns {} for empty input if the schema accepts only objects.
func (s *Schema) orEmpty(input json.RawMessage) json.RawMessage {
	if trimmed := bytes.TrimSpace(input); s.IsObject() && (len(trimmed) == 0 || string(trimmed) == "null") {
		return json.RawMessage("{}")
	}
	return input
}
