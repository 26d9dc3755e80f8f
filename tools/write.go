package tools

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// A writing makes a [Result] of an Out. It is to encoding/json what a [reading] is: flat structs of integers, bools and short
// words it writes itself, and leaves the rest.
type writing[Out any] struct {
	fields []plainField // nil: Out is left to encoding/json
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// ownWriting reports whether a type isn't written as others of its kind are.
func ownWriting(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t == jsonNumber || p.Implements(jsonMarshaler) || p.Implements(textMarshaler)
}

func newWriting[Out any]() writing[Out] { return writing[Out]{writableFields(reflect.TypeFor[Out]())} }

// writableFields returns the fields of a type that a writing writes.
func writableFields(t reflect.Type) []plainField {
	if t == reflect.TypeFor[Result]() {
		return nil
	}
	fields := plainFields(t, ownWriting)
	if slices.ContainsFunc(fields, func(f plainField) bool {
		return f.options != "" || f.kind == reflect.Invalid || f.kind == reflect.Float32 || f.kind == reflect.Float64
	}) {
		return nil
	}
	return fields
}

// result returns what a tool returned as a Result.
func (w writing[Out]) result(out Out) (Result, error) {
	if w.fields != nil {
		var room [128]byte
		if text, ok := appendPlain(room[:0], w.fields, reflect.ValueOf(&out).Elem()); ok {
			return Text(string(text)), nil
		}
	}
	return encodeAny(out)
}

// encodeAny is apart from result because what encoding/json encodes is always allocated.
func encodeAny[Out any](out Out) (Result, error) { return encode(out) }

// appendPlain appends a struct as encoding/json writes it, or reports false.
func appendPlain(b []byte, fields []plainField, v reflect.Value) ([]byte, bool) {
	b = append(b, '{')
	for i := range fields {
		f := &fields[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), f.name...), `":`...)
		switch value := v.Field(f.index); f.kind {
		case reflect.Bool:
			b = strconv.AppendBool(b, value.Bool())
		case reflect.String:
			s := value.String()
			if !asItIs(s) {
				return nil, false
			}
			b = append(append(append(b, '"'), s...), '"')
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			b = strconv.AppendInt(b, value.Int(), 10)
		default:
			b = strconv.AppendUint(b, value.Uint(), 10)
		}
	}
	return append(b, '}'), true
}

// asItIs reports whether JSON has s as it is: it is printable ASCII without quotes and backslashes.
func asItIs(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
