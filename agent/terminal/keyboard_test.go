package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A key's sequence that comes in pieces is one key, so that its last byte decides nothing.
func TestASequenceInPiecesIsOneKey(t *testing.T) {
	for _, pieces := range [][]string{
		{"\x1b[", "A"}, {"\x1b[1", ";5", "A"}, {"\x1b[1;5", "A"}, {"\x1bO", "A"}, {"\x1b[1;5A"},
	} {
		k := &keyboard{}
		for i, piece := range pieces {
			k.take(typed{data: []byte(piece)})
			key, _, ok := k.key()
			if i < len(pieces)-1 {
				require.False(t, ok, "%q", pieces)
				continue
			}
			require.True(t, ok)
			require.EqualValues(t, keyEscape, key)
			k.skip(key)
			require.Empty(t, k.buf, "%q", pieces)
		}
	}
	k := &keyboard{}
	k.take(typed{data: []byte("\x1b[" + strings.Repeat("1", maxSequence))})
	_, _, ok := k.key()
	require.True(t, ok, "what has no end isn't waited for")
}

// Escape alone is a key of its own. What comes after it isn't taken for the rest of a sequence,
// unless all of one comes at once.
func TestEscapeAloneDoesNotTakeTheNextKey(t *testing.T) {
	for after, want := range map[string]byte{"a": 'a', "[": '[', "Oh": 'O', "\r": '\r', "[A": keyEscape,
		"OA": keyEscape, "[200~a\x1b[201~": 0} {
		k := &keyboard{}
		k.take(typed{data: []byte("\x1b")})
		key, _, ok := k.key()
		require.True(t, ok)
		require.EqualValues(t, keyEscape, key)
		require.Empty(t, k.sequence())
		k.take(typed{data: []byte(after)})
		key, paste, ok := k.key()
		require.True(t, ok)
		require.Equal(t, want, key, "%q", after)
		require.Equal(t, want == 0, paste == "a")
	}
}
