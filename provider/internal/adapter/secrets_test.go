package adapter

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPageIsShortened(t *testing.T) {
	require.Equal(t, "<html> Bad gateway </html>", Brief(" <html>\n\tBad gateway\r\n</html>\n"))
	require.Equal(t, "a\uFFFDb", Brief("a\xff\xfeb"))
	require.Equal(t, strings.Repeat("x", 300), Brief(strings.Repeat("x", 300)))
	require.Equal(t, strings.Repeat("x", 300)+"…", Brief(strings.Repeat("x", 301)))
	for n := range 4 { // the cut would be within a character
		text := Brief(strings.Repeat("x", 297+n) + strings.Repeat("𝄞", 20))
		require.True(t, strings.HasPrefix(text, strings.Repeat("x", 297+n)))
		require.LessOrEqual(t, len(strings.TrimSuffix(text, "…")), 300)
		require.Equal(t, strings.ToValidUTF8(text, ""), text)
		require.NotContains(t, text, "\uFFFD")
	}
}
