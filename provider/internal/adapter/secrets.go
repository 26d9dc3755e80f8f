package adapter

import (
	"strings"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider/secret"
)

// Redacted returns the text that is printed instead of a secret: [secret.Redacted] if it is set,
// else "[none]".
func Redacted(set bool) string {
	if set {
		return secret.Redacted
	}
	return "[none]"
}

// Brief returns the beginning of a text that isn't a message, such as a gateway's web page: at most
// 300 bytes and a mark, on one line and valid UTF-8.
func Brief(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) <= most {
		return text
	}
	cut := most
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
