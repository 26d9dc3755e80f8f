package terminal

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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
			s, ok := k.next()
			if i < len(pieces)-1 {
				require.False(t, ok, "%q", pieces)
				continue
			}
			require.True(t, ok)
			require.Contains(t, []rune{keyCtrlP, keyUnknown}, s.key)
			require.Empty(t, k.buf, "%q", pieces)
		}
	}
	k := &keyboard{}
	k.take(typed{data: []byte("\x1b[" + strings.Repeat("1", maxSequence))})
	_, ok := k.next()
	require.True(t, ok, "what has no end isn't waited for")
}

// Escape alone is a key of its own. What comes after it isn't taken for the rest of a sequence,
// unless all of one comes at once.
func TestEscapeAloneDoesNotTakeTheNextKey(t *testing.T) {
	for after, want := range map[string]stroke{"a": {key: 'a'}, "[": {key: '['}, "Oh": {key: 'O'},
		"\r": {key: keyEnter},
		"[A": {key: keyCtrlP}, "OA": {key: keyCtrlP}, "[200~a\x1b[201~": {paste: "a"}} {
		k := &keyboard{}
		k.take(typed{data: []byte("\x1b")})
		s, ok := k.next()
		require.True(t, ok)
		require.Equal(t, stroke{key: keyEscape}, s)
		goesOn := k.take(typed{data: []byte(after)})
		s, ok = k.next()
		require.True(t, ok)
		require.Equal(t, want, s, "%q", after)
		require.Equal(t, s.paste != "" || s.key == keyCtrlP, goesOn)
	}
}

// The rest of an arrow's sequence may come a little later than its Escape. That stops no run.
func TestAnArrowInPiecesStopsNoRun(t *testing.T) {
	for rest, goesOn := range map[string]bool{"[A": true, "OB": true, "a": false, "\x1b": false, "": false} {
		synctest.Test(t, func(t *testing.T) {
			in, out := io.Pipe()
			u := &ui{keys: newKeyboard(in, nil)}
			go out.Write([]byte("\x1b"))
			u.keys.take(<-u.keys.ask())
			s, ok := u.keys.next()
			require.True(t, ok)
			require.Equal(t, stroke{key: keyEscape}, s)
			go func() {
				time.Sleep(instant - time.Millisecond)
				if rest != "" {
					out.Write([]byte(rest))
				}
			}()
			got, err := u.goesOn(t.Context())
			require.NoError(t, err)
			require.Equal(t, goesOn, got, "%q", rest)
			require.NoError(t, out.Close())
			synctest.Wait()
			require.NoError(t, u.keys.close())
		})
	}
}

func TestEscapeAtAPromptDoesNothing(t *testing.T) {
	e := &editor{}
	for _, s := range []stroke{{key: 'a'}, {key: keyEscape}, {key: 'b'}} {
		ended, err := new(ui).press(t.Context(), e, nil, s)
		require.NoError(t, err)
		require.False(t, ended)
	}
	require.Equal(t, "ab", e.text)
}
