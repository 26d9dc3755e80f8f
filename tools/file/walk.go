package file

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/internal/glob"
)

var errStop = errors.New("file: enough") // stops a walk

// A walk visits a directory and those below it, in the order of names. It follows no symbolic
// links, so it ends.
type walk struct {
	tree   Tree
	ctx    context.Context // nil: none
	hidden bool            // visit names that begin with a dot, too
	depth  int             // 1: only the directory itself
	most   int             // largest number of entries visited

	seen int
	cut  bool // not all entries were visited
}

// run calls visit for each entry below dir, for directories before their entries. Directories that
// can't be read are skipped, except dir itself. An error of visit stops the walk.
func (w *walk) run(dir string, visit func(name string, e entry) error) error {
	return w.list(dir, 1, visit)
}

func (w *walk) list(dir string, depth int, visit func(name string, e entry) error) error {
	if w.ctx != nil && w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	list, more, err := w.tree.entries(dir, w.most-w.seen)
	if err != nil {
		if depth == 1 {
			return err
		}
		return nil
	}
	w.cut = w.cut || more
	w.seen += len(list)
	for _, e := range list {
		if !w.hidden && strings.HasPrefix(e.base, ".") || strings.HasPrefix(e.base, tempPrefix) ||
			slices.Contains(skipped, glob.Fold(e.base)) {
			continue
		}
		name := path.Join(dir, e.base)
		if err := visit(name, e); err != nil {
			return err
		}
		if e.kind != KindDir || depth >= w.depth {
			continue
		}
		if depth >= maxDepth || w.seen >= w.most {
			w.cut = true
			continue
		}
		if err := w.list(name, depth+1, visit); err != nil {
			return err
		}
	}
	return nil
}
