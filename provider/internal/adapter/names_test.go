package adapter

import (
	"encoding/hex"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The alphabets of two APIs.
var (
	wide = Alphabet{Longest: 128, Plain: func(_ int, c byte) bool { return isWord(c) || isDigit(c) }}
	// One in which neither a digit nor a dash can come first.
	python = Alphabet{Longest: 64, Plain: func(at int, c byte) bool {
		return isWord(c) && c != '-' || at > 0 && (isDigit(c) || c == '-')
	}}
)

func isWord(c byte) bool  { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// decodeName decodes a name that Encode returned, unless it was cut.
func decodeName(sent string) string {
	var b strings.Builder
	for i := 0; i < len(sent); i++ {
		if isEscape(sent[i:]) {
			raw, _ := hex.DecodeString(sent[i+2 : i+4])
			b.Write(raw)
			i += 3
			continue
		}
		b.WriteByte(sent[i])
	}
	return b.String()
}

func TestValidNamesStayUnchanged(t *testing.T) {
	for _, a := range []Alphabet{wide, python} {
		for _, name := range []string{"weather", "get_weather-2", "_x", "_xyz", "a_x2", "A_x2E",
			strings.Repeat("n", a.Longest)} {
			require.Equal(t, name, a.Encode(name))
		}
	}
	require.Equal(t, "2-d", wide.Encode("2-d"))
	require.Equal(t, "_x32-d", python.Encode("2-d"))
}

func TestEncodedNamesAreDecoded(t *testing.T) {
	letters := []string{"_", "x", "2", "e", ".", "é", "_x2e", " ", "/", "Z", "-", "\xff", "_x5f"}
	for pattern, a := range map[string]Alphabet{`^[a-zA-Z0-9_-]{1,128}$`: wide,
		`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`: python} {
		form := regexp.MustCompile(pattern)
		r := rand.New(rand.NewPCG(1, 2))
		seen := map[string]string{}
		for range 10_000 {
			var b strings.Builder
			for range 1 + r.IntN(8) {
				b.WriteString(letters[r.IntN(len(letters))])
			}
			name := b.String()
			sent := a.Encode(name)
			require.Regexp(t, form, sent)
			if len(name) <= a.Longest/4 { // it isn't cut, whatever its letters are
				require.Equal(t, name, decodeName(sent))
			}
			if other, ok := seen[sent]; ok {
				require.Equal(t, other, name)
			}
			seen[sent] = name
		}
	}
}

func TestLongNamesStayDifferent(t *testing.T) {
	for _, x := range []Alphabet{wide, python} {
		a, b := x.Encode(strings.Repeat("é", 100)+"a"), x.Encode(strings.Repeat("é", 100)+"b")
		require.NotEqual(t, a, b)
		require.Len(t, a, x.Longest)
		require.Equal(t, a, x.Encode(strings.Repeat("é", 100)+"a"))
		require.Regexp(t, `^[a-zA-Z0-9_-]*$`, a)
	}
}

func TestTheHostGetsItsOwnNames(t *testing.T) {
	n := NewNames("acme", wide)
	sent, err := n.Encode("cms.createPage")
	require.NoError(t, err)
	require.Equal(t, "cms_x2ecreatePage", sent)
	again, err := n.Encode("cms.createPage")
	require.NoError(t, err)
	require.Equal(t, sent, again)
	require.Equal(t, "cms.createPage", n.Decode(sent))
	require.Equal(t, "made_up", n.Decode("made_up"))
	require.Equal(t, "cms_x2edeletePage", n.Decode("cms_x2edeletePage"), "nobody was told of a tool of that name")
}

func TestNamesWithTheSameEncodingAreAnError(t *testing.T) {
	_, err := NewNames("acme", wide).Encode("")
	require.EqualError(t, err, "acme: a tool has no name")

	long := strings.Repeat("n", 200)
	n := NewNames("acme", wide)
	sent, err := n.Encode(long)
	require.NoError(t, err)
	_, err = n.Encode(sent) // a tool may even have the encoded name of another
	require.EqualError(t, err,
		`acme: the tools "`+long+`" and "`+sent+`" have the same encoded name "`+sent+`"; rename one`)
	require.Equal(t, long, n.Decode(sent))
}
