package tools

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type ownValue int

func (ownValue) MarshalText() ([]byte, error) { return []byte("own"), nil }

type ownBool bool

func (ownBool) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

type ownPointer bool

func (p *ownPointer) UnmarshalJSON(b []byte) error { *p = len(b) > 1; return nil }

type likeNumber json.Number

type cyclic struct {
	A    int
	Next *cyclic
}

// What random structs are made of, and random objects.
var (
	someTypes = []reflect.Type{
		reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](),
		reflect.TypeFor[int32](), reflect.TypeFor[int64](), reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](),
		reflect.TypeFor[uint32](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[uintptr](),
		reflect.TypeFor[time.Duration](), reflect.TypeFor[kindOfText](), reflect.TypeFor[likeNumber](),
	}
	oddTypes = []reflect.Type{
		reflect.TypeFor[loudText](), reflect.TypeFor[ownValue](), reflect.TypeFor[ownPointer](), reflect.TypeFor[ownBool](), reflect.TypeFor[json.Number](),
		reflect.TypeFor[time.Time](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[[]byte](), reflect.TypeFor[[2]int](),
		reflect.TypeFor[[]string](), reflect.TypeFor[*int](), reflect.TypeFor[any](), reflect.TypeFor[map[string]int](),
		reflect.TypeFor[inner](), reflect.TypeFor[cyclic](), reflect.TypeFor[complex64](),
	}
	someTags = []string{"", "", "", "a", "b", "c", "A", "-,", "a.b", "a_b"}
	oddTags  = []string{"-", "a,omitempty", ",omitzero", ",string", "b,string", "a,omitempty,string", "a,stringy", "ä", "a b", "a<b", `a\\b`, ",", "b,"}
	someKeys = []string{"a", "b", "c", "A", "B", "C", "D", "-", "a.b", "a_b", "own", "ä", "a<b", "Inner", "inner", "a\\u0062", "K", "\\u212a"}
	values   = []string{
		"0", "1", "-1", "-0", "127", "128", "-128", "-129", "255", "256", "65535", "65536", "2147483647", "2147483648", "4294967296",
		"999999999999999999", "1000000000000000000", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
		"1.0", "1.5", "1e2", "1e400", "3.5e38", "-0.0", "1e-400", "0.1", "00", "01", "1.", ".5", "+1", "1e", "0x1", "1_0", "Infinity", "NaN", "inf",
		"true", "false", "null", "tru", "True", `""`, `"x"`, `"12"`, `"true"`, `"grün"`, `"a\nb"`, `"\ud800"`, "\"\u2028\"", "\"\xff\"", "\"\xed\xa0\x80\"", "\"\x00\"", `"<&>"`,
		"[]", "[1,2]", "{}", `{"a":1}`, "", " 1", "1 ",
	}
)

func oneOf[T any](r *rand.Rand, some, odd []T) T {
	if r.IntN(6) == 0 {
		return odd[r.IntN(len(odd))]
	}
	return some[r.IntN(len(some))]
}

// someStruct returns a struct type, most of whose fields are plain.
func someStruct(r *rand.Rand) reflect.Type {
	var fields []reflect.StructField
	for i := range r.IntN(5) {
		f := reflect.StructField{Name: string(rune('A' + i)), Type: oneOf(r, someTypes, oddTypes)}
		if tag := oneOf(r, someTags, oddTags); tag != "" {
			f.Tag = reflect.StructTag(`json:"` + tag + `"`)
		}
		switch r.IntN(30) {
		case 0:
			f.Name, f.PkgPath = "own", "tools"
		case 1:
			f.Name, f.Type, f.Anonymous = "Embedded", reflect.TypeFor[Embedded](), true
		}
		for _, other := range fields {
			if other.Name == f.Name {
				f.Name += fmt.Sprint(i)
				f.Anonymous = false
			}
		}
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

// Embedded has a field that others may hide.
type Embedded struct {
	A int
	Z string
}

// someObject returns an object whose keys are often those of fields.
func someObject(r *rand.Rand, fields []plainField) []byte {
	var b strings.Builder
	for i := range r.IntN(5) {
		if i > 0 {
			b.WriteByte(',')
		}
		key := someKeys[r.IntN(len(someKeys))]
		if len(fields) > 0 && r.IntN(3) > 0 {
			key = fields[r.IntN(len(fields))].name
		}
		fmt.Fprintf(&b, `"%s":%s`, key, values[r.IntN(len(values))])
	}
	return []byte("{" + b.String() + "}")
}

// TestWhatIsReadWithoutEncodingJSONIsWhatThatReads, of structs and objects of all kinds.
func TestWhatIsReadWithoutEncodingJSONIsWhatThatReads(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	plain := 0
	for range 15_000 {
		typ := someStruct(r)
		fields := readableFields(typ)
		if fields == nil {
			continue
		}
		for range 5 {
			in := someObject(r, fields)
			got, want := reflect.New(typ), reflect.New(typ)
			if !readPlain(in, fields, got.Elem()) {
				continue
			}
			plain++
			require.NoError(t, json.Unmarshal(in, want.Interface()), "%s into %s", in, typ)
			require.Equal(t, want.Interface(), got.Interface(), "%s into %s", in, typ)
		}
	}
	require.Greater(t, plain, 5_000)
}

// TestWhatIsWrittenWithoutEncodingJSONIsWhatThatWrites, of structs of all kinds.
func TestWhatIsWrittenWithoutEncodingJSONIsWhatThatWrites(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	texts := []string{"", "x", "a b", "<&>'", `"`, `\`, "\x7f", "\n", "\x00", "ü", "\u2028", "\xff", "/"}
	plain := 0
	for range 30_000 {
		typ := someStruct(r)
		fields := writableFields(typ)
		if fields == nil {
			continue
		}
		v := reflect.New(typ).Elem()
		for i := range v.NumField() {
			switch f := v.Field(i); {
			case !f.CanSet():
			case f.CanInt():
				f.SetInt(int64(r.Uint64()))
			case f.CanUint():
				f.SetUint(r.Uint64())
			case f.Kind() == reflect.Bool:
				f.SetBool(r.IntN(2) == 0)
			case f.Kind() == reflect.String:
				f.SetString(texts[r.IntN(len(texts))])
			}
		}
		got, ok := appendPlain(nil, fields, v)
		if !ok {
			continue
		}
		plain++
		want, err := marshal(v.Interface())
		require.NoError(t, err)
		require.Equal(t, want, string(got), "%s", typ)
	}
	require.Greater(t, plain, 3_000)
}
