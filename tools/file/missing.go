package file

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// maxSuggestionEntries is the most entries that are searched for a similar name.
const maxSuggestionEntries = 5000

// missing returns the error for a name that doesn't exist. It suggests the name that was probably
// meant: a similar one in the same directory, or a file of that name elsewhere.
func missing(t Tree, name, real string) error {
	msg := "no such file or directory"
	if near := neighbour(t, real); near != "" {
		msg += "; did you mean " + show(near) + "?"
	}
	return newError(name, fault.NotFound, fs.ErrNotExist, "%s", msg)
}

func neighbour(t Tree, real string) string {
	dir, rest := "", real // the existing part of the name, and the rest
	for {
		parent, _ := path.Split(rest)
		at := path.Join(dir, firstElement(rest))
		list, _, err := t.entries(orDot(dir), maxSuggestionEntries)
		if err != nil {
			return ""
		}
		found := false
		for _, e := range list {
			found = found || e.base == firstElement(rest) && e.kind == kindDir
		}
		if found && parent != "" {
			dir, rest = at, strings.TrimPrefix(rest[len(firstElement(rest)):], "/")
			continue
		}
		best, distance := "", -1
		for _, e := range list {
			if d := edits(firstElement(rest), e.base); d >= 0 && (distance < 0 || d < distance) {
				best, distance = e.base, d
			}
		}
		if best != "" {
			return path.Join(dir, best, strings.TrimPrefix(rest[len(firstElement(rest)):], "/"))
		}
		return elsewhere(t, path.Base(real))
	}
}

func firstElement(name string) string {
	first, _, _ := strings.Cut(name, "/")
	return first
}

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// elsewhere returns the file called base if a limited walk finds exactly one.
func elsewhere(t Tree, base string) string {
	found, n := "", 0
	w := walk{tree: t, most: maxSuggestionEntries, depth: maxDepth}
	err := w.run(".", func(name string, e entry) error {
		if e.kind == kindFile && strings.EqualFold(e.base, base) {
			found = name
			if n++; n > 1 {
				return errStop
			}
		}
		return nil
	})
	if n != 1 || err != nil && !errors.Is(err, errStop) {
		return ""
	}
	return found
}

// edits returns the Levenshtein distance of a and b (letters inserted, deleted or replaced), 0 if
// they differ only in case, and -1 if more than one letter in three differs or a name is long.
func edits(a, b string) int {
	if strings.EqualFold(a, b) {
		return 0
	}
	const longest = 64
	most := len(a) / 3
	if len(a) > longest || len(b) > longest || most == 0 || len(a)-len(b) > most || len(b)-len(a) > most {
		return -1
	}
	var row [longest + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j+1]+1, row[j]+1)
		}
	}
	if row[len(b)] > most {
		return -1
	}
	return row[len(b)]
}
