package schema

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Describer is a type that knows its own schema: it says enum, minimum, default and the like, or describes a JSON form
// that comes from the type's own marshaler. The method is called on the zero value, and may have either receiver.
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

// known are types of the standard library whose JSON form their kind doesn't tell.
var known = &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.Number]():   {Type: "number"},
	reflect.TypeFor[time.Time]():     {Type: "string", Format: "date-time"},
	reflect.TypeFor[time.Duration](): {Type: "integer", Description: "a duration in nanoseconds"},
	reflect.TypeFor[big.Int]():       {Type: "integer"},
}}

// nilForm is a keyword that only the checked document carries: the JSON text that a nil of the Go type stands for. It
// lets [Schema.Prepare] read null as encoding/json writes it.
const nilForm = "x-nil"

// inference walks a Go type. Structs, slices, maps and pointers are described here, because encoding/json's rules for
// embedding, optional fields and nil decide about them; single values are left to jsonschema.ForType.
type inference struct {
	// checked adds what the schema is checked with but not shown with: the ranges of 64-bit numbers, and nilForm.
	checked bool

	open map[reflect.Type]bool // named types that are being described
}

// infer returns the two documents of a type: the one to show, and the one to check with.
func infer(t reflect.Type) (shown, checked json.RawMessage, err error) {
	if t == nil {
		return nil, nil, errors.New("there is no type; use any or json.RawMessage for any JSON")
	}
	path := t.String()
	if shown, err = (&inference{open: map[reflect.Type]bool{}}).of(t, path); err != nil {
		return nil, nil, err
	}
	checked, err = (&inference{checked: true, open: map[reflect.Type]bool{}}).of(t, path)
	return shown, checked, err
}

func (in *inference) of(t reflect.Type, path string) (json.RawMessage, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Name() != "" {
		if in.open[t] {
			return nil, fmt.Errorf("%s: the type %s contains itself; give it a JSONSchema() method, or make the field a json.RawMessage", path, t)
		}
		in.open[t] = true
		defer delete(in.open, t)
	}

	pointer := reflect.PointerTo(t)
	switch {
	case t.Kind() != reflect.Interface && pointer.Implements(describer):
		return describe(t, path)
	case t == reflect.TypeFor[json.RawMessage]():
		return json.RawMessage(`{}`), nil
	case known.TypeSchemas[t] != nil:
		return in.single(t, path)
	case t == reflect.TypeFor[url.URL]():
		return nil, fmt.Errorf("%s: encoding/json doesn't write a url.URL as text; use a string", path)
	case t.Kind() != reflect.Interface && (pointer.Implements(marshaler) || pointer.Implements(unmarshaler)):
		return nil, fmt.Errorf("%s: the type %s has its own JSON marshaler; give it a method JSONSchema() json.RawMessage that describes what it reads and writes", path, t)
	case t.Kind() != reflect.Interface && (pointer.Implements(textMarshaler) || pointer.Implements(textUnmarshaler)):
		return json.RawMessage(`{"type":"string"}`), nil
	}

	switch t.Kind() {
	case reflect.Struct:
		return in.object(t, path)
	case reflect.Slice, reflect.Array:
		return in.list(t, path)
	case reflect.Map:
		return in.table(t, path)
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return nil, fmt.Errorf("%s: JSON can't be decoded into the interface %s; use any, json.RawMessage or a concrete type", path, t)
		}
		return json.RawMessage(`{}`), nil
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return nil, fmt.Errorf("%s: JSON has no form for the type %s; leave the field out with the tag `json:\"-\"`", path, t)
	}
	return in.single(t, path)
}

// describe asks a type for its schema.
func describe(t reflect.Type, path string) (json.RawMessage, error) {
	raw, err := ask(t)
	if err == nil {
		raw, err = document(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: JSONSchema() of %s: %w", path, t, err)
	}
	if t.Kind() != reflect.Struct {
		return raw, nil
	}
	// A method promoted from an embedded field describes that field, not the struct around it.
	for i := range t.NumField() {
		sf := t.Field(i)
		inner := sf.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if !sf.Anonymous || inner.Kind() == reflect.Interface || !reflect.PointerTo(inner).Implements(describer) {
			continue
		}
		if of, err := ask(inner); err == nil {
			if of, err = document(of); err == nil && string(of) == string(raw) {
				return nil, fmt.Errorf("%s: %s has JSONSchema() only from the embedded %s; give it one of its own, or don't embed", path, t, inner)
			}
		}
	}
	return raw, nil
}

func ask(t reflect.Type) (raw json.RawMessage, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panicked on the zero value: %v", r)
		}
	}()
	return reflect.New(t).Interface().(Describer).JSONSchema(), nil
}

