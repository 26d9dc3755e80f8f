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
	f.Add([]byte("\ufeffa\nb\r\nc"), "\n", "", true)
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
		form := formOf(data)
		if form.mark {
			old, now = strings.TrimPrefix(old, mark), strings.TrimPrefix(now, mark)
			require.True(t, bytes.HasPrefix(out, []byte(mark)), "the mark stays")
		}
		old, now = form.lines(old), form.lines(now)
		require.Len(t, out, len(data)+len(lines)*(len(now)-len(old)))
		if !strings.Contains(string(data), cr) {
			require.Equal(t, strings.ReplaceAll(string(data), old, now), string(out))
		}
		if form.ends == crlf && strings.Count(now, cr) == strings.Count(now, crlf) {
			require.Equal(t, bytes.Count(out, newline), bytes.Count(out, []byte(crlf)), "all lines end as before")
		}
	})
}
