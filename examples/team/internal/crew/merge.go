package crew

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/tools/file"
)

// A receipt says what a step has changed in the directory of programs, so that it can be undone. It
// is written before the change.
type receipt struct {
	Files map[string]replaced `json:"files"`
	Diff  string              `json:"diff"`
}

// A replaced is a file before and after a merge.
type replaced struct {
	Before  []byte `json:"before"`  // nil: there was none
	Version string `json:"version"` // after; empty: it was deleted
}

const receiptFile = "merged.json"

// merge puts the changes of the step into the directory of programs: all or none. It may be
// repeated after a crash. If somebody has changed the same lines meanwhile, it returns what the
// step has to be told, and drops the step's version of these files. mu is held.
func (w *workcopy) merge(ctx context.Context) (conflict string, err error) {
	r := receipt{Files: make(map[string]replaced)}
	if err := w.load(receiptFile, &r); err != nil {
		return "", err
	}
	before := maps.Clone(r.Files)
	for _, ch := range w.staging.Changes() {
		now, err := w.place.ws.Read(ctx, ch.Name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		one, known := r.Files[ch.Name]
		if !known || now.Version != one.Version { // else the step has changed it before
			if one.Before = nil; err == nil {
				one.Before = notNil(now.Data)
			}
		}
		if one.Version = ""; ch.Action != file.Delete {
			c, err := w.staging.Read(ctx, ch.Name)
			if err != nil {
				return "", err
			}
			one.Version = c.Version
		}
		r.Files[ch.Name] = one
	}
	diff, err := w.staging.Diff(ctx)
	if err != nil {
		return "", err
	}
	if !strings.Contains(r.Diff, diff) {
		r.Diff += diff
	}
	if err := w.save(receiptFile, &r); err != nil {
		return "", err
	}
	res, err := w.staging.Merge(ctx)
	if err != nil {
		return "", err
	}
	if len(res.Conflicts) > 0 {
		r.Files, r.Diff = before, strings.TrimSuffix(r.Diff, diff)
		return w.conflict(res.Conflicts), w.save(receiptFile, &r)
	}
	for _, ch := range res.Applied {
		if one := r.Files[ch.Name]; ch.Merged {
			c, err := w.place.ws.Read(ctx, ch.Name)
			if err != nil {
				return "", err
			}
			one.Version = c.Version
			r.Files[ch.Name] = one
		}
	}
	return "", w.save(receiptFile, &r)
}

// conflict says what clashes, with both versions, and drops those of the step.
func (w *workcopy) conflict(list []file.Conflict) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b,
			"conflict in %s: %s. The directory keeps its version; read it, and put your change into it.\n\n"+
				"--- your version of %s\n%s\n--- the version in the directory\n%s\n", c.Name, c.Reason, c.Name, c.Ours,
			c.Theirs)
		if err := w.staging.Drop(c.Name); err != nil {
			fmt.Fprintf(&b, "(%v)\n", err)
		}
	}
	return b.String()
}

// unmerged reports whether the step has changes that aren't in the directory.
func (w *workcopy) unmerged() bool { return len(w.staging.Changes()) > 0 }

// revert takes back what the step has changed in the directory, and its copy. A file that somebody
// has changed since stays as it is, and is an error. It may be repeated.
func (w *workcopy) revert(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := receipt{}
	if err := w.load(receiptFile, &r); err != nil {
		return err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		if err := w.place.putBack(ctx, name, r.Files[name]); err != nil {
			errs = append(errs, err)
			continue
		}
		delete(r.Files, name)
	}
	for _, ch := range w.staging.Changes() {
		errs = append(errs, w.staging.Drop(ch.Name))
	}
	if err := errors.Join(errs...); err != nil {
		return errors.Join(err, w.save(receiptFile, &r))
	}
	err := os.Remove(filepath.Join(w.dir, receiptFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// putBack gives a file the content that it had.
func (p *Place) putBack(ctx context.Context, name string, was replaced) error {
	now, err := p.ws.Read(ctx, name)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
		return err
	case was.Before != nil && !missing && string(now.Data) == string(was.Before):
		return nil
	case was.Before == nil && missing: // its directories may be left, of a process that died
	case now.Version != was.Version:
		return fmt.Errorf("%s was changed since, and stays as it is", name)
	case was.Before != nil:
		_, err := p.ws.Write(ctx, name, was.Before, file.WriteOptions{Version: now.Version})
		return err
	default:
		if err := p.ws.Remove(ctx, name, now.Version); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if err := root.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			break // of directories, only empty ones can be removed
		}
	}
	return nil
}
