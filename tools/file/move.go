package file

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Move renames a regular file to a name that doesn't exist, and creates its directories as needed.
// If the system supports hard links, it never overwrites a file that gets the new name at the same
// moment.
func (w *Workspace) Move(ctx context.Context, from, to, version string) (Info, error) {
	done, err := w.lock(ctx)
	if err != nil {
		return Info{}, err
	}
	defer done()
	source, _, err := w.existing(from, version)
	if err != nil {
		return Info{}, err
	}
	target, info, err := w.writable(to)
	if err != nil {
		return Info{}, err
	}
	if info != nil {
		return Info{},
			newError(to, fault.Invalid, fs.ErrExist, "it exists already; use another name, or delete it first")
	}
	if err := w.move(source, target); err != nil {
		return Info{}, renamed(err, to)
	}
	return w.Stat(ctx, target)
}

// move moves a file between resolved names. The directories are open, so that a link can't replace
// them. But not every system can link a file between open directories. Therefore the file first
// gets a random name in the directory of the target, and it is checked that it has it there. If it
// hasn't, it may have that name in the directory that replaced one of them.
func (w *Workspace) move(source, target string) error {
	from, oldBase, doneFrom, err := w.parent(source, false)
	if err != nil {
		return err
	}
	defer doneFrom()
	to, newBase, doneTo, err := w.parent(target, true)
	if err != nil {
		return err
	}
	defer doneTo()
	file, err := from.Lstat(oldBase)
	if err != nil {
		return explain(source, err)
	}
	temp := tempPrefix + strings.ToLower(rand.Text())
	at := path.Join(path.Dir(target), temp)
	replaced := newError(source, fault.Transient, nil, "one of its directories has just been replaced; try again")
	err = link(w.root, source, at, from, oldBase, to, temp)
	linked := err == nil
	if errors.Is(err, fs.ErrNotExist) { // a rename could put the file where nobody looks for it
		return replaced
	}
	if !linked { // there are no hard links here
		if err := w.root.Rename(source, at); err != nil {
			return explain(target, err)
		}
	}
	if !file.Mode().IsRegular() || !isNamed(to, temp, file) {
		if linked {
			_ = to.Remove(temp)
			_ = w.root.Remove(at)
		} else {
			_ = w.root.Rename(at, source)
		}
		return replaced
	}
	if err := claim(to, temp, newBase); err != nil {
		if linked {
			_ = to.Remove(temp)
		} else {
			_ = w.root.Rename(at, source)
		}
		return explain(target, err)
	}
	if linked {
		if err := from.Remove(oldBase); err != nil {
			_ = to.Remove(newBase) // the move failed, so only the old name stays
			return explain(source, err)
		}
	}
	w.syncDir(from)
	w.syncDir(to)
	return nil
}
