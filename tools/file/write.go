package file

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// tempPrefix is the prefix of temporary files. Listing and searching skip those that a crash has
// left.
const tempPrefix = ".pawl-tmp-"

// Write creates or replaces a regular file, and creates its directories as needed. It takes effect
// at once or not at all: the content goes to a new file beside it, which is then renamed. A
// replaced file keeps its permissions, and its owner if the system permits it; other names of the
// file (hard links) keep the old content.
func (w *Workspace) Write(ctx context.Context, name string, data []byte, o WriteOptions) (Info, error) {
	done, err := w.lock(ctx)
	if err != nil {
		return Info{}, err
	}
	defer done()
	if err := fits(name, data, &w.cfg); err != nil {
		return Info{}, err
	}
	real, info, err := w.writable(name)
	if err != nil {
		return Info{}, err
	}
	var old *Content
	if info != nil {
		if old, err = w.current(real); err != nil {
			return Info{}, renamed(err, name)
		}
	}
	if data, err = o.shaped(name, old, data, &w.cfg); err != nil {
		return Info{}, err
	}
	same, err := mayWrite(name, old, data, o)
	if err != nil {
		return Info{}, err
	}
	if same {
		return old.Info, nil
	}
	mode := cmp.Or(o.mode, w.cfg.FileMode)
	if old != nil {
		mode = old.Mode
	}
	if err := w.put(real, data, old, mode); err != nil {
		return Info{}, renamed(err, name)
	}
	return written(real, data, old == nil, mode), nil
}

func written(name string, data []byte, created bool, mode fs.FileMode) Info {
	return Info{Name: name, Kind: KindFile, Size: int64(len(data)), Mode: mode, Version: version(data),
		Created: created, Changed: true}
}

func fits(name string, data []byte, c *Config) error {
	if int64(len(data)) > c.MaxWrite {
		return newError(name, fault.Invalid, ErrTooLarge,
			"the new content has %d bytes, more than %d; write less, in several files", len(data), c.MaxWrite)
	}
	return nil
}

// shaped returns data in the form of the current file, if o says so.
func (o *WriteOptions) shaped(name string, old *Content, data []byte, c *Config) ([]byte, error) {
	if !o.keepForm || old == nil {
		return data, nil
	}
	data = inForm(present(old.Data), data)
	return data, fits(name, data, c)
}

// mayWrite checks a write over the current file (nil: none). It reports whether the file has the
// content already. A writer of another version fails even then: it doesn't know that somebody else
// has changed the file.
func mayWrite(name string, old *Content, data []byte, o WriteOptions) (same bool, err error) {
	switch {
	case old == nil && o.Version != "":
		return false, newError(name, fault.Invalid, ErrChanged,
			"it was deleted after version %.16q was read; leave the version out to create it", o.Version)
	case old == nil:
		return false, nil
	}
	same = string(old.Data) == string(data)
	switch {
	case o.Version == "" && o.Overwrite, o.Version == old.Version:
		return same, nil
	case o.Version == "" && same:
		return false, newError(name, fault.Invalid, fs.ErrExist,
			"it exists already, with exactly this content; there is nothing to write")
	case o.Version == "":
		return false, newError(name, fault.Invalid, fs.ErrExist,
			"it exists; read it, and give the version that you read to replace it")
	case same:
		return false,
			newError(name, fault.Invalid, ErrChanged,
				"it doesn't have version %.16q any more; somebody, or this call before, has written exactly this "+
					"content: read it again", o.Version)
	}
	return false, mayChange(name, old, o.Version)
}

// mayChange checks a change of a file that was read in a version (empty: any).
func mayChange(name string, old *Content, version string) error {
	if version != "" && version != old.Version {
		return newError(name, fault.Invalid, ErrChanged,
			"it doesn't have version %.16q any more, somebody changed it; read it again", version)
	}
	return nil
}

// current returns the current file, up to the larger of the two size limits.
func (w *Workspace) current(real string) (*Content, error) {
	data, info, err := w.content(real, max(w.cfg.MaxRead, w.cfg.MaxWrite))
	if err != nil {
		return nil, err
	}
	c := &Content{Info: infoOf(real, info), Data: data}
	c.Version = version(data)
	return c, nil
}

