package tools

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
)

// decode reads validated input into a tool's own type.
func decode(input json.RawMessage, v any) error {
	if len(input) == 0 {
		return nil
	}
	if err := json.Unmarshal(input, v); err != nil {
		return fault.Wrap(fault.Invalid, fmt.Errorf("the input doesn't fit: %w", err))
	}
	return nil
}

// A reading reads input into an In. Most inputs are flat objects of numbers, words and text that [schema.Schema] has brought
// into canonical form; these a reading reads itself, many times as fast as encoding/json. Whatever is not as plain
// as that, in the type or in the input, it leaves to encoding/json, which then also has the last word on errors.
type reading[In any] struct {
	fields []plainField // nil: In is left to encoding/json
}

// A plainField is a field of a struct under its name in JSON.
type plainField struct {
	name    string
	options string // behind the name in its tag
	index   int
	kind    reflect.Kind // Invalid: one that is left to encoding/json
}

// read returns the In that input holds.
func (r reading[In]) read(input json.RawMessage) (In, error) {
	var v In
	if r.fields != nil && readPlain(input, r.fields, reflect.ValueOf(&v).Elem()) {
		return v, nil
	}
	return readAny[In](input)
}

// readAny is apart from read because what encoding/json decodes into is always allocated.
func readAny[In any](input json.RawMessage) (In, error) {
	var v In
	err := decode(input, &v)
	return v, err
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	jsonNumber      = reflect.TypeFor[json.Number]()
)

// ownReading reports whether a type isn't read as others of its kind are.
func ownReading(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t == jsonNumber || p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler)
}

func newReading[In any]() reading[In] { return reading[In]{readableFields(reflect.TypeFor[In]())} }

// readableFields returns the fields of a type that a reading reads.
func readableFields(t reflect.Type) []plainField {
	fields := plainFields(t, ownReading)
	if slices.ContainsFunc(fields, func(f plainField) bool { return strings.Contains(f.options, "string") }) {
		return nil
	}
	return fields
}

// plainFields returns the fields of a struct as encoding/json sees them; nil if it may see others. own reports the types that
// it treats in another way than others of their kind.
func plainFields(t reflect.Type, own func(reflect.Type) bool) []plainField {
	if t.Kind() != reflect.Struct || own(t) {
		return nil
	}
	fields := make([]plainField, 0, t.NumField())
	known := make(map[string]bool)
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			name = f.Name
		}
		if f.Anonymous || !plainName(name) || known[name] {
			return nil
		}
		known[name] = true
		field := plainField{name: name, options: options, index: i}
		if !own(f.Type) {
			switch k := f.Type.Kind(); k {
			case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
				reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
				reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
				field.kind = k
			}
		}
		fields = append(fields, field)
	}
	return fields
}

// plainName reports whether a name is one for encoding/json, too, and is written in JSON as it is.
func plainName(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
	})
}

// readPlain reads an object without blanks into a struct. It reports false for what it leaves to encoding/json; then the
// struct is half read.
func readPlain(in []byte, fields []plainField, v reflect.Value) bool {
	if string(in) == "{}" {
		return true
	}
	for next, more := 0, true; more; next++ {
		if len(in) < 2 || in[0] != '{' && next == 0 || in[0] != ',' && next > 0 {
			return false
		}
		key, rest, ok := plainText(in[1:])
		if !ok || len(rest) == 0 || rest[0] != ':' {
			return false
		}
		f := fieldOf(fields, key, next)
		if f == nil {
			return false
		}
		if in, ok = f.read(rest[1:], v.Field(f.index)); !ok || len(in) == 0 {
			return false
		}
		more = in[0] != '}'
	}
	return len(in) == 1
}

// fieldOf returns the field of that name. Most inputs have the fields in their order.
func fieldOf(fields []plainField, name []byte, next int) *plainField {
	if next < len(fields) && fields[next].name == string(name) {
		return &fields[next]
	}
	for i := range fields {
		if fields[i].name == string(name) {
			return &fields[i]
		}
	}
	return nil
}

// read sets v to the value that in begins with, and returns what follows.
func (f *plainField) read(in []byte, v reflect.Value) (rest []byte, ok bool) {
	switch f.kind {
	case reflect.Invalid:
		return nil, false
	case reflect.String:
		text, rest, ok := plainText(in)
		if ok {
			v.SetString(string(text))
		}
		return rest, ok
	case reflect.Bool:
		if rest, ok = cutWord(in, "true"); ok {
			v.SetBool(true)
		} else if rest, ok = cutWord(in, "false"); ok {
			v.SetBool(false)
		}
		return rest, ok
	}
	num, rest := cutNumber(in)
	switch f.kind {
	case reflect.Float32, reflect.Float64:
		n, err := strconv.ParseFloat(string(num), v.Type().Bits())
		if err != nil || !json.Valid(num) { // ParseFloat takes more than JSON does
			return nil, false
		}
		v.SetFloat(n)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, ok := plainInteger(num)
		if !ok || v.OverflowInt(n) {
			return nil, false
		}
		v.SetInt(n)
	default:
		n, ok := plainInteger(num)
		if !ok || n < 0 || v.OverflowUint(uint64(n)) {
			return nil, false
		}
		v.SetUint(uint64(n))
	}
	return rest, true
}

// plainText cuts a string that is written without escapes off the start of in.
func plainText(in []byte) (text, rest []byte, ok bool) {
	if len(in) == 0 || in[0] != '"' {
		return nil, nil, false
	}
	ascii := true
	for i := 1; i < len(in); i++ {
		switch c := in[i]; {
		case c == '"':
			text = in[1:i]
			return text, in[i+1:], ascii || utf8.Valid(text)
		case c == '\\' || c < ' ':
			return nil, nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, nil, false
}

func cutWord(in []byte, word string) (rest []byte, ok bool) {
	if len(in) < len(word) || string(in[:len(word)]) != word {
		return nil, false
	}
	return in[len(word):], true
}

// cutNumber cuts what a number is made of off the start of in.
func cutNumber(in []byte) (num, rest []byte) {
	i := 0
	for i < len(in) && (in[i] >= '0' && in[i] <= '9' || in[i] == '-' || in[i] == '+' || in[i] == '.' || in[i] == 'e' || in[i] == 'E') {
		i++
	}
	return in[:i], in[i:]
}

// plainInteger reads an integer of at most 18 digits, which fits into an int64.
func plainInteger(num []byte) (n int64, ok bool) {
	digits := num
	if len(num) > 0 && num[0] == '-' {
		digits = num[1:]
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(num) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if len(digits) < len(num) {
		n = -n
	}
	return n, true
}
