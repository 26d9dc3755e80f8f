package prompt

import (
	"fmt"
	"slices"
	"strings"
)

// An Error is an error in a prompt file or in the Config.
type Error struct {
	File    string // the path in the fs.FS; "" if the Config is wrong
	Line    int    // from 1; 0 if the error isn't on one line
	Problem string // what is wrong, and how to correct it
	Err     error  // the cause, such as fs.ErrNotExist; may be nil
}

// Error names the file, the line and the problem.
func (e *Error) Error() string {
	switch {
	case e.File == "":
		return "prompt: " + e.Problem
	case e.Line <= 0:
		return fmt.Sprintf("prompt: %s: %s", e.File, e.Problem)
	}
	return fmt.Sprintf("prompt: %s:%d: %s", e.File, e.Line, e.Problem)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// An UnknownError is a name that a [Set] doesn't have.
type UnknownError struct {
	What    string   // "mode", "section" or "runtime variable"
	Name    string   // as it was given
	Nearest string   // the name that was probably meant; "" if none is near
	Known   []string // all names
}

// Error names the nearest name, and up to 20 known names.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("prompt: there is no %s %.64q%s", e.What, e.Name, hint(e.Nearest, "there are ", e.Known, quote))
}

func unknown(what, name string, known []string) error {
	return &UnknownError{What: what, Name: name, Nearest: nearest(name, known), Known: known}
}

func quote(s string) string  { return fmt.Sprintf("%.64q", s) }
func braces(s string) string { return "{{" + s + "}}" }

// hint returns the end of an error about an unknown name.
func hint(near, are string, known []string, show func(string) string) string {
	const most = 20
	var b strings.Builder
	if near != "" {
		b.WriteString("; did you mean " + show(near) + "?")
		if len(known) == 1 {
			return b.String()
		}
	}
	if len(known) == 0 {
		return b.String() + "; there are none"
	}
	b.WriteString("; " + are)
	for i, name := range known {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(known)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(show(name))
	}
	return b.String()
}

// nearest returns the name among known that is most similar to name, the first of several, or "" if
// none is similar: a name is too different if more than a third of the characters, and more than
// one, would have to change.
func nearest(name string, known []string) string {
	const long = 200 // characters; longer names aren't compared
	best, least := "", 0
	a := []rune(strings.ToLower(name))
	if len(a) == 0 || len(a) > long {
		return ""
	}
	for _, k := range known {
		b := []rune(strings.ToLower(k))
		if len(b) > long {
			continue
		}
		limit := max(1, max(len(a), len(b))/3)
		if d := distance(a, b); d <= limit && d < max(len(a), len(b)) && (best == "" || d < least) {
			best, least = k, d
		}
	}
	return best
}

// distance returns how many characters must be inserted, deleted, replaced or swapped with their
// neighbors to get from a to b (Damerau, 1964; no character is changed twice).
func distance(a, b []rune) int {
	above, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		above, last, row = last, row, above
		row[0] = i + 1
		for j := range b {
			d := last[j]
			if a[i] != b[j] {
				d++
			}
			d = min(d, row[j]+1, last[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, above[j-1]+1)
			}
			row[j+1] = d
		}
	}
	return row[len(b)]
}

// problems collects errors without duplicates.
type problems struct {
	list []error
	said map[string]bool
}

func (p *problems) add(err error) {
	text := err.Error()
	if p.said[text] {
		return
	}
	if p.said == nil {
		p.said = make(map[string]bool)
	}
	p.said[text] = true
	p.list = append(p.list, err)
}

func (p *problems) at(file string, line int, format string, args ...any) {
	p.add(&Error{File: file, Line: line, Problem: fmt.Sprintf(format, args...)})
}

// sorted returns the names of several sets in order.
func sorted(sets ...map[string]string) []string {
	var out []string
	for _, set := range sets {
		for name := range set {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
