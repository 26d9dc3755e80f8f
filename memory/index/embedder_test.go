package index_test

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/stretchr/testify/require"
)

func embed(t testing.TB, l index.Local, text string) []float32 {
	v, err := l.Embed(t.Context(), []string{text})
	require.NoError(t, err)
	return v[0]
}

func cosine(a, b []float32) float64 {
	s := 0.0
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

func TestEquivalentTextsAreNear(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		least float64
	}{
		{"Öffnungszeiten", "oeffnungszeiten", .999},
		{"Öffnungszeiten", "O\u0308FFNUNGSZEITEN", .999}, // decomposed
		{"Straße", "STRASSE", .999},
		{"Café Zürich", "zurich cafe", .999},
		{"Terms of Service", "service terms", .95},
		{"members", "Member", .999},
		{"categories", "category", .8},
		{"About", "abuot", .25},
		{"pricing", "pircing", .4},
	} {
		require.GreaterOrEqual(t, cosine(embed(t, index.Local{}, c.a), embed(t, index.Local{}, c.b)), c.least, "%s, %s",
			c.a, c.b)
	}
	require.InDelta(t, .7, cosine(embed(t, index.Local{}, "東京東京東京 Members"), embed(t, index.Local{}, "Members")), .12,
		"a long run of signs weighs no more than a word")
	require.Less(t, cosine(embed(t, index.Local{}, "pricing"), embed(t, index.Local{}, "members")), .2)
}

// The figure was made on amd64. On another machine it is the same.
func TestVectorsAreTheSameOnEveryMachine(t *testing.T) {
	sum := crc32.NewIEEE()
	for _, text := range []string{"About", "Über uns\nGeschichte der Firma", "東京オフィス", "the a of", "",
		strings.Repeat("word salad ", 300)} {
		for _, x := range embed(t, index.Local{Size: 256}, text) {
			require.NoError(t, binary.Write(sum, binary.LittleEndian, math.Float32bits(x)))
		}
	}
	require.Equal(t, uint32(0x7a44c27f), sum.Sum32())
}

func TestAVectorHasItsDimensionsAndLengthOneOrZero(t *testing.T) {
	for given, size := range map[int]int{0: 512, 256: 256, 1: 32, -5: 32, 1 << 20: 8192} {
		l := index.Local{Size: given}
		require.Equal(t, size, l.Dimensions())
		v := embed(t, l, "a \xff page without \x00 sense 42")
		require.Len(t, v, size)
		require.InDelta(t, 1, cosine(v, v), 1e-5)
		require.Zero(t, cosine(embed(t, l, "?! …"), v))
	}
	require.NotEqual(t, index.Local{Size: 64}.Model(), index.Local{Size: 128}.Model())
}
