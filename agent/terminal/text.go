package terminal

import (
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/internal/visible"
)

// escapes matches control sequences: of colors and the cursor, with a text of their own such as a
// title of the window, and others. One that isn't ended ends with its line.
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]?|" +
	"(?:\x1b[\\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\x07\x1b\n\u009c]*(?:\x07|\x1b\\\\|\u009c)?|\x1b[ -/]*[0-~]?")

// clean returns a text without what controls a terminal, and without what nobody sees.
func clean(text string) string { return visible.Text(escapes.ReplaceAllString(text, "")) }

// whole returns what can be shown of a text that comes in pieces, and what waits for the next one,
// because a control sequence may go on in it.
func whole(text string) (shown, rest string) {
	at := escapes.FindAllStringIndex(text, -1)
	if n := len(at); n > 0 && at[n-1][1] == len(text) && len(text)-at[n-1][0] < 4096 {
		text, rest = text[:at[n-1][0]], text[at[n-1][0]:]
	}
	return clean(text), rest
}

// short returns text in one line of at most n columns.
func short(text string, n int) string {
	text = strings.Join(strings.Fields(clean(text)), " ")
	used, cut := 0, 0
	for i, r := range text {
		used++
		if r >= 0x1100 && (r < 0x2000 || r >= 0x2e80) { // most likely wide
			used++
		}
		if used < n {
			cut = i + len(string(r))
		} else if used > n {
			return text[:cut] + "…"
		}
	}
	return text
}
