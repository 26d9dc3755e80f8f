package web_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// A charset is declared by a byte order mark, the header, or the page, in this order; without one,
// valid UTF-8 is UTF-8.
func TestCharsets(t *testing.T) {
	var header, body string
	f, base := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", header)
		_, _ = io.WriteString(w, body)
	})
	in := func(e encoding.Encoding, s string) string {
		out, err := e.NewEncoder().String(s)
		require.NoError(t, err)
		return out
	}
	utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	for _, c := range []struct{ header, body, want string }{
		{"text/plain; charset=utf-8", "Grüße", "Grüße"},
		{"text/plain", "Grüße", "Grüße"},
		{"text/plain", strings.Repeat("x", 5000) + "Grüße", strings.Repeat("x", 5000) + "Grüße"},
		{"text/plain", "\uFEFFGrüße", "Grüße"},
		{"text/plain; charset=iso-8859-1", in(charmap.ISO8859_1, "Grüße"), "Grüße"},
		{"text/plain", in(charmap.Windows1252, "Grüße €"), "Grüße €"},
		{"text/plain; charset=nonsense", "Grüße", "Grüße"},
		{"text/plain; charset=utf-8", "a\xffb", "a\uFFFDb"},
		{"text/html", `<meta charset=shift_jis><p>` + in(japanese.ShiftJIS, "こんにちは"), "こんにちは"},
		{"text/html", `<meta http-equiv=content-type content="text/html; charset=gbk"><p>` +
			in(simplifiedchinese.GBK, "你好"), "你好"},
		{"text/html; charset=koi8-r", in(charmap.KOI8R, "<p>Привет"), "Привет"},
		{"text/plain", in(utf16, "Grüße"), "Grüße"},
		{"text/html; charset=windows-1252", in(utf16, "<p>Grüße"), "Grüße"},
		{"text/html; charset=utf-7", "+ADw-script+AD4-", "+ADw-script+AD4-"},
	} {
		header, body = c.header, c.body
		page, err := f.Get(t.Context(), base)
		require.NoError(t, err)
		require.Equal(t, c.want, page.Text, c.header)
	}
	header, body = "text/html; charset=iso-2022-kr", "x"
	_, err := f.Get(t.Context(), base)
	require.ErrorContains(t, err, "charset is unknown or unsafe")
}
