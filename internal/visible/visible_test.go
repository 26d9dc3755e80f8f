package visible_test

import (
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/visible"
)

// What people write stays.
func TestOrdinaryTextStays(t *testing.T) {
	for _, s := range []string{"", "Grüße\n\tan alle", "👩‍👩‍👧 ❤️", "می\u200cخواهم", "你好。", "a\u0301", "x\u00a0y", "𝒳"} {
		require.Equal(t, s, visible.Text(s))
	}
}

func TestInvisibleCharactersAreRemoved(t *testing.T) {
	for _, r := range []rune{0, 1, 7, 0x1b, 0x7f, 0x80, 0x85, 0x9f, 0xad, 0x61c, 0x180e, 0x200b, 0x200e, 0x202a, 0x202e,
		0x034f, 0x115f, 0x3164, 0xffa0, 0x2060, 0x2066, 0x2069, 0x206f, 0xfeff, 0xfff9, 0xe0001, 0xe007f, 0xe0100,
		0xe01ef} {
		require.Equal(t, "ab", visible.Text("a"+string(r)+"b"), "%U", r)
	}
	require.Equal(t, "a\nb\nc\n", visible.Text("a\r\nb\rc\n"))
}

func TestATextOfWhichNobodySeesAnythingIsBlank(t *testing.T) {
	for _, text := range []string{"", " \n\t", "\u200b", "\u200d\u200c", "\ufeff", "\u00ad", "\u3164", "\u034f",
		"\ufe0f", "\u00a0\u2003"} {
		require.True(t, visible.Blank(text), "%q", text)
	}
	for _, text := range []string{".", "0", "é", "e\u0301", "👩\u200d👩", "\u200ba", "你"} {
		require.False(t, visible.Blank(text), "%q", text)
	}
}

func TestANameShowsWhatNobodySees(t *testing.T) {
	for name, want := range map[string]string{"main.go": "main.go", "日本語 2.txt": "日本語 2.txt", "Grüße": "Grüße",
		"שלום.txt": "שלום.txt", "photo\u202egnp.exe": `"photo\u202egnp.exe"`, "a\u200b": `"a\u200b"`,
		"a\u3164b": `"a\u3164b"`, "a\U000e0041": `"a\U000e0041"`, "": `""`, " a": `" a"`, "a\nb": `"a\nb"`,
		"a\u2067b\u2069": `"a\u2067b\u2069"`, "\xff": `"\xff"`, `"a"`: `"\"a\""`, "\x1b[31m": `"\x1b[31m"`,
		"a\u034fb": `"a\u034fb"`, "a\u00a0b": `"a\u00a0b"`, "a\u2003b": `"a\u2003b"`, "a\u3000b": `"a\u3000b"`,
		"a\u2800b": `"a\u2800b"`, "\u2800": `"\u2800"`, "a b": "a b", `"a b`: `"\"a b"`, "⠓⠊": "⠓⠊",
		"\u200bGrüße 日本": `"\u200bGrüße 日本"`} {
		require.Equal(t, want, visible.Name(name))
	}
	for r := range rune(unicode.MaxRune) {
		if unicode.Is(unicode.Zs, r) && r != ' ' {
			require.NotContains(t, visible.Name("a"+string(r)+"b"), string(r), "%U", r)
		}
	}
}
