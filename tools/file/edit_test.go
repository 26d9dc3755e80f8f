package file

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzReplace(f *testing.F) {
	f.Add([]byte("a b a"), "a", "c", true)
	f.Add([]byte("a\r\nb\r\n"), "a\nb", "x\ny", false)
	f.Add([]byte("aaa"), "aa", "", false)
	f.Fuzz(func(t *testing.T, data []byte, old, now string, all bool) {
		before := bytes.Clone(data)
		out, lines, err := replace("f", data, old, now, all)
		require.Equal(t, before, data, "the input isn't touched")
		if err != nil {
			require.Nil(t, out)
			return
		}
		require.NotEmpty(t, lines)
		require.True(t, all || len(lines) == 1)
		if !strings.Contains(string(data), old) { // matched with CRLF
			old, now = toCRLF(old), toCRLF(strings.ReplaceAll(now, "\r\n", "\n"))
		}
		require.Equal(t, strings.ReplaceAll(string(data), old, now), string(out))
	})
}
