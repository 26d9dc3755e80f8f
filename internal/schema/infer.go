package schema

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Describer is a type that returns its own schema, for example because it has its own marshaler.
// The method is called on the zero value, and may have either receiver.
type Describer interface {
	JSONSchema() json.RawMessage
}

var (
	describer       = reflect.TypeFor[Describer]()
	marshaler       = reflect.TypeFor[json.Marshaler]()
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// known has the schemas of types of the standard library whose JSON form doesn't follow from their
// kind.
var known = map[reflect.Type]string{
	reflect.TypeFor[json.RawMessage](): `{}`,
	reflect.TypeFor[json.Number]():     `{"type":"number"}`,
	reflect.TypeFor[time.Time]():       `{"type":"string","format":"date-time"}`,
	reflect.TypeFor[big.Int]():         `{"type":"integer"}`,
}

// nilForm is a keyword that only the checked document has: the JSON text that corresponds to nil of
// the Go type. With it, [Schema.Prepare] replaces a null that the schema doesn't allow.
const nilForm = "x-nil"

// An inference makes the schema document of a Go type.
type inference struct {
	// checked adds keywords that are validated but not shown: the ranges of 64-bit numbers, and
	// nilForm.
	checked bool

	open  map[reflect.Type]bool   // the named types around the current one
	names map[reflect.Type]string // the names under $defs of the types that contain themselves
	defs  []member                // their schemas, in the order in which they were completed
}

// infer returns the two documents of a type: the one that is shown, and the one for validation.
func infer(t reflect.Type) (shown, checked json.RawMessage, err error) {
	if t == nil {
		return nil, nil, errors.New("the type is nil; use any or json.RawMessage for any JSON")
	}
	if shown, err = inferDocument(t, false); err != nil {
		return nil, nil, err
	}
	checked, err = inferDocument(t, true)
	return shown, checked, err
}

func inferDocument(t reflect.Type, checked bool) (json.RawMessage, error) {
	in := &inference{checked: checked, open: map[reflect.Type]bool{}, names: map[reflect.Type]string{}}
	doc, err := in.schemaOf(t, t.String())
	if err != nil || len(in.defs) == 0 {
		return doc, err
	}
	ms, _ := members(doc)
	if ref := get(ms, "$ref"); ref != nil { // providers require that the root is an object, not a reference
		ms, _ = members(get(in.defs, strings.TrimPrefix(textOf(ref), "#/$defs/")))
	}
	return join(append(ms, member{"$defs", join(in.defs)})), nil
}

// schemaOf returns the schema of a type. The schema of a type that contains itself is a reference
// into $defs.
func (in *inference) schemaOf(t reflect.Type, path string) (json.RawMessage, error) {
	for pointers := 0; t.Kind() == reflect.Pointer; t = t.Elem() {
		if pointers++; pointers > 100 {
			return nil, fmt.Errorf("%s: the type %s is a pointer to itself, which JSON has no form for", path, t)
		}
	}
	if in.open[t] && in.names[t] == "" {
		in.names[t] = in.newName(t)
	}
	if name := in.names[t]; name != "" {
		return reference(name), nil
	}
	if t.Name() == "" {
		return in.inline(t, path)
	}
	in.open[t] = true
	doc, err := in.inline(t, path)
	delete(in.open, t)
	if name := in.names[t]; name != "" {
		in.defs = append(in.defs, member{name, doc})
		doc = reference(name)
	}
	return doc, err
}

func reference(name string) json.RawMessage {
	return json.RawMessage(`{"$ref":"#/$defs/` + name + `"}`)
}

// newName returns a name for a type under $defs, without characters that a reference would have to
// escape.
func (in *inference) newName(t reflect.Type) string {
	name := regexp.MustCompile(`\W`).ReplaceAllString(t.Name(), "_")
	unique := name
	for i := 2; slices.Contains(slices.Collect(maps.Values(in.names)), unique); i++ {
		unique = name + strconv.Itoa(i)
	}
	return unique
}

// inline returns the schema of a type that isn't a pointer.
func (in *inference) inline(t reflect.Type, path string) (json.RawMessage, error) {
	if t.Kind() == reflect.Interface {
		if t.NumMethod() > 0 {
			return nil,
				fmt.Errorf(
					"%s: JSON can't be decoded into the interface %s; use any, json.RawMessage or a concrete type",
					path, t)
		}
		return json.RawMessage(`{}`), nil
	}
	pointer := reflect.PointerTo(t)
	switch {
	case pointer.Implements(describer):
		return describe(t, path)
	case known[t] != "":
		return json.RawMessage(known[t]), nil
	case t == reflect.TypeFor[url.URL]():
		return nil, fmt.Errorf("%s: encoding/json doesn't write a url.URL as text; use a string", path)
	case pointer.Implements(marshaler) || pointer.Implements(unmarshaler):
		return nil,
			fmt.Errorf(
				"%s: the type %s has its own JSON marshaler; give it a method JSONSchema() json.RawMessage that "+
					"describes what it reads and writes", path, t)
	case pointer.Implements(textMarshaler) || pointer.Implements(textUnmarshaler):
		return json.RawMessage(`{"type":"string"}`), nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return json.RawMessage(`{"type":"boolean"}`), nil
	case reflect.String:
		return json.RawMessage(`{"type":"string"}`), nil
	case reflect.Struct:
		return in.object(t, path)
	case reflect.Slice, reflect.Array:
		return in.list(t, path)
	case reflect.Map:
		return in.table(t, path)
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return nil, noForm(t, path)
	}
	return in.number(t), nil
}

func noForm(t reflect.Type, path string) error {
	return fmt.Errorf("%s: JSON has no form for the type %s; leave the field out with the tag `json:\"-\"`", path, t)
}

// describe gets the schema from a type's method. A method promoted from an embedded field describes
// that field, and not the struct around it.
func describe(t reflect.Type, path string) (json.RawMessage, error) {
	doc, err := ask(t)
	if err != nil {
		return nil, fmt.Errorf("%s: JSONSchema() of %s: %w", path, t, err)
	}
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		inner := pointedTo(t.Field(i).Type)
		if !t.Field(i).Anonymous || inner.Kind() == reflect.Interface ||
			!reflect.PointerTo(inner).Implements(describer) {
			continue
		}
		if promoted, err := ask(inner); err == nil && string(promoted) == string(doc) {
			return nil,
				fmt.Errorf("%s: %s has JSONSchema() only from the embedded %s; give it one of its own, or don't embed",
					path, t, inner)
		}
	}
	return doc, nil
}

