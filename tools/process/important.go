package process

import (
	"bytes"
	"regexp"
	"slices"
)

// words mark lines that are kept when the middle of an output is left out, in any case.
var words = [][]byte{[]byte("denied"), []byte("error"), []byte("exception"), []byte("fail"), []byte("fatal"),
	[]byte("not found"), []byte("panic"), []byte("warn")}

// place matches a position in a file: name.ext:12:3.
var place = regexp.MustCompile(`\w\.\w+:\d+:\d+`)

// important reports whether a line looks important: it mentions an error, a failure or a warning, a
// position in a file, or is a line of a stack trace (" at main (app.js)").
func important(line []byte) bool {
	lower := bytes.ToLower(line)
	if slices.ContainsFunc(words, func(w []byte) bool { return bytes.Contains(lower, w) }) {
		return true
	}
	if bytes.Count(line, []byte(":")) > 1 && place.Match(line) {
		return true
	}
	rest := bytes.TrimLeft(line, " \t")
	return len(rest) < len(line) && (bytes.HasPrefix(rest, []byte("at ")) || bytes.HasPrefix(rest, []byte("at\t")))
}
