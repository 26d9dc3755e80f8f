package prompt

import (
	"fmt"
	"regexp"
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

var fenced = regexp.MustCompile(`(?i)data-0*(\d+)`)

// freeNumber returns the smallest number from 1 that doesn't follow "data-" anywhere in text.
func freeNumber(text string) int {
	taken := make(map[string]bool)
	for _, tag := range fenced.FindAllStringSubmatch(text, -1) {
		taken[tag[1]] = true
	}
	n := 1
	for taken[strconv.Itoa(n)] {
		n++
	}
	return n
}

// attribute returns a name that can be put in quotes.
func attribute(name string) string {
	runes := []rune(name)
	for i, r := range runes {
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/ ", r) {
			runes[i] = '_'
		}
	}
	return string(runes[:min(len(runes), 64)])
}
