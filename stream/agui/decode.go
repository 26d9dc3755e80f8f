package agui

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// errUnknown says that a value is of a kind that isn't in this version of the protocol. It is left
// out where it is optional or an element of a list; where it is required, what contains it is of an
// unknown kind.
var errUnknown = errors.New("agui: unknown kind")

// A fieldError says what is wrong with the value at a path.
type fieldError struct{ path, problem string }

func (e *fieldError) Error() string {
	if e.path == "" {
		return "agui: the value " + e.problem
	}
	return "agui: " + e.path + " " + e.problem
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// A decoder decodes itself where the tags of its fields don't say enough.
type decoder interface {
	decodeJSON(raw json.RawMessage, path string) error
}

// unmarshal is decodeInto for methods that encoding/json calls.
func unmarshal(data []byte, d decoder) error {
	if err := d.decodeJSON(data, ""); errors.Is(err, errUnknown) {
		return &fieldError{"", "is of an unknown kind"}
	} else if err != nil {
		return err
	}
	return nil
}

// decodeInto decodes valid JSON into what v points to, as the protocol asks for. It is stricter
// than encoding/json: names must match exactly, fields without omitempty or omitzero must be there,
// and only a json.RawMessage that must be there may be null.
func decodeInto(raw json.RawMessage, v any, path string) error {
	return decodeValue(raw, reflect.ValueOf(v).Elem(), path)
}

var rawType = reflect.TypeFor[json.RawMessage]()

func decodeValue(raw json.RawMessage, v reflect.Value, path string) error {
	if v.Type() == rawType {
		v.SetBytes(raw)
		return nil
	}
	if d, ok := v.Addr().Interface().(decoder); ok {
		return d.decodeJSON(raw, path)
	}
	switch v.Kind() {
	case reflect.String:
		if err := parse(raw, v, "a string", path); err != nil {
			return err
		}
		if k, ok := v.Interface().(interface{ known() bool }); ok && !k.known() {
			return errUnknown
		}
		return nil
	case reflect.Bool:
		return parse(raw, v, "a boolean", path)
	case reflect.Int64:
		return decodeInteger(raw, v, path)
	case reflect.Map:
		return parse(raw, v, "an object", path)
	case reflect.Slice:
		return decodeSlice(raw, v, path)
	case reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		if err := decodeValue(raw, to.Elem(), path); err != nil {
			return err
		}
		v.Set(to)
		return nil
	case reflect.Struct:
		var object map[string]json.RawMessage
		if err := parse(raw, reflect.ValueOf(&object).Elem(), "an object", path); err != nil {
			return err
		}
		return decodeFields(object, v, path)
	}
	return fmt.Errorf("agui: no decoder for %v", v.Type())
}

// parse decodes a value of a kind without looking into it.
func parse(raw json.RawMessage, v reflect.Value, kind, path string) error {
	if got := kindOf(raw); got != kind {
		return &fieldError{path, fmt.Sprintf("is %s: it must be %s", got, kind)}
	}
	if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
		return &fieldError{path, "is out of range"}
	}
	return nil
}

func decodeSlice(raw json.RawMessage, v reflect.Value, path string) error {
	var elements []json.RawMessage
	if err := parse(raw, reflect.ValueOf(&elements).Elem(), "an array", path); err != nil {
		return err
	}
	out := reflect.MakeSlice(v.Type(), 0, len(elements))
	for i, element := range elements {
		to := reflect.New(v.Type().Elem()).Elem()
		err := decodeValue(element, to, path+"["+strconv.Itoa(i)+"]")
		if errors.Is(err, errUnknown) {
			continue
		}
		if err != nil {
			return err
		}
		out = reflect.Append(out, to)
	}
	v.Set(out)
	return nil
}

func decodeFields(object map[string]json.RawMessage, v reflect.Value, path string) error {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			if err := decodeFields(object, v.Field(i), path); err != nil {
				return err
			}
			continue
		}
		name, options, tagged := strings.Cut(field.Tag.Get("json"), ",")
		optional, at := tagged && strings.HasPrefix(options, "omit"), join(path, name)
		raw, given := object[name]
		if !given {
			if optional {
				continue
			}
			return &fieldError{at, "is missing"}
		}
		if optional && kindOf(raw) == "null" {
			if v.Type() == reflect.TypeFor[RunInput]() { // clients of versions before 1.0 send that
				continue
			}
			return &fieldError{at, "is null: leave it out"}
		}
		err := decodeValue(raw, v.Field(i), at)
		if errors.Is(err, errUnknown) && optional {
			v.Field(i).SetZero()
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxInteger is the largest integer that JavaScript has exactly.
const maxInteger = 1<<53 - 1

// decodeInteger decodes an integer, which may have the form of a number with a fraction: 1.0 and
// 1e3 are integers in JSON.
func decodeInteger(raw json.RawMessage, v reflect.Value, path string) error {
	var f float64
	if err := parse(raw, reflect.ValueOf(&f).Elem(), "a number", path); err != nil {
		return err
	}
	if f != math.Trunc(f) || math.Abs(f) > maxInteger {
		return &fieldError{path, "isn't an integer of at most 2^53-1"}
	}
	v.SetInt(int64(f))
	return nil
}

// kindOf says what kind of JSON value raw is, by its first byte.
func kindOf(raw json.RawMessage) string {
	text := strings.TrimLeft(string(raw[:min(len(raw), 1)]), " \t\r\n")
	if text == "" {
		if len(raw) == 0 {
			return "nothing"
		}
		return kindOf(raw[1:])
	}
	switch text[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
