package process

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// cleaned returns the text that a cleaner keeps of an output that is written in parts.
func cleaned(piece int, parts ...string) string {
	var b strings.Builder
	c := cleaner{piece: piece, emit: func(text []byte, end ending) {
		if end == overwrote {
			return
		}
		b.Write(text)
		if end == lineEnd {
			b.WriteByte('\n')
		}
	}}
	for _, p := range parts {
		c.write([]byte(p))
	}
	c.flush()
	return b.String()
}

func TestTheCleanerKeepsWhatAPersonWouldSee(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"\n", "\n"},
		{"a\nb", "a\nb\n"},
		{"a\r\nb\r\r\n", "a\nb\n"},
		{"1%\r2%\r3%", "3%\n"},
		{"1%\r2%\r", "2%\n"},
		{"12345\rab", "ab\n"},
		{"ab\b\bcd\b\b\b\b", ""},
		{"é\b!", "!\n"},
		{"a\x00\x01\x7fb\tc", "ab\tc\n"},
		{"a\vb\fc", "a\nb\nc\n"},
		{"\x1b[1;31mred\x1b[m \x1b[38;5;12mblue\x1b[0m", "red blue\n"},
		{"\x1b[?25l\x1b[2Ahidden", "hidden\n"},
		{"old\x1b[2K\x1b[1Gnew", "new\n"},
		{"old\x1b[Gnew\x1b[12Gon", "newon\n"},
		{"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink\n"},
		{"\x1bP1$r0m\x1b\\a\x1b_app\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d", "abcd\n"},
		{"\x1b(Ba\x1b=b\x1bcc\x1b#8d", "abcd\n"},
		{"a\u009b31mb\u009d0;t\u009cc\u0085d", "abcd\n"},
		{"\x1b]never ended\nb", "\nb\n"},
		{"\x1b[31", ""},
		{"\x1b", ""},
		{"\x1b\x1b[1ma", "a\n"},
		{"\x1b[3\nb", "\nb\n"},
		{"a\xff\xc3", "a\uFFFD\uFFFD\n"},
		{"\xe2\x82a\xe2\x82\xac", "\uFFFD\uFFFDa€\n"},
		{"\xf0\x9f\x92\n", "\uFFFD\uFFFD\uFFFD\n"},
		{"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD\n"}, // a surrogate
		{"世界 \U0001F30D", "世界 \U0001F30D\n"},
	} {
		require.Equal(t, c.want, cleaned(1<<10, c.in), "%q", c.in)
		require.Equal(t, c.want, cleaned(1<<10, strings.Split(c.in, "")...), "%q, by characters", c.in)
	}
}

func TestALongLineIsEmittedInPieces(t *testing.T) {
	long := strings.Repeat("abcdefg€", 1000)
	var sizes []int
	c := cleaner{piece: 100, emit: func(text []byte, end ending) {
		require.True(t, utf8.Valid(text))
		sizes = append(sizes, len(text))
	}}
	c.write([]byte(long))
	c.flush()
	for _, n := range sizes {
		require.LessOrEqual(t, n, 100+utf8.UTFMax)
	}
	require.Equal(t, long+"\n", cleaned(100, long))
	require.Equal(t, strings.Repeat("x", 100)+"\n\n", cleaned(100, strings.Repeat("x", 100)+"\n\n"))
	for n := range 20 { // a piece doesn't end within a sequence
		text := strings.Repeat("x", 80+n)
		require.Equal(t, text+"red"+text+"\n", cleaned(100, text+"\x1b[38;5;160mred\x1b[0m"+text), n)
	}
}

// FuzzTheCleaner checks that the result is valid UTF-8 without control characters, and that it
// doesn't depend on how the input is split or whether it is cleaned twice.
func FuzzTheCleaner(f *testing.F) {
	f.Add("plain\nlines", 3, 50)
	f.Add("\x1b[31mred\x1b]0;t\x07\u009b1m\xff\xe2\x82\r\b\n", 7, 1)
	f.Add("1%\r\x1b[2K2%\xf0\x9f\x92", 9, 16)
	f.Fuzz(func(t *testing.T, in string, cut, piece int) {
		piece = 16 + abs(piece)%1000
		whole := cleaned(piece, in)
		require.True(t, utf8.ValidString(whole))
		for _, r := range whole {
			if r != '\n' && r != '\t' && unicode.IsControl(r) {
				t.Fatalf("%q of %q has %q", whole, in, r)
			}
		}
		if len(in) > 0 {
			at := abs(cut) % len(in)
			require.Equal(t, whole, cleaned(piece, in[:at], in[at:]), "cut at %d", at)
		}
		bytes := make([]string, len(in))
		for i := range len(in) {
			bytes[i] = in[i : i+1]
		}
		require.Equal(t, whole, cleaned(piece, bytes...), "by bytes")
		require.Equal(t, whole, cleaned(piece, whole), "again")
	})
}

func abs(n int) int { return max(n, -(n + 1)) }
