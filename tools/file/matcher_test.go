package file

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// requireLines fails unless a matcher finds exactly the lines that match one by one, and skips no
// file with such a line.
func requireLines(t testing.TB, in searchInput, data []byte) (found int) {
	m, err := newMatcher(&in)
	if err != nil {
		return 0
	}
	pattern := in.Pattern
	if !in.Regexp {
		pattern = regexp.QuoteMeta(pattern)
	}
	if in.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re := regexp.MustCompile(pattern)
	for line := range bytes.Lines(data) {
		line = bytes.TrimRight(line, "\r\n")
		want := re.Match(line)
		require.Equal(t, want, m.line(line), "%+v: %q", in, line)
		if want {
			found++
		}
	}
	if found > 0 {
		require.True(t, m.any(data), "%+v passes over %q", in, data)
	}
	return found
}

func TestNoFileWithAMatchIsSkipped(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	pieces := []string{"a", "b", "ab", "^", "$", ".", "a*", "b+", "(a|b)", "[ab]", "\\b", "\\s", "(?:ab)?", "a{2}", "B",
		"(?i:A)", "\\A", "\\z", "[^a]", "(ab)+", "\\n", "(?-m:$)", "|"}
	found := 0
	for range 4000 {
		var pattern, data strings.Builder
		for range 1 + r.IntN(4) {
			pattern.WriteString(pieces[r.IntN(len(pieces))])
		}
		for range r.IntN(12) {
			data.WriteString([]string{"a", "b", "A", "B", " ", "\n", "\r\n", "ab", "\n\n"}[r.IntN(9)])
		}
		found += requireLines(t, searchInput{Pattern: pattern.String(), Regexp: true, IgnoreCase: r.IntN(3) == 0},
			[]byte(data.String()))
	}
	require.Greater(t, found, 1000)
}

func TestCaseIsIgnoredInAllScripts(t *testing.T) {
	in := searchInput{Pattern: "Straße ΣΊΣΥΦΟΣ", IgnoreCase: true}
	require.Equal(t, 3, requireLines(t, in, []byte("STRAẞE σίσυφος\nstraße Σίσυφοσ\nStraße\nSTRAßE ΣΊΣΥΦΟΣ\r\n")))
}

func TestASearchLooksForTheTextThatAnExpressionNeeds(t *testing.T) {
	for pattern, want := range map[string]string{"func (One|Two)": "func ", "a(bc)+d": "bc", "(abc){2,}x": "abc",
		"x*": "", "a|b": "", "(?i:abc)d": "d"} {
		m, err := newMatcher(&searchInput{Pattern: pattern, Regexp: true})
		require.NoError(t, err)
		require.Equal(t, want, string(m.literal), pattern)
	}
}

func TestASearchStopsAtItsByteLimit(t *testing.T) {
	w, _ := inner(t, map[string]string{"a": "x\n"})
	in := searchInput{Pattern: "needle"}
	m, err := newMatcher(&in)
	require.NoError(t, err)
	s := &searcher{tree: w, ctx: t.Context(), m: m, res: &SearchResult{Bytes: maxSearch - 1}, limit: maxMatches}
	require.NoError(t, s.file("a", maxSearchFile))
	require.ErrorIs(t, s.file("a", maxSearchFile), errStop)
	require.Equal(t, "no matches in 1 file\n[the files are larger than one call can search; search a smaller directory]",
		s.res.text(1000))
}

func FuzzMatcher(f *testing.F) {
	f.Add("a.c$", "abc\nxyz\r\n", true, false)
	f.Add("ABC", "xabcx", false, true)
	f.Add("(foo|bar)+baz", "foobaz\n", true, true)
	f.Fuzz(func(t *testing.T, pattern, data string, re, fold bool) {
		if !utf8.ValidString(pattern) || !re && fold && strings.ContainsAny(data, "\u017f\u212a") {
			t.Skip() // the matcher treats the long s and the Kelvin sign as letters of their own
		}
		requireLines(t, searchInput{Pattern: pattern, Regexp: re, IgnoreCase: fold}, []byte(data))
	})
}
