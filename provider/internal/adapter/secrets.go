package adapter

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
)

// Redacted returns the text that is printed instead of a secret: "[redacted]" if it is set, else "[none]".
func Redacted(set bool) string {
	if set {
		return "[redacted]"
	}
	return "[none]"
}

// shortestSecret is the shortest text, in bytes, that is treated as a secret; a shorter one could be an ordinary word.
const shortestSecret = 8

// Hiding returns a function that removes a key, and the secrets among these headers, from the text of a server. Texts of less than 8
// bytes aren't removed, because they could be ordinary words.
func Hiding(h http.Header) func(text, key string) string {
	var secrets []string
	for name, values := range h {
		switch http.CanonicalHeaderKey(name) {
		case "Authorization", "Proxy-Authorization", "X-Api-Key", "X-Goog-Api-Key":
			for _, v := range values {
				secrets = append(secrets, strings.Fields(v)...)
			}
		}
	}
	return func(text, key string) string {
		for _, s := range slices.Concat(secrets, []string{key}) {
			if len(s) >= shortestSecret {
				text = strings.ReplaceAll(text, s, Redacted(true))
			}
		}
		return text
	}
}

// Scrub removes secrets from all texts of a server's error.
func Scrub(e *provider.Error, hide func(string) string) {
	for _, s := range []*string{&e.Message, &e.Type, &e.Code, &e.RequestID} {
		*s = hide(*s)
	}
}

// Brief returns the beginning of a text that isn't a message, such as a gateway's web page: at most 300 bytes and a mark, on
// one line. Bytes that aren't UTF-8 are replaced by inPlace.
func Brief(text, inPlace string) string {
	const most = 300
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, inPlace)), " ")
	if len(text) <= most {
		return text
	}
	cut := most
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
