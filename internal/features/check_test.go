package features

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFragmentsAreFound(t *testing.T) {
	body := []byte(`{"a":{"b":[1,{"c":2,"d":3}]},"e":"x"}`)
	for fragment, want := range map[string]bool{`{"a":{"b":[{"c":2}]}}`: true, `{"a":{"b":[2]}}`: false,
		`{"e":"x"}`: true, `{"f":null}`: false, `{"a":{}}`: true, `{"a":[]}`: false, `~"c":2`: true, `!"c":2`: false,
		`!"f"`: true, `{`: false} {
		require.Equal(t, want, holds(body, fragment), fragment)
	}
	require.True(t, anywhere(decoded(body), decoded([]byte(`{"c":2}`))))
	require.False(t, anywhere(decoded(body), decoded([]byte(`{"c":3}`))))
}

func TestATableIsRead(t *testing.T) {
	page := "| other | Chat |\n|---|---|\n| seed | no |\n\n" +
		"| feature | Chat | Responses | Claude | Gemini | Converse |\n|---|---|---|---|---|---|\n" +
		"| seed | said | — | left out | — | — |\n| a, b | options, read | — | — | — | — |\n"
	require.Equal(t, map[string][]string{"seed": {"left out"}, "a, b": {"—"}}, table(t, page, "Claude"))
	require.Equal(t, map[string][]string{"seed": {"said"}, "a, b": {"options", "read"}}, table(t, page, "Chat"))
}
