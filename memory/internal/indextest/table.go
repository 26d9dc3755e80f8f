package indextest

import (
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/memory/index"
)

// Lines returns the lines of a file that aren't comments.
func Lines(t testing.TB, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(data)), "\n"), func(l string) bool {
		return strings.HasPrefix(l, "#")
	})
}

// Table returns the items of a file whose lines have kind, id, name, aliases and text, with a bar
// between two. They have no fields.
func Table(t testing.TB, path string) []index.Item {
	t.Helper()
	var items []index.Item
	for _, l := range Lines(t, path) {
		f := strings.Split(l, "|")
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		if len(f) != 5 {
			t.Fatalf("indextest: %s has a line of %d parts: %s", path, len(f), l)
		}
		items = append(items,
			index.Item{Kind: f[0], ID: f[1], Name: f[2], Aliases: strings.Split(f[3], ", "), Text: f[4]})
	}
	return items
}

// All yields the items one by one, as Finder.Sync wants them.
func All(items ...index.Item) iter.Seq2[index.Item, error] {
	return func(yield func(index.Item, error) bool) {
		for _, i := range items {
			if !yield(i, nil) {
				return
			}
		}
	}
}
