package tools

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type said struct {
	Text  string `json:"text"`
	On    bool
	Whole int        `json:"whole"`
	Tiny  int8       `json:"tiny"`
	Count uint64     `json:"count"`
	Kind  kindOfText `json:"kind"`
	Gone  int        `json:"-"`
	own   int
}

// sameWriting writes in both ways and compares.
func sameWriting(t *testing.T, out said) {
	t.Helper()
	want, err := encode(out)
	require.NoError(t, err)
	got, err := newWriting[said]().result(out)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestOutputIsWrittenAsEncodingJSONWritesIt(t *testing.T) {
	for text, plain := range map[string]bool{
		"": true, "a <b> & c's": true, "\x7f": true, strings.Repeat("long ", 100): true,
		`a "b"`: false, `a\b`: false, "a\nb": false, "\x00": false, "grün": false, "\u2028": false, "\xff": false,
	} {
		out := said{Text: text, On: true, Whole: math.MinInt64, Tiny: -128, Count: math.MaxUint64, Kind: "k", Gone: 1, own: 2}
		sameWriting(t, out)
		_, ok := appendPlain(nil, newWriting[said]().fields, reflect.ValueOf(out))
		require.Equal(t, plain, ok, "%q", text)
	}
	sameWriting(t, said{})
	res, err := newWriting[struct{}]().result(struct{}{})
	require.NoError(t, err)
	require.Equal(t, Text("{}"), res)
}

type ownText struct{ A int }

func (ownText) MarshalText() ([]byte, error) { return []byte("own"), nil }

func TestOutputsThatArentPlainAreLeftToEncodingJSON(t *testing.T) {
	require.Nil(t, newWriting[string]().fields)
	require.Nil(t, newWriting[Result]().fields)
	require.Nil(t, newWriting[*Result]().fields)
	require.Nil(t, newWriting[any]().fields)
	require.Nil(t, newWriting[ownText]().fields)
	require.Nil(t, newWriting[struct{ A ownText }]().fields)
	require.Nil(t, newWriting[struct{ A float64 }]().fields)
	require.Nil(t, newWriting[struct{ A []int }]().fields)
	require.Nil(t, newWriting[struct{ A json.Number }]().fields)
	require.Nil(t, newWriting[struct{ inner }]().fields)
	require.Nil(t, newWriting[struct {
		A int `json:",omitempty"`
	}]().fields)
	require.NotNil(t, newWriting[inner]().fields)
	res, err := newWriting[ownText]().result(ownText{})
	require.NoError(t, err)
	require.Equal(t, Text(`"own"`), res)
}

func FuzzWriting(f *testing.F) {
	f.Add("a", int64(1), uint64(2), true)
	f.Add(`"\`, int64(-1), uint64(0), false)
	f.Fuzz(func(t *testing.T, text string, whole int64, count uint64, on bool) {
		sameWriting(t, said{Text: text, Whole: int(whole), Tiny: int8(whole), Count: count, On: on, Kind: kindOfText(text)})
	})
}

func BenchmarkWriting(b *testing.B) {
	for name, w := range map[string]writing[inner]{"plain": newWriting[inner](), "encoding/json": {}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if res, err := w.result(inner{3000}); err != nil || len(res.Parts) != 1 {
					b.Fatal(res, err)
				}
			}
		})
	}
}
