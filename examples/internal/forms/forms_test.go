package forms_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/internal/forms"
)

// TestASentenceCanBeSaidWithAnotherValue: what a script offers is a sentence again.
func TestASentenceCanBeSaidWithAnotherValue(t *testing.T) {
	all := forms.New(forms.Config{Says: [][]string{{`set (?P<what>VALUE) to (?P<to>VALUE)`}},
		Fit: func(int, map[string]string, map[string]bool) bool { return true }})
	read := all.Read(`please set the tone to "calm, then merry"`)
	require.Len(t, read, 1)
	again := read[0].With("what", "its colour")
	require.Equal(t, `set "its colour" to "calm, then merry"`, again)
	read = all.Read(again)
	require.Equal(t, map[string]string{"what": "its colour", "to": "calm, then merry"}, read[0].Values)
}

func TestSpacesInQuotationMarksMayCount(t *testing.T) {
	c := forms.Config{Says: [][]string{{`set (?P<what>VALUE) to (?P<to>VALUE)`}},
		Fit: func(int, map[string]string, map[string]bool) bool { return true }}
	for spaces, want := range map[bool]string{false: "b", true: " b"} {
		c.Spaces = spaces
		read := forms.New(c).Read(`set  a to " b"`)
		require.Len(t, read, 1)
		require.Equal(t, map[string]string{"what": "a", "to": want}, read[0].Values)
		require.Empty(t, forms.New(c).Read(`set a to " "`))
	}
}

func TestPlainValues(t *testing.T) {
	for _, v := range []string{"Home", "Five interview questions", "Salt and Pepper", "v1.2"} {
		require.True(t, forms.Plain(v, false), v)
	}
	for _, v := range []string{"", " ", "Home if Ada agrees", "Home, Blog", "Home and leave Blog", "Home?", "Home. No",
		"Home tomorrow", "nothing", "Home - no", "it", "Home...",
		"Home (not really)", "Home (just kidding)"} {
		require.False(t, forms.Plain(v, false), v)
	}
	require.True(t, forms.Plain("bread, cakes and more", true))
	require.False(t, forms.Plain("bread, but no cakes", true))
}

// FuzzRead tries that no sentence panics, and that each value is in the sentence.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"set a to b", `set "a" to 'b'`, "a's 's '", `"`, "''", "“0”", "set “7” to “0”", `"""""`,
		"set a to b, then set “1” to c", "„“”", "", "please", "set \ufffd to \x00"} {
		f.Add(s)
	}
	all := forms.New(forms.Config{Says: [][]string{{`set (?P<what>VALUE) to (?P<to>VALUE)`}},
		Fit: func(_ int, values map[string]string, quoted map[string]bool) bool {
			return len(values) == 2 && (quoted["to"] || forms.Plain(values["to"], false))
		}})
	f.Fuzz(func(t *testing.T, said string) {
		for _, r := range all.Read(said) {
			require.Len(t, r.Values, 2)
			require.NotEmpty(t, r.With("what", "x"))
		}
	})
}
