package terminal_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/terminal"
)

// seen returns what a window shows of a text that comes in pieces.
func seen(t *testing.T, width int, pieces ...string) string {
	t.Helper()
	v := newVT(width)
	_, _ = v.Write([]byte(strings.ReplaceAll(terminal.Wrapped(width, pieces), "\n", "\r\n")))
	require.Empty(t, v.odd)
	return strings.TrimSuffix(v.text(), "\n")
}

var answers = map[string]struct{ text, want string }{
	"words":       {"An answer of several words that wraps.", "An answer of several\nwords that wraps."},
	"to the edge": {"An answer of several  \nwords", "An answer of several\nwords"},
	"blanks":      {"An answer of sever   al words", "An answer of sever\nal words"},
	"a long word": {"See https://example.com/a/long/path there", "See\nhttps://example.com/\na/long/path there"},
	"a path":      {"It is in /usr/lib/go/src", "It is in\n/usr/lib/go/src"},
	"a hyphen":    {"This is called well-known", "This is called\nwell-known"},
	"wide":        {"漢字漢字漢字漢字漢字漢字。漢字", "漢字漢字漢字漢字漢字\n漢字。漢字"},
	"punctuation": {"漢字漢字漢字漢字漢字。漢字", "漢字漢字漢字漢字漢\n字。漢字"},
	"a list":      {"- one\n  - two that is long, and more", "- one\n  - two that is\nlong, and more"},
	"flags":       {"🇩🇪 🇩🇪 🇩🇪 🇩🇪 🇩🇪 🇩🇪 🇩🇪 🇩🇪", "🇩🇪 🇩🇪 🇩🇪 🇩🇪 🇩🇪 🇩🇪 🇩🇪\n🇩🇪"},
	"code": {"```go\nif thisIsLong { return x }\n```\nNow, words that wrap.",
		"```go\nif thisIsLong { retu\nrn x }\n```\nNow, words that\nwrap."},
	"other fences": {"~~~~\n```\n~~~\nif thisIsLong { return x }\n  ~~~~~\nNow, words that wrap.",
		"~~~~\n```\n~~~\nif thisIsLong { retu\nrn x }\n  ~~~~~\nNow, words that\nwrap."},
	"code in a line": {"```x``` is no fence, and wraps\nand so does what follows",
		"```x``` is no fence,\nand wraps\nand so does what\nfollows"},
}

func TestWordsAreNotBrokenAtTheEdge(t *testing.T) {
	for name, c := range answers {
		require.Equal(t, c.want, seen(t, 20, c.text), name)
	}
}

// However an answer is cut into pieces, the window shows the same.
func TestPiecesOfAnAnswerWrapAsTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 47))
	words := strings.Split("a an word another, 漢 字。 e\u0301 🇩🇪 https://example.com/path/to x-y ```go ``` ~~~ - \t", " ")
	words = append(words, strings.Repeat("long/e\u0301", 30), strings.Repeat("eyJhbGciOiJ", 20)+"漢",
		strings.Repeat(" ", 50))
	for range 300 {
		text := ""
		for range 1 + r.IntN(40) {
			text += words[r.IntN(len(words))] + []string{" ", " ", " ", "  ", "\n"}[r.IntN(5)]
		}
		var pieces []string
		for rest, most := []rune(text), 1+r.IntN(40); len(rest) > 0; {
			n := 1 + r.IntN(min(len(rest), most))
			pieces, rest = append(pieces, string(rest[:n])), rest[n:]
		}
		width := 20 + r.IntN(20)
		require.Equal(t, seen(t, width, text), seen(t, width, pieces...), "%q", pieces)
	}
}

// The work on a piece of a long word, such as minified JSON, doesn't grow with the word. With all
// of the word at each piece, this would go on for many minutes.
func TestALongWordInPieces(t *testing.T) {
	for _, c := range []struct{ before, word, after, want string }{
		{"", `{"a":"1",`, " of it", "1\", \nof it"}, {"", "e\u0301x", " and", "e\u0301x\nand"},
		{"See: ", "ab/d", "\nthere", "ab/d\nthere"}, {"a", " ", "b", "\nb"},
	} {
		word := strings.Repeat(c.word, 100_000/len(c.word))
		pieces := []string{c.before}
		for rest := word; rest != ""; rest = rest[min(4, len(rest)):] {
			pieces = append(pieces, rest[:min(4, len(rest))])
		}
		got := terminal.Wrapped(80, append(pieces, c.after))
		require.True(t, strings.HasSuffix(got, c.want), "%q", got[max(len(got)-100, 0):])
		if c.word == " " { // those past the edge are left out
			require.Less(t, len(got), 100)
			continue
		}
		if c.before != "" { // what was shown already is taken to the next line
			_, got, _ = strings.Cut(got, "\n")
		}
		require.True(t, strings.HasPrefix(got, word), "%q", got[:100])
	}
}
