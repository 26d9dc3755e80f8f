package tools

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type flat struct {
	Text    string  `json:"text"`
	On      bool    `json:"on,omitempty"`
	Whole   int     `json:"whole"`
	Tiny    int8    `json:"tiny"`
	Count   uint16  `json:"count"`
	Ratio   float64 `json:"ratio"`
	Single  float32
	Kind    kindOfText      `json:"kind"`
	Loud    loudText        `json:"loud"`
	Number  json.Number     `json:"number"`
	List    []int           `json:"list"`
	Raw     json.RawMessage `json:"raw"`
	Pointer *int            `json:"pointer"`
	Hidden  int             `json:"-"`
	own     int
}

type kindOfText string

type loudText string

func (l *loudText) UnmarshalText(b []byte) error {
	*l = loudText(strings.ToUpper(string(b)))
	return nil
}

// inputs are of flat: those that are read as they stand come first.
var inputs = []struct {
	in    string
	plain bool
}{
	{`{}`, true},
	{`{"text":"a","on":true,"whole":12,"tiny":-128,"count":65535,"ratio":-1.5e-3,"Single":0.1,"kind":"x"}`, true},
	{`{"whole":-9,"text":"grün 🙂","on":false}`, true},
	{`{"ratio":0}`, true},
	{`{"whole":1,"whole":2}`, true},
	{`{"text":""}`, true},

	{`{"text":"a\nb"}`, false},
	{"{\"text\":\"\xff\"}", false},
	{"{\"text\":\"\x01\"}", false},
	{`{"text":null}`, false},
	{`{"text":1}`, false},
	{`{"on":1}`, false},
	{`{"on":tru}`, false},
	{`{"whole":1.0}`, false},
	{`{"whole":1e2}`, false},
	{`{"whole":-0}`, false},
	{`{"whole":01}`, false},
	{`{"whole":-}`, false},
	{`{"whole":}`, false},
	{`{"whole":9223372036854775807}`, false},
	{`{"whole":9223372036854775808}`, false},
	{`{"tiny":128}`, false},
	{`{"count":-1}`, false},
	{`{"count":65536}`, false},
	{`{"ratio":01.5}`, false},
	{`{"ratio":+1}`, false},
	{`{"ratio":1e999}`, false},
	{`{"Single":1e39}`, false},
	{`{"TEXT":"a"}`, false},
	{`{"other":1}`, false},
	{`{"Hidden":1}`, false},
	{`{"own":1}`, false},
	{`{"loud":"a"}`, false},
	{`{"number":"12"}`, false},
	{`{"number":"nonsense"}`, false},
	{`{"list":[1,2]}`, false},
	{`{"pointer":1}`, false},
	{`{"raw":{"a":1}}`, false},
	{`{"te\u0078t":"a"}`, false},
	{`{"text":"a"}x`, false},
	{`{"text":"a"},`, false},
	{`{"text":"a",}`, false},
	{`{,"text":"a"}`, false},
	{`{"text":"a"`, false},
	{`{"text"}`, false},
	{`{"text":"a`, false},
	{` {}`, false},
	{`{ }`, false},
	{`[]`, false},
	{`{`, false},
	{``, false},
}

// sameReading reads in both ways and compares.
func sameReading(t *testing.T, in []byte) {
	var want flat
	wanted := decode(in, &want)
	got, err := newReading[flat]().read(in)
	require.Equal(t, wanted, err)
	if err == nil {
		require.Equal(t, want, got)
		require.Zero(t, got.own)
	}
}

func TestInputIsReadAsEncodingJSONReadsIt(t *testing.T) {
	require.NotEmpty(t, newReading[flat]().fields)
	for _, c := range inputs {
		t.Run(c.in, func(t *testing.T) {
			sameReading(t, []byte(c.in))
			var v flat
			require.Equal(t, c.plain, readPlain([]byte(c.in), newReading[flat]().fields, reflect.ValueOf(&v).Elem()))
		})
	}
}

type inner struct {
	A int `json:"a"`
}

type ownJSON struct{ A int }

func (*ownJSON) UnmarshalJSON([]byte) error { return nil }

func TestTypesThatArentPlainAreLeftToEncodingJSON(t *testing.T) {
	require.Nil(t, newReading[map[string]int]().fields)
	require.Nil(t, newReading[*inner]().fields)
	require.Nil(t, newReading[any]().fields)
	require.Nil(t, newReading[ownJSON]().fields)
	require.Nil(t, newReading[struct{ inner }]().fields)
	require.Nil(t, newReading[struct {
		A int `json:"a,string"`
	}]().fields)
	require.Nil(t, newReading[struct {
		A int
		B int `json:"A"`
	}]().fields)
	require.Nil(t, newReading[struct {
		A int `json:"ä"`
	}]().fields)
	require.NotNil(t, newReading[inner]().fields)
	require.NotNil(t, newReading[struct{}]().fields)
}

func FuzzReading(f *testing.F) {
	for _, c := range inputs {
		f.Add([]byte(c.in))
	}
	f.Fuzz(sameReading)
}

func BenchmarkReading(b *testing.B) {
	in := json.RawMessage(`{"a":1,"b":2}`)
	type pair struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	for name, r := range map[string]reading[pair]{"plain": newReading[pair](), "encoding/json": {}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v, err := r.read(in); err != nil || v.B != 2 {
					b.Fatal(v, err)
				}
			}
		})
	}
}
