package file

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
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
	dir, rest := ".", real // the existing part of the name, and the rest
	for {
		list, _, err := t.entries(dir, maxSuggestionEntries)
		if err != nil {
			return ""
		}
		first, deeper, more := strings.Cut(rest, "/")
		if more && slices.Contains(list, entry{first, KindDir}) {
			dir, rest = path.Join(dir, first), deeper
			continue
		}
		names := make([]string, len(list))
		for i, e := range list {
			names[i] = e.base
		}
		if near, ok := schema.Nearest(first, names); ok {
			return path.Join(dir, near, deeper)
		}
		return elsewhere(t, path.Base(real))
	}
}

// elsewhere returns the file called base if a limited walk finds exactly one.
func elsewhere(t Tree, base string) string {
	found, n := "", 0
	w := walk{tree: t, most: maxSuggestionEntries, depth: maxDepth}
	err := w.run(".", func(name string, e entry) error {
		if e.kind == KindFile && strings.EqualFold(e.base, base) {
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
