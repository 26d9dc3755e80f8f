package provider

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

var compactSeeds = []string{
	`{}`, `[]`, `{"a":1,"b":[true,false,null,"x",-0,0.5,1e9,1E-2,-12.50e+7]}`, `"\"\\\/\b\f\n\r\t\u00e9\uD834"`, `"grün 🙂"`,
	``, ` `, `{} `, ` {}`, `{"a": 1}`, `{"a" :1}`, `[1, 2]`, `{"a":1,}`, `[1,]`, `{,}`, `{"a"}`, `{"a":}`, `{a:1}`, `[`, `{`, `]`, `{"a":1`, `[1`,
	`01`, `-`, `-01`, `1.`, `.5`, `1e`, `1e+`, `+1`, `0x1`, `tru`, `truex`, `nul`, `NaN`, `"`, `"a`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`,
	"\"\x01\"", "\"\xff\"", "\"\n\"", `1 2`, `{}{}`,
}

// sameAsJSON compares with what encoding/json says.
func sameAsJSON(t *testing.T, in []byte) {
	require.Equal(t, len(in) > 0 && json.Valid(in) && isCompact(in) && utf8.Valid(in), compact(in), "%q", in)
}

func TestCompactIsWhatEncodingJSONSays(t *testing.T) {
	for _, in := range compactSeeds {
		sameAsJSON(t, []byte(in))
	}
	deep := strings.Repeat("[", mostNested) + strings.Repeat("]", mostNested)
	require.True(t, compact([]byte(deep)))
	require.False(t, compact([]byte("["+deep+"]")), "encoding/json decides")
	input, invalid := arguments([]byte("[" + deep + "]"))
	require.Equal(t, "["+deep+"]", string(input))
	require.Empty(t, invalid)
}

func FuzzCompact(f *testing.F) {
	for _, in := range compactSeeds {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if strings.Count(string(in), "[")+strings.Count(string(in), "{") <= mostNested {
			sameAsJSON(t, in)
		}
	})
}

func BenchmarkArguments(b *testing.B) {
	for _, in := range []string{`{"a":1,"b":2}`, `{"path":"a/b.go","text":"` + strings.Repeat(`line of a file that is written\n`, 300) + `"}`} {
		b.Run(fmt.Sprint(len(in)), func(b *testing.B) {
			raw := []byte(in)
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, invalid := arguments(raw); invalid != "" {
					b.Fatal(invalid)
				}
			}
		})
	}
}
