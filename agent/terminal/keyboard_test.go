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

// Some terminals send an arrow that is pressed together with Alt after one more Escape. That stops
// no run, and neither does another key together with Alt.
func TestAltStopsNoRun(t *testing.T) {
	escape, up, none := stroke{key: keyEscape}, stroke{key: keyCtrlP}, stroke{key: keyUnknown}
	for _, c := range []strokesOf{
		{[]string{"\x1b\x1b[A"}, []stroke{up}},
		{[]string{"\x1b\x1bOA"}, []stroke{up}},
		{[]string{"\x1b\x1b[", "A"}, []stroke{up}},
		{[]string{"\x1b\x1bO", "A"}, []stroke{up}},
		{[]string{"\x1b\x1b[1;", "5A"}, []stroke{none}},
		{[]string{"\x1b\x1b[A\x1b\x1b[Ax"}, []stroke{up, up, {key: 'x'}}},
		{[]string{"\x1b\x01a"}, []stroke{none, {key: 'a'}}},
		{[]string{"\x1b\x00a"}, []stroke{none, {key: 'a'}}},
		{[]string{"\x1b\x1b"}, []stroke{escape, escape}},
		{[]string{"\x1b\x1b\x1b[A"}, []stroke{escape, up}},
		{[]string{"\x1b\x03"}, []stroke{escape, {key: keyCtrlC}}},
		{[]string{"\x1b\x04"}, []stroke{escape, {key: keyCtrlD}}},
		{[]string{"\x1b\x1b[200~a\r\x1b[201~"}, []stroke{escape, {paste: "a\r"}}},
		{[]string{"\x1b\x1b[20", "0~a\r\x1b[201~"}, []stroke{escape, {paste: "a\r"}}},
	} {
		c.check(t)
	}
}

// The console of Linux sends F1 to F5 with another bracket. They write nothing.
func TestAFunctionKeyOfTheConsoleWritesNothing(t *testing.T) {
	none := stroke{key: keyUnknown}
	for _, c := range []strokesOf{
		{[]string{"\x1b[[Aa"}, []stroke{none, {key: 'a'}}},
		{[]string{"\x1b[[E\x1b[[Ba"}, []stroke{none, none, {key: 'a'}}},
		{[]string{"\x1b[[", "A", "a"}, []stroke{none, {key: 'a'}}},
		{[]string{"\x1b[", "[A", "a"}, []stroke{none, {key: 'a'}}},
		{[]string{"\x1b\x1b[[", "A", "a"}, []stroke{none, {key: 'a'}}},
		{[]string{"\x1b[[\r"}, []stroke{none, {key: keyEnter}}},
		{[]string{"\x1b[[\x03"}, []stroke{none, {key: keyCtrlC}}},
	} {
		c.check(t)
	}
}

// A Ctrl-C that is typed ends a paste whose end never comes. One within a paste doesn't.
func TestCtrlCEndsAPasteThatHasNoEnd(t *testing.T) {
	end := stroke{key: keyCtrlC}
	for _, c := range []strokesOf{
		{[]string{"\x1b[200~abc", "\r", "d", "\x03", "e"}, []stroke{{paste: "abc\rd"}, end, {key: 'e'}}},
		{[]string{"x\x1b[200~a\x1b[201~\x1b[200~b\x1b[20", "\x03"},
			[]stroke{{key: 'x'}, {paste: "a"}, {paste: "b\x1b[20"}, end}},
		{[]string{"\x1b[200~a\x03", "b\x03", "\x1b[201~"}, []stroke{{paste: "a\x03b\x03"}}},
		{[]string{"\x1b[200~a\x1b[201~", "\x03"}, []stroke{{paste: "a"}, end}},
		{[]string{"\x03"}, []stroke{end}},
	} {
		c.check(t)
	}
}

// A strokesOf is what is read in pieces, and the strokes that it is.
type strokesOf struct {
	pieces []string
	want   []stroke
}

func (c *strokesOf) check(t *testing.T) {
	t.Helper()
	k := &keyboard{}
	var got []stroke
	for _, piece := range c.pieces {
		k.take(typed{data: []byte(piece)})
		for s, ok := k.next(); ok; s, ok = k.next() {
			got = append(got, s)
		}
	}
	require.Equal(t, c.want, got, "%q", c.pieces)
	require.Empty(t, k.buf, "%q", c.pieces)
}

// Escape alone is a key of its own. What comes after it isn't taken for the rest of a sequence,
// unless all of one comes at once.
func TestEscapeAloneDoesNotTakeTheNextKey(t *testing.T) {
	for after, want := range map[string]stroke{"a": {key: 'a'}, "[": {key: '['}, "Oh": {key: 'O'},
		"\r": {key: keyEnter},
		"[A": {key: keyCtrlP}, "OA": {key: keyCtrlP}, "\x1b[A": {key: keyCtrlP}, "\x1b[200~a\x1b[201~": {paste: "a"},
		"[200~a\x1b[201~": {paste: "a"}} {
		k := &keyboard{}
		k.take(typed{data: []byte("\x1b")})
		s, ok := k.next()
		require.True(t, ok)
		require.Equal(t, stroke{key: keyEscape}, s)
		goesOn := k.take(typed{data: []byte(after)})
		s, ok = k.next()
		require.True(t, ok)
		require.Equal(t, want, s, "%q", after)
		require.Equal(t, s.paste != "" && after[0] == '[' || s.key == keyCtrlP, goesOn)
	}
}

// The rest of an arrow's sequence may come a little later than its Escape. That stops no run.
func TestAnArrowInPiecesStopsNoRun(t *testing.T) {
	for rest, goesOn := range map[string]bool{"[A": true, "OB": true, "\x1b[A": true,
		"a": false, "\x1b": false, "": false} {
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
