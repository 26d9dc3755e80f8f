package terminal

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzKeys presses whatever keys, read in pieces, in a narrow window. The cursor stays between what
// people see as characters, and each row fits.
func FuzzKeys(f *testing.F) {
	for _, keys := range []string{"a🇩🇪\x7f\x1b[D", "e\u0301\x1b[D\x1b[3~", "\x1b[200~a\r\n\tb\x1b[201~\x17",
		"a\x1b\rb\x01\x0b", "\x1b[A\x1b[B\x10\x0e", strings.Repeat("漢字", 20) + "\x1b[D\x1b[1;5D", "\x1b[1;5",
		"\xff\xc3", "👩\u200d👩\x02\u200d👧"} {
		f.Add(keys, uint8(3))
	}
	f.Fuzz(func(t *testing.T, keys string, piece uint8) {
		s := newScreen(io.Discard, true, nil)
		s.width, s.height, s.color = 20, 6, false
		e, k := &editor{prompt: "> ", older: []string{"one", "two\nlines"}}, &keyboard{}
		s.edit(e)
		for keys != "" {
			n := min(int(piece%16)+1, len(keys))
			k.take(typed{data: []byte(keys[:n])})
			keys = keys[n:]
			for stroke, ok := k.next(); ok; stroke, ok = k.next() {
				if ended, err := e.press(stroke); ended || err != nil {
					e.set("")
				}
				require.True(t, utf8.ValidString(e.text))
				require.NotContains(t, e.text, "\x1b")
				at := e.at == len(e.text)
				for begin := range characters(e.text) {
					at = at || begin == e.at
				}
				require.True(t, at, "%q, %d", e.text, e.at)
				s.draw("")
				require.Less(t, len(s.below.rows), s.height)
				for i, row := range s.below.rows {
					require.Equal(t, s.below.columns[i], columns(row))
					require.Less(t, columns(row), s.width)
				}
				require.LessOrEqual(t, s.below.x, s.below.columns[s.below.y])
			}
		}
		s.edit(nil)
	})
}

// A line that is begun in the middle of a block of code interrupts its line, and not the block.
func TestABlockOfCodeGoesOnAboveALine(t *testing.T) {
	var out strings.Builder
	s := newScreen(&out, true, nil)
	s.width, s.color = 20, false
	s.say("text", "", "```\nif x {")
	s.edit(&editor{prompt: "> "})
	s.say("text", "", " return some.thing()}\n```\nAnd words that do wrap.\n")
	require.Contains(t, out.String(), " return some.thing()}\n```\nAnd words that do \nwrap.\n")
}

// A block of code that a thought leaves open doesn't go on in the answer, whatever comes between
// the two.
func TestABlockOfCodeOfAThoughtEndsWithIt(t *testing.T) {
	for _, between := range []func(s *screen){func(*screen) {}, (*screen).endLine,
		func(s *screen) { s.edit(&editor{prompt: "> "}) }} {
		var out strings.Builder
		s := newScreen(&out, true, nil)
		s.width, s.color = 20, false
		s.say("thought", "", "Perhaps\n```\nif x {\n")
		between(s)
		s.say("text", "", "Words of an answer that do wrap.\n```\nif x {\n")
		require.Contains(t, out.String(), "Words of an answer \nthat do wrap.\n")
		s.say("thought", "", "Words of a thought that do wrap.\n")
		require.Contains(t, out.String(), "· Words of a thought\nthat do wrap.\n")
	}
}
