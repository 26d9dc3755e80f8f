package file

import (
	"context"
	"io/fs"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Move gives a regular file a name that doesn't exist, with its permissions, and creates its
// directories as needed. It writes the file under the new name and then deletes the old one, so it
// never overwrites a file that gets the new name at the same moment, and a crash in between leaves
// both names.
func (w *Workspace) Move(ctx context.Context, from, to, version string) (Info, error) {
	done, err := w.lock(ctx)
	if err != nil {
		return Info{}, err
	}
	defer done()
	source, old, err := w.existing(from, version)
	if err == nil && old == nil {
		old, err = w.current(source)
	}
	if err != nil {
		return Info{}, renamed(err, from)
	}
	target, info, err := w.writable(to)
	if err != nil {
		return Info{}, err
	}
	if info != nil {
		return Info{},
			newError(to, fault.Invalid, fs.ErrExist, "it exists already; use another name, or delete it first")
	}
	if err := w.put(target, old.Data, nil, old.Mode); err != nil {
		return Info{}, renamed(err, to)
	}
	if err := w.remove(source, old); err != nil {
		_ = w.remove(target, old) // the move failed, so only the old name stays
		return Info{}, renamed(err, from)
	}
	return written(target, old.Data, true, old.Mode), nil
}
