package machine_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

func TestStringsInJSONAreReplacedAndNothingElse(t *testing.T) {
	shout := strings.ToUpper
	for in, want := range map[string]string{
		`"abc"`:                    `"ABC"`,
		`{"key":"abc","k2":["d"]}`: `{"KEY":"ABC","K2":["D"]}`,
		`{"a":{"a":"a"}}`:          `{"A":{"A":"A"}}`,
		` { "key" : "abc" } `:      ` { "KEY" : "ABC" } `,
		"{\"key\"\n\t:\r\"abc\"}":  "{\"KEY\"\n\t:\r\"ABC\"}",
		`{"k\"e\\y":"a\"b\\"}`:     `{"K\"E\\Y":"A\"B\\"}`,
		`{"\u006bey":"\u0061"}`:    `{"KEY":"A"}`,
		`[1.0,1e400,-0,12345678901234567890123,true,null,"x"]`: `[1.0,1e400,-0,12345678901234567890123,true,null,"X"]`,
		`"A\u0042<&>"`:          `"A\u0042<&>"`, // stays as it was written
		`"a<&>"`:                `"A<&>"`,
		`"\ud83d\ude42a"`:       `"🙂A"`,
		`"A\ud800"`:             `"A\ud800"`,
		`{"a:b":"c:d"}`:         `{"A:B":"C:D"}`,
		`["a",":"]`:             `["A",":"]`,
		`{"":""}`:               `{"":""}`,
		`{"a":"x","a":"y"}`:     `{"A":"X","A 2":"Y"}`,
		`{"a":"\\","b":"\\\""}`: `{"A":"\\","B":"\\\""}`,
	} {
		got, ok := machine.MapStrings([]byte(in), shout)
		require.True(t, ok, in)
		require.Equal(t, want, string(got))
	}
	for _, in := range []string{"", "{", `"`, `{"a":}`, "nope", `"a" "b"`, "\"\x01\""} {
		got, ok := machine.MapStrings([]byte(in), shout)
		require.False(t, ok, in)
		require.Nil(t, got)
	}
}

func TestWhatReplacesAStringIsEscaped(t *testing.T) {
	for _, by := range []string{`quo"te`, `back\slash`, "new\nline", "\x00", "\xff", "<script>", "\u2028",
		`","admin":"true`} {
		got, ok := machine.MapStrings([]byte(`{"key":"secret"}`), func(string) string { return by })
		require.True(t, ok)
		var back map[string]string
		require.NoError(t, json.Unmarshal(got, &back))
		valid := strings.ToValidUTF8(by, "\uFFFD")
		require.Equal(t, map[string]string{valid: valid}, back)
	}
}

// jsonStrings returns the strings and keys in a JSON value, in order, and everything else with a
// mark where they were.
func jsonStrings(t *testing.T, raw []byte) (strs []string, rest string) {
	t.Helper()
	lit := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	rest = string(lit.ReplaceAllFunc(raw, func(b []byte) []byte {
		var s string
		require.NoError(t, json.Unmarshal(b, &s))
		strs = append(strs, s)
		return []byte("•")
	}))
	return strs, rest
}

func FuzzMapStrings(f *testing.F) {
	for _, s := range []string{`{"a":"b"}`, `["\u2028\"",{"k":[1.0,"\ud83d"]}]`, `"`, ` {"a" : {"b":"c"} } `,
		`{"a":"\\"}`, "\"\xff\"", `"\/"`} {
		f.Add([]byte(s), "x")
		f.Add([]byte(s), `"\`)
	}
	f.Fuzz(func(t *testing.T, raw []byte, by string) {
		same, ok := machine.MapStrings(raw, func(s string) string { return s })
		require.Equal(t, json.Valid(raw), ok)
		if !ok {
			return
		}
		require.Equal(t, string(raw), string(same), "what isn't changed stays to the byte")
		var seen []string
		out, ok := machine.MapStrings(raw, func(s string) string {
			seen = append(seen, s)
			return s + by
		})
		require.True(t, ok)
		require.True(t, json.Valid(out), "%s", out)
		strs, rest := jsonStrings(t, raw)
		require.Equal(t, strs, seen)
		now, restNow := jsonStrings(t, out)
		require.Equal(t, rest, restNow)
		require.Len(t, now, len(strs))
		for i := range strs {
			want := strings.ToValidUTF8(strs[i], "\uFFFD") + perByte(by)
			if now[i] != want { // a key that another one of its object has
				require.Regexp(t, `^ \d+$`, strings.TrimPrefix(now[i], want))
			}
		}
	})
}

// perByte returns s with each byte that isn't UTF-8 as U+FFFD, as encoding/json writes it.
func perByte(s string) string { return string([]rune(s)) }

func TestTitlesAreCutBetweenCharacters(t *testing.T) {
	for _, tail := range []string{"", "a", "ä", "€", "🙂", "\uFFFD", "\xff", "\n"} {
		for n := journal.MaxName - 8; n <= journal.MaxName+8; n++ {
			s := strings.Repeat("x", n) + tail + "yz"
			got := machine.CleanName(s)
			require.NoError(t, journal.ValidateSession(got), "%d bytes and %q", n, tail)
			want := strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\n", " ")
			require.True(t, strings.HasPrefix(want, got))
			if len(want) <= journal.MaxName {
				require.Equal(t, want, got)
			} else {
				require.Greater(t, len(got), journal.MaxName-utf8.UTFMax)
			}
		}
	}
	require.Equal(t, "a b c d", machine.CleanName("a\tb\x00c\u0085d"))
}

func FuzzCleanName(f *testing.F) {
	f.Add("a\x00b")
	f.Add(strings.Repeat("€", 200))
	f.Add(strings.Repeat("x", 511) + "\xff\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := machine.CleanName(s)
		require.True(t, utf8.ValidString(got))
		require.LessOrEqual(t, len(got), journal.MaxName)
		require.False(t, strings.ContainsFunc(got, unicode.IsControl))
		require.Equal(t, got, machine.CleanName(got))
	})
}
