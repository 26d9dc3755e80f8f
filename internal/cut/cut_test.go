package cut

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACutSplitsNoCharacter(t *testing.T) {
	for _, tc := range []struct {
		text       string
		n          int
		start, end string
	}{
		{"abc", 5, "abc", "abc"}, {"abc", 3, "abc", "abc"}, {"abc", 2, "ab", "bc"}, {"abc", 0, "", ""},
		{"abc", -1, "", ""}, {"", 1, "", ""},
		{"a€b", 1, "a", "b"}, {"a€b", 2, "a", "b"}, {"a€b", 3, "a", "b"}, {"a€b", 4, "a€", "€b"},
		{"😀😀", 3, "", ""}, {"😀😀", 7, "😀", "😀"},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80", "\x80\x80\x80\x80\x80"}, // no UTF-8
	} {
		require.Equal(t, tc.start, Start(tc.text, tc.n), "%q %d", tc.text, tc.n)
		require.Equal(t, tc.end, End(tc.text, tc.n), "%q %d", tc.text, tc.n)
	}
}
