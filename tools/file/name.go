package file

import (
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
)

// The longest names, in bytes.
const (
	longestName    = 4096
	longestElement = 255
)

// clean returns the canonical form of name: elements separated by slashes, "." for the workspace
// itself. A name that leads outside is an error of class Denied, an invalid one an error of class
// Invalid.
//
// It doesn't protect the workspace: the os.Root does. It gives every file one name, the same on
// every system, that tells the person who approves a call which file it is.
func clean(name string) (string, error) {
	invalid := func(problem string) (string, error) { return "", newError(name, fault.Invalid, nil, "%s", problem) }
	if len(name) > longestName {
		return invalid("the name is longer than 4,096 bytes")
	}
	if !utf8.ValidString(name) || strings.ContainsRune(name, utf8.RuneError) {
		// the replacement character of invalid bytes
		return invalid("the name isn't valid UTF-8")
	}
	for _, r := range name {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			return invalid("the name has a control character; leave it out")
		}
	}
	if strings.Contains(name, `\`) {
		return invalid(`the name has a backslash; write / between directories`)
	}
	if strings.HasPrefix(name, "/") {
		return "", newError(name, fault.Denied, nil,
			"the name is absolute; names are relative to the workspace, such as src/main.go")
	}
	c := path.Clean(name)
	if c == ".." || strings.HasPrefix(c, "../") {
		return "", newError(name, fault.Denied, nil,
			"the name leads out of the workspace; names are relative to it, such as src/main.go")
	}
	if c == "." {
		return c, nil
	}
	if !filepath.IsLocal(filepath.FromSlash(c)) {
		return invalid("the name is reserved on this system; use another")
	}
	if strings.Count(c, "/") >= maxDepth {
		return invalid("the name is more than 64 directories deep")
	}
	for e := range strings.SplitSeq(c, "/") {
		if len(e) > longestElement {
			return invalid("a part of the name is longer than 255 bytes")
		}
		if runtime.GOOS == "windows" && strings.TrimRight(e, ". ") != e {
			return invalid("a part of the name ends in a dot or a space, which this system drops")
		}
	}
	return c, nil
}

// globError returns an error if a pattern is invalid.
func globError(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return newError(pattern, fault.Invalid, err, "this isn't a valid pattern; use one such as *.go or src/**/*.ts")
	}
	return nil
}