// hasOwnForm says whether a type's JSON form isn't that of its fields.
func hasOwnForm(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	for _, i := range []reflect.Type{describer, marshaler, unmarshaler, textMarshaler, textUnmarshaler} {
		if p.Implements(i) {
			return true
		}
	}
	return false
}

func (in *inference) object(t reflect.Type, path string) (json.RawMessage, error) {
	fields, err := fieldsOf(t, path)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 && t.NumField() > 0 {
		return nil, fmt.Errorf("%s: the struct %s has fields, but none that encoding/json sees; export them, or use struct{}", path, t)
	}
	var properties []member
	var required []string
	for _, f := range fields {
		doc, err := in.of(f.typ, path+"."+f.goName)
		if err != nil {
			return nil, err
		}
		if f.description != "" {
			ms, ok := members(doc)
			if !ok {
				return nil, fmt.Errorf("%s.%s: its type's schema is %s, which has no place for a description", path, f.goName, doc)
			}
			doc = join(set(ms, "description", appendQuoted(nil, f.description)))
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
	if p := reflect.PointerTo(elem); t.Kind() == reflect.Slice && elem.Kind() == reflect.Uint8 && !p.Implements(marshaler) && !p.Implements(textMarshaler) {
		return in.withNil(`{"type":"string","contentEncoding":"base64"}`, `""`), nil
	}
	items, err := in.of(elem, path+"[]")
	if err != nil {
		return nil, err
	}
	doc := `{"type":"array","items":` + string(items)
	if t.Kind() == reflect.Array {
		n := strconv.Itoa(t.Len())
		return json.RawMessage(doc + `,"minItems":` + n + `,"maxItems":` + n + `}`), nil
	}
	return in.withNil(doc+"}", "[]"), nil
}

func (in *inference) table(t reflect.Type, path string) (json.RawMessage, error) {
	if key := t.Key(); key.Kind() != reflect.String && !key.Implements(textMarshaler) {
		return nil, fmt.Errorf("%s: the keys of %s are no strings; use a map with string keys or a list", path, t)
	}
	values, err := in.of(t.Elem(), path+"{}")
	if err != nil {
		return nil, err
	}
	return in.withNil(`{"type":"object","additionalProperties":`+string(values)+"}", "{}"), nil
}

func (in *inference) withNil(doc, form string) json.RawMessage {
	if in.checked {
		quoted := appendQuoted(nil, form)
		doc = strings.TrimSuffix(doc, "}") + `,"` + nilForm + `":` + string(quoted) + "}"
	}
	return json.RawMessage(doc)
}

// single describes bools, numbers and strings, and the known types.
func (in *inference) single(t reflect.Type, path string) (json.RawMessage, error) {
	s, err := jsonschema.ForType(t, known)
	if err != nil {
		return nil, fmt.Errorf("%s: no schema for the type %s: %w", path, t, err)
	}
	doc, err := json.Marshal(s)
	if err != nil || !in.checked || known.TypeSchemas[t] != nil && t != reflect.TypeFor[time.Duration]() {
		return doc, err
	}
	ms, _ := members(doc)
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		bits := t.Bits()
		ms = set(ms, "minimum", strconv.AppendInt(nil, math.MinInt64>>(64-bits), 10))
		ms = set(ms, "maximum", strconv.AppendInt(nil, math.MaxInt64>>(64-bits), 10))
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		ms = set(ms, "maximum", strconv.AppendUint(nil, math.MaxUint64>>(64-t.Bits()), 10))
	case reflect.Float32, reflect.Float64:
		largest := strconv.FormatFloat(math.MaxFloat64, 'g', -1, 64)
		if t.Kind() == reflect.Float32 {
			largest = strconv.FormatFloat(math.MaxFloat32, 'g', -1, 32)
		}
		ms = set(ms, "minimum", json.RawMessage("-"+largest))
		ms = set(ms, "maximum", json.RawMessage(largest))
	}
	return join(ms), nil
}