// put writes the content of a resolved name. old is the current file (nil: none); if that changes
// before the rename, put fails with ErrChanged or ErrExist and changes nothing. The write lock is
// held.
func (w *Workspace) put(real string, data []byte, old *Content, mode fs.FileMode) (err error) {
	// All names are opened relative to one handle, so that a directory replaced in the meantime
	// gets no temporary files.
	parent, base, done, err := w.parent(real, old == nil)
	if err != nil {
		return err
	}
	defer done()
	temp := tempPrefix + strings.ToLower(rand.Text())
	if err := w.fill(parent, temp, base, data, old, mode); err != nil {
		_ = parent.Remove(temp)
		return explain(real, err)
	}
	if old == nil {
		err = claim(parent, temp, base)
	} else {
		err = w.unchanged(parent, base, real, old)
		if err == nil {
			err = parent.Rename(temp, base)
		}
	}
	if err != nil {
		_ = parent.Remove(temp)
		return explain(real, err)
	}
	w.syncDir(parent)
	return nil
}

// fill writes a new file with its final permissions.
func (w *Workspace) fill(parent *os.Root, temp, base string, data []byte, old *Content, mode fs.FileMode) error {
	first := mode.Perm()
	if old != nil || mode != w.cfg.FileMode {
		first = 0o600 // until it has its owner and permissions
	}
	f, err := parent.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, first)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && old == nil && mode != w.cfg.FileMode {
		err = f.Chmod(mode.Perm())
	}
	if err == nil && old != nil {
		var info fs.FileInfo
		if info, err = parent.Lstat(base); err == nil {
			keepOwner(f, info)
			err = f.Chmod(info.Mode().Perm())
		}
	}
	if err == nil && w.cfg.Sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// claim moves a file to a name that must be free: it links the new name and removes the old one.
// Without hard links it reserves the name and renames; for a moment the new file is then empty.
func claim(parent *os.Root, temp, base string) error {
	err := parent.Link(temp, base)
	if err == nil {
		return parent.Remove(temp)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := parent.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = f.Close(); err == nil {
		err = parent.Rename(temp, base)
	}
	if err != nil {
		_ = parent.Remove(base) // only the reserved name
	}
	return err
}

// unchanged checks again, right before the rename, that a file hasn't changed.
func (w *Workspace) unchanged(parent *os.Root, base, real string, old *Content) error {
	inner := Workspace{root: parent, cfg: w.cfg}
	data, _, err := inner.content(base, int64(len(old.Data)))
	if err == nil && string(data) == string(old.Data) {
		return nil
	}
	if err == nil || errors.Is(err, ErrTooLarge) || errors.Is(err, fs.ErrNotExist) {
		return newError(real, fault.Invalid, ErrChanged, "somebody has just changed it; read it again")
	}
	return renamed(err, real)
}

// syncDir makes the names of a directory survive a power failure, if the system can.
func (w *Workspace) syncDir(dir *os.Root) {
	if !w.cfg.Sync {
		return
	}
	if f, err := dir.Open("."); err == nil {
		_ = f.Sync() // not every system supports it for directories
		_ = f.Close()
	}
}

// Remove deletes a regular file. Its directory stays, even if it is empty then.
func (w *Workspace) Remove(ctx context.Context, name, version string) error {
	done, err := w.lock(ctx)
	if err != nil {
		return err
	}
	defer done()
	real, old, err := w.existing(name, version)
	if err != nil {
		return err
	}
	return renamed(w.remove(real, old), name)
}

// existing returns a file that is to be changed, in the version that was read. Without a version it
// doesn't read the file, and old is nil.
func (w *Workspace) existing(name, version string) (real string, old *Content, err error) {
	real, info, err := w.writable(name)
	if err != nil {
		return "", nil, err
	}
	if info == nil {
		return "", nil, missing(w, name, real)
	}
	if version == "" {
		return real, nil, nil
	}
	if old, err = w.current(real); err != nil {
		return "", nil, renamed(err, name)
	}
	return real, old, mayChange(name, old, version)
}

// remove deletes a file if it is unchanged (old nil: any). The write lock is held.
func (w *Workspace) remove(real string, old *Content) error {
	parent, base, done, err := w.parent(real, false)
	if err != nil {
		return err
	}
	defer done()
	if old != nil {
		if err := w.unchanged(parent, base, real, old); err != nil {
			return err
		}
	}
	if err := parent.Remove(base); err != nil {
		return explain(real, err)
	}
	w.syncDir(parent)
	return nil
}
