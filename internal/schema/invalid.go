package schema

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/cut"
)

const (
	shownProblems = 8   // in an error's text
	keptProblems  = 100 // in InvalidError.Problems
	shownNames    = 20  // known keys or allowed values in one message
	shownBytes    = 60  // of an offending value
)

// An InvalidError says that a text isn't JSON, or doesn't match its schema. Its message is written
// for a model: which key, what was expected, and the value. It contains no schema address and no
// file name.
type InvalidError struct {
	// Problems has at least one problem and at most 100, in the order of their paths.
	Problems []Problem

	more int // problems that were dropped
}

// A Problem is one error in a JSON text.
type Problem struct {
	Path    string // where, for example "address.city" or "items[2].id"; empty for the value as a whole
	Message string // for example "expected a string, got 5"
}

// String returns the problem with its path in front.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Error lists up to eight problems, separated by semicolons, and the number of the others.
func (e *InvalidError) Error() string {
	var b strings.Builder
	b.WriteString("invalid value: ")
	for i, p := range e.Problems {
		if i == shownProblems {
			fmt.Fprintf(&b, "; and %d more", len(e.Problems)-i+e.more)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(p.String())
	}
	return b.String()
}

// Fault returns [fault.Invalid]: the author of the value should correct it.
func (e *InvalidError) Fault() fault.Class { return fault.Invalid }

// add adds a problem, up to a limit.
func (e *InvalidError) add(path []byte, message string) {
	if len(e.Problems) == keptProblems {
		e.more++
		return
	}
	e.Problems = append(e.Problems, Problem{Path: string(path), Message: message})
}

// appendKey appends a key to a path: ".city", or ["first name"] if the short form would be
// ambiguous.
func appendKey[T string | []byte](path []byte, key T) []byte {
	if len(key) > longestName || !plainKey.MatchString(string(key)) {
		return append(append(append(path, '['), quoteShort(string(key))...), ']')
	}
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, key...)
}

var plainKey = regexp.MustCompile(`^[\w$\-\x{80}-\x{10FFFF}]+$`)

// unknownKey returns the message for a key that the schema doesn't have.
func unknownKey(key string, known []string) string {
	text := "unknown key " + quoteShort(key)
	if len(known) == 0 {
		return text + "; no keys are known here"
	}
	near, ok := Nearest(key, known)
	if !ok {
		return text + "; known keys: " + listShort(known)
	}
	text += "; did you mean " + quoteShort(near) + "?"
	if len(known) == 1 {
		return text
	}
	return text + " known keys: " + listShort(known)
}

// listShort lists names in quotes.
func listShort(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quoteShort(name)
	}
	return list(quoted)
}

// list joins words, the first 20 of them.
func list(words []string) string {
	if len(words) > shownNames {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:shownNames], ", "), len(words)-shownNames)
	}
	return strings.Join(words, ", ")
}

func quoteShort(s string) string { return shorten(appendQuoted(nil, s), shownBytes) }

// shorten cuts a text to limit bytes, at a character, and replaces invalid UTF-8.
func shorten[T ~string | ~[]byte](text T, limit int) string {
	s := string(text)
	if len(s) > limit {
		s = cut.Start(s, limit) + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
