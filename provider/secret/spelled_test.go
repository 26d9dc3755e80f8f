package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/secret"
)

// TestASecretIsRemovedInEachSpelling: a server may write it in another way than it was sent.
func TestASecretIsRemovedInEachSpelling(t *testing.T) {
	const key = `gw/Tok+9f"ä😀<x`
	v := secret.NewValues(key)
	inJSON := func(s string) string {
		out, err := json.Marshal(s)
		require.NoError(t, err)
		return string(out)
	}
	each := func(format func(r rune) string) string {
		var b strings.Builder
		for _, r := range key {
			b.WriteString(format(r))
		}
		return b.String()
	}
	var bytes strings.Builder
	for _, b := range []byte(key) {
		fmt.Fprintf(&bytes, "%%%02x", b)
	}
	for name, text := range map[string]string{
		"as it is":                key,
		"in a URL":                url.QueryEscape(key),
		"in a URL, in lower case": strings.ToLower(url.QueryEscape("gw/")) + url.QueryEscape(`Tok+9f"ä😀<x`),
		"twice in a URL":          url.QueryEscape(url.QueryEscape(key)),
		"in JSON":                 inJSON(key),
		"in JSON in JSON":         inJSON(inJSON(key)),
		"JSON with \\/":           strings.ReplaceAll(inJSON(key), "/", `\/`),
		"JSON of ASCII alone":     strings.NewReplacer("ä", `\u00e4`, "😀", `\ud83d\uDE00`).Replace(inJSON(key)),
		"each byte in a URL":      bytes.String(),
		"each character in JSON": each(func(r rune) string {
			if r > 0xFFFF {
				return `\uD83D\uDE00`
			}
			return fmt.Sprintf(`\u%04x`, r)
		}),
		"base64":                  base64.StdEncoding.EncodeToString([]byte(key)),
		"base64 after one byte":   base64.StdEncoding.EncodeToString([]byte("u" + key)),
		"base64 after two bytes":  base64.URLEncoding.EncodeToString([]byte("u:" + key)),
		"base64 in a longer text": base64.StdEncoding.EncodeToString([]byte("user:" + key + "/")),
	} {
		t.Run(name, func(t *testing.T) {
			out := v.Text("401 bad key " + text + ".")
			require.Contains(t, out, secret.Redacted)
			require.True(t, strings.HasPrefix(out, "401 bad key "), out)
			require.LessOrEqual(t, len(out), len("401 bad key .")+len(secret.Redacted)+16, out)
		})
	}
}

// TestOtherTextStays, also where it is encoded.
func TestOtherTextStays(t *testing.T) {
	v := secret.NewValues("gw/Tok+9f")
	for _, text := range []string{"", "%", `\`, "100 %", `%2`, `\u12`, `C:\new\table`, "a%2fb", `{"a":"\u00e4\/"}`,
		"gw%2fTok"} {
		require.Equal(t, text, v.Text(text))
	}
}

func FuzzSpelled(f *testing.F) {
	f.Add(`gw\/Tok%2b9f \ud83d`)
	v := secret.NewValues("gw/Tok+9f")
	f.Fuzz(func(t *testing.T, text string) {
		if out := v.Text(text); strings.Contains(out, "gw/Tok+9f") {
			t.Fatal(out)
		}
	})
}