func ask(t reflect.Type) (doc json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panicked on the zero value: %v", r)
		}
	}()
	return document(reflect.New(t).Interface().(Describer).JSONSchema())
}

func pointedTo(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func (in *inference) object(t reflect.Type, path string) (json.RawMessage, error) {
	fields, err := fieldsOf(t, path)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 && t.NumField() > 0 {
		return nil,
			fmt.Errorf("%s: the struct %s has fields, but none that encoding/json sees; export them, or use struct{}",
				path, t)
	}
	var properties []member
	var required []string
	for _, f := range fields {
		at := path + "." + f.goName
		doc, err := in.schemaOf(f.typ, at)
		if err == nil {
			doc, err = applyTags(doc, &f, at)
		}
		if err != nil {
			return nil, err
		}
		properties = append(properties, member{f.name, doc})
		if !f.optional {
			required = append(required, f.name)
		}
	}
	ms := []member{{"type", json.RawMessage(`"object"`)}, {"properties", join(properties)}}
	if len(required) > 0 {
		ms = append(ms, member{"required", quotedList(required)})
	}
	return join(append(ms, member{"additionalProperties", json.RawMessage("false")})), nil
}

func (in *inference) list(t reflect.Type, path string) (json.RawMessage, error) {
	elem := t.Elem()
	if p := reflect.PointerTo(elem); t.Kind() == reflect.Slice && elem.Kind() == reflect.Uint8 &&
		!p.Implements(marshaler) && !p.Implements(textMarshaler) {
		return in.withNil(`{"type":"string","contentEncoding":"base64"}`, `""`), nil
	}
	items, err := in.schemaOf(elem, path+"[]")
	if err != nil {
		return nil, err
	}
	doc := `{"type":"array","items":` + string(items)
	if t.Kind() == reflect.Array {
		return fmt.Appendf(nil, `%s,"minItems":%d,"maxItems":%d}`, doc, t.Len(), t.Len()), nil
	}
	return in.withNil(doc+"}", "[]"), nil
}

func (in *inference) table(t reflect.Type, path string) (json.RawMessage, error) {
	if key := t.Key(); key.Kind() != reflect.String && !key.Implements(textMarshaler) {
		return nil, fmt.Errorf("%s: the keys of %s aren't strings; use a map with string keys or a list", path, t)
	}
	values, err := in.schemaOf(t.Elem(), path+"{}")
	if err != nil {
		return nil, err
	}
	return in.withNil(`{"type":"object","additionalProperties":`+string(values)+"}", "{}"), nil
}

func (in *inference) withNil(doc, form string) json.RawMessage {
	if !in.checked {
		return json.RawMessage(doc)
	}
	return fmt.Appendf(nil, `%s,%q:%q}`, strings.TrimSuffix(doc, "}"), nilForm, form)
}

// number returns the schema of a type of numbers. The ranges of int, uint and types of 64 bits are
// checked, but not shown.
func (in *inference) number(t reflect.Type) json.RawMessage {
	if t == reflect.TypeFor[time.Duration]() && !in.checked {
		return json.RawMessage(`{"type":"integer","description":"a duration in nanoseconds"}`)
	}
	kind, bits := t.Kind(), t.Bits()
	ranged := in.checked || bits < 64 && kind != reflect.Int && kind != reflect.Uint && kind != reflect.Uintptr
	switch {
	case kind == reflect.Float32 && in.checked:
		return fmt.Appendf(nil, `{"type":"number","minimum":%g,"maximum":%g}`, float32(-math.MaxFloat32),
			float32(math.MaxFloat32))
	case kind == reflect.Float64 && in.checked:
		return fmt.Appendf(nil, `{"type":"number","minimum":%g,"maximum":%g}`, -math.MaxFloat64, math.MaxFloat64)
	case kind == reflect.Float32 || kind == reflect.Float64:
		return json.RawMessage(`{"type":"number"}`)
	case kind >= reflect.Uint && ranged:
		return fmt.Appendf(nil, `{"type":"integer","minimum":0,"maximum":%d}`, uint64(math.MaxUint64)>>(64-bits))
	case kind >= reflect.Uint:
		return json.RawMessage(`{"type":"integer","minimum":0}`)
	case ranged:
		return fmt.Appendf(nil, `{"type":"integer","minimum":%d,"maximum":%d}`, int64(math.MinInt64)>>(64-bits),
			int64(math.MaxInt64)>>(64-bits))
	}
	return json.RawMessage(`{"type":"integer"}`)
}
