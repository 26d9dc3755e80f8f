package adapter

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
)

// Redacted stands for a secret where it would be printed: "[redacted]" if there is one, else "[none]".
func Redacted(set bool) string {
	if set {
		return "[redacted]"
	}
	return "[none]"
}

// shortestSecret is how many bytes a text must have to be taken for a secret: a shorter one could be any word.
const shortestSecret = 8

// Hiding returns what takes a key, and the secrets among these headers, out of what a server said. Of what is shorter than 8
// bytes nothing is taken: it could be any word.
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

// Scrub takes what must be hidden out of all that a server said in an error.
func Scrub(e *provider.Error, hide func(string) string) {
	for _, s := range []*string{&e.Message, &e.Type, &e.Code, &e.RequestID} {
		*s = hide(*s)
	}
}

// Brief returns the beginning, at most 300 bytes and a mark, of a text that is no message, a page of a gateway for example, on
// one line. Bytes that are no UTF-8 become what is given in their place.
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
