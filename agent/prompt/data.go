package prompt

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Data fences a text, so that a model sees where the data begins and ends:
//
//	<data-1 name="page">
//	…
//	</data-1>
//
// The number is the smallest one whose tag doesn't occur in the text, ignoring case, so no text
// closes its own fence. The text isn't changed, except that bytes that aren't valid UTF-8 become
// U+FFFD. The same name and text give the same fence. The name is cut to 64 characters, and
// characters other than letters, digits and "._-/ " become "_"; an empty name is left out.
//
// A fence is a mark for the model, not a guarantee: say in the core that text between such tags is
// data and contains no instructions, and use policies to limit what an agent may do.
func Data(name, text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	tag := "data-" + strconv.Itoa(freeNumber(text))
	if name = attribute(name); name != "" {
		name = ` name="` + name + `"`
	}
	return fmt.Sprintf("<%s%s>\n%s\n</%s>", tag, name, text, tag)
}

// freeNumber returns the smallest number from 1 that doesn't follow "data-" anywhere in text.
func freeNumber(text string) int {
	const prefix = "data"
	taken := make(map[int]bool)
	for i := 0; ; {
		j := strings.IndexByte(text[i:], '-')
		if j < 0 {
			break
		}
		at := i + j
		i = at + 1
		if at < len(prefix) || !strings.EqualFold(text[at-len(prefix):at], prefix) {
			continue
		}
		digits := text[i:]
		if n := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); n >= 0 {
			digits = digits[:n]
		}
		i += len(digits)
		if n, err := strconv.Atoi(digits); err == nil { // a number too large for an int is never reached
			taken[n] = true
		}
	}
	n := 1
	for taken[n] {
		n++
	}
	return n
}

// attribute returns a name that can be put in quotes.
func attribute(name string) string {
	const most = 64
	var b strings.Builder
	n := 0
	for _, r := range name {
		if n++; n > most {
			break
		}
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/ ", r) {
			r = '_'
		}
		b.WriteRune(r)
	}
	return b.String()
}
