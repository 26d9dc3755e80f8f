package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
)

// address names the document for the validator. It must be a URL: the validator would convert a
// plain name to a file's URL with the working directory in it.
const address = "mem://schema/document"

// compileFull compiles a document with jsonschema/v5, and returns a function that compiles a part
// of it.
func compileFull(doc json.RawMessage, inferred bool) (full *validator.Schema,
	sub func(pointer string) (*validator.Schema, error), err error) {
	full, sub, err = compileDraft(doc, validator.Draft2020, inferred)
	if err == nil || inferred {
		return full, sub, err
	}
	ms, _ := members(doc)
	ms = slices.DeleteFunc(ms, func(m member) bool { return m.key == "$schema" })
	if full, sub, older := compileDraft(join(ms), validator.Draft7, inferred); older == nil {
		return full, sub, nil
	}
	return nil, nil, err
}

func compileDraft(doc json.RawMessage, draft *validator.Draft, inferred bool) (*validator.Schema,
	func(string) (*validator.Schema, error), error) {
	c := validator.NewCompiler()
	c.Draft = draft
	c.AssertFormat = true
	c.LoadURL = func(string) (io.ReadCloser, error) { return nil, errElsewhere }
	if inferred { // a valid text must be decodable
		c.AssertContent = true
		c.Formats["date-time"] = func(v any) bool {
			s, ok := v.(string)
			return !ok || isTime([]byte(s))
		}
	}
	part := func(pointer string) (s *validator.Schema, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("not a valid schema: %s", shorten(fmt.Sprint(r), 200))
			}
		}()
		s, err = c.Compile(address + pointer)
		return s, sayWhere(err)
	}
	if err := c.AddResource(address, bytes.NewReader(doc)); err != nil {
		return nil, nil, sayWhere(err)
	}
	full, err := part("")
	return full, part, err
}

var errElsewhere = errors.New("it refers to something outside of itself, which is never loaded; put it under \"$defs\"")

// sayWhere converts a compiler's error to one without addresses.
func sayWhere(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, errElsewhere) {
		return errElsewhere
	}
	var loop validator.InfiniteLoopError
	if errors.As(err, &loop) {
		return errEndless
	}
	var invalid *validator.ValidationError
	if errors.As(err, &invalid) {
		for len(invalid.Causes) > 0 {
			invalid = invalid.Causes[0]
		}
		var path []byte
		for _, token := range tokens(invalid.InstanceLocation) {
			path = appendKey(path, token)
		}
		where := ""
		if len(path) > 0 {
			where = string(path) + ": "
		}
		return fmt.Errorf("not a valid schema: %s%s", where, invalid.Message)
	}
	var outer *validator.SchemaError
	if errors.As(err, &outer) && outer.Err != nil {
		err = outer.Err
	}
	return fmt.Errorf("not a valid schema: %s",
		strings.ReplaceAll(strings.TrimPrefix(err.Error(), "jsonschema: "), address, ""))
}

var errEndless = errors.New("the schema refers to itself without end")

// judge validates a text with jsonschema/v5, after a reader has checked its limits. full is s.full
// or a part of it.
func (s *Schema) judge(full *validator.Schema, input json.RawMessage) error {
	v, err := decode(input)
	if err != nil {
		return &InvalidError{Problems: []Problem{{Message: "not valid JSON"}}}
	}
	err = apply(full, v)
	var invalid *validator.ValidationError
	if errors.As(err, &invalid) {
		base, _, _ := strings.Cut(full.Location, "#")
		e := explanation{address: base, document: s.document, value: v}
		return e.explain(invalid)
	}
	return err
}

// apply validates a decoded value and recovers the validator's panics.
func apply(full *validator.Schema, v any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("schema: the schema can't be applied to this value")
		}
	}()
	err = full.Validate(v)
	var loop validator.InfiniteLoopError
	if errors.As(err, &loop) {
		return fmt.Errorf("schema: %w", errEndless)
	}
	return err
}

func decode(text []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}
