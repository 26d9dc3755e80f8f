package file

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// replacements is how often a name may be replaced while it is opened, before that is an error.
const replacements = 100

// openDir opens a directory with a resolved name, element by element and without following symbolic
// links: the directory that is opened had this name, so it can't be one that is hidden or protected
// under another. With create, it creates what is missing. The caller calls done.
func (w *Workspace) openDir(name string, create bool) (at *os.Root, done func(), err error) {
	at, done = w.root, func() {}
	if name == "." {
		return at, done, nil
	}
	reached := ""
	for e := range strings.SplitSeq(name, "/") {
		reached = path.Join(reached, e)
		next, err := openElement(at, e)
		if create && errors.Is(err, fs.ErrNotExist) {
			if err = at.Mkdir(e, dirMode); err == nil || errors.Is(err, fs.ErrExist) {
				next, err = openElement(at, e)
			}
		}
		done()
		if err != nil {
			return nil, nil, renamed(explain(reached, err), reached)
		}
		at, done = next, func() { _ = next.Close() }
	}
	return at, done, nil
}

// openElement opens the directory e of at. It doesn't follow a symbolic link: what it opened must
// have the name itself while it is open.
func openElement(at *os.Root, e string) (*os.Root, error) {
	for range replacements {
		sub, err := at.OpenRoot(e + "/.") // the dot makes it fail for a pipe, which would block
		if err == nil {
			if opened, err := sub.Stat("."); err == nil && isNamed(at, e, opened) {
				return sub, nil
			}
			_ = sub.Close()
		}
		if info, statErr := at.Lstat(e); statErr == nil && !info.IsDir() {
			err = newError(e, fault.Invalid, nil, "%s is a %s, not a directory", show(e), kindOf(info.Mode()))
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, errReplaced(e)
}

// isNamed reports whether e is the name of an open file or directory in at, and not that of a
// symbolic link to it.
func isNamed(at *os.Root, e string, opened fs.FileInfo) bool {
	info, err := at.Lstat(e)
	return err == nil && info.Mode().Type() == opened.Mode().Type() && os.SameFile(info, opened)
}

func errReplaced(name string) error {
	return newError(name, fault.Transient, nil, "it is replaced all the time; try again later")
}

// parent opens the directory of a resolved name. It also returns the last element. The caller calls
// done.
func (w *Workspace) parent(real string, create bool) (at *os.Root, base string, done func(), err error) {
	name, base := path.Split(real)
	at, done, err = w.openDir(path.Clean(name), create)
	return at, base, done, renamed(err, real)
}
