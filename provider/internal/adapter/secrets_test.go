package adapter

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestSecretsAreRemoved(t *testing.T) {
	hide := Hiding(http.Header{"authorization": {"Bearer bearer-of-news"}, "X-Goog-Api-Key": {"google-key", "second-key"},
		"x-api-key": {"other-key"}, "Proxy-Authorization": {"Basic proxy-password"}, "X-Extra": {"shown-to-all"}})
	require.Equal(t, "Bearer [redacted] [redacted] [redacted] [redacted] [redacted] shown-to-all [redacted]",
		hide("Bearer bearer-of-news google-key second-key other-key proxy-password shown-to-all the-key-itself", "the-key-itself"))
	require.Equal(t, "the key is short", Hiding(nil)("the key is short", "key"), "it could be any word")
	require.Equal(t, "[redacted]", Hiding(nil)("12345678", "12345678"))
	require.Equal(t, "nothing", Hiding(nil)("nothing", ""))

	cred := Fixed("the-key-itself")
	cred.Hide = hide
	e := provider.Error{Message: "m the-key-itself", Type: "t the-key-itself", Code: "c the-key-itself", RequestID: "r the-key-itself", Remedy: "ours"}
	Scrub(&e, cred.Hider("the-key-itself"))
	require.Equal(t, provider.Error{Message: "m [redacted]", Type: "t [redacted]", Code: "c [redacted]", RequestID: "r [redacted]", Remedy: "ours"}, e)
}

func TestAPageIsShortened(t *testing.T) {
	require.Equal(t, "<html> Bad gateway </html>", Brief(" <html>\n\tBad gateway\r\n</html>\n", ""))
	require.Equal(t, "ab", Brief("a\xffb", ""))
	require.Equal(t, "a\uFFFDb", Brief("a\xff\xfeb", "\uFFFD"))
	require.Equal(t, strings.Repeat("x", 300), Brief(strings.Repeat("x", 300), ""))
	require.Equal(t, strings.Repeat("x", 300)+"…", Brief(strings.Repeat("x", 301), ""))
	for n := range 4 { // the cut would be within a character
		text := Brief(strings.Repeat("x", 297+n)+strings.Repeat("𝄞", 20), "")
		require.True(t, strings.HasPrefix(text, strings.Repeat("x", 297+n)))
		require.LessOrEqual(t, len(strings.TrimSuffix(text, "…")), 300)
		require.Equal(t, strings.ToValidUTF8(text, ""), text)
		require.NotContains(t, text, "\uFFFD")
	}
}
