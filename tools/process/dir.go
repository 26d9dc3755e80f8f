package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A workDir is an open working directory.
type workDir struct {
	path string // to start a process in
	open *os.File
}

func (d workDir) close() {
	if d.open != nil {
		d.open.Close()
	}
}

// enter opens dir below root. No symbolic link leads out of root. With plain, neither root nor dir
// may have a symbolic link, and dir no "..", so that the directory is the one that its name shows.
func enter(root, dir string, plain bool) (workDir, error) {
	if dir == "" {
		dir = "."
	}
	if filepath.IsAbs(dir) {
		return workDir{}, refuse(fault.Denied, "the directory %q is absolute; give one relative to the root", dir)
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return workDir{}, fault.NewFixable("process: the root "+root+" can't be opened",
			"create the directory, or correct the path", err)
	}
	defer r.Close()
	open := r.OpenRoot
	if plain {
		if real, err := filepath.EvalSymlinks(root); err == nil && !samePath(real, root) {
			return workDir{}, refuse(fault.Denied,
				"the working root has been replaced by a symbolic link; the host has to correct this")
		}
		open = func(dir string) (*os.Root, error) { return openPlain(r, root, dir) }
	}
	sub, err := open(dir)
	var refused *RejectedError
	switch {
	case errors.As(err, &refused):
		return workDir{}, err
	case errors.Is(err, fs.ErrNotExist):
		return workDir{}, refuse(fault.NotFound, "there is no directory %q below the root", dir)
	case err != nil:
		return workDir{}, refuse(fault.Denied,
			"the directory %q can't be entered: it isn't a directory, or it leads out of the root", dir)
	}
	defer sub.Close()
	d := workDir{path: filepath.Join(root, dir)}
	if runtime.GOOS != "linux" {
		return d, nil
	}
	if d.open, err = sub.Open("."); err != nil {
		return workDir{}, refuse(fault.Denied, "the directory %q can't be opened: %v", dir, err)
	}
	// The child has the same descriptor until it runs the program. So it enters the directory that
	// was checked, even if somebody replaces a directory by a link in the meantime.
	if by := "/proc/self/fd/" + strconv.Itoa(int(d.open.Fd())); isDir(by) {
		d.path = by
	}
	return d, nil
}

// openPlain opens dir below r, which is the directory root, element by element and without
// following symbolic links.
func openPlain(r *os.Root, root, dir string) (*os.Root, error) {
	elements := strings.Split(filepath.ToSlash(dir), "/")
	if slices.Contains(elements, "..") && filepath.IsLocal(dir) {
		return nil, refuse(fault.Denied, "the directory %q contains \"..\"; name it without", dir)
	}
	at, err := r.OpenRoot(".")
	for _, e := range elements {
		if err != nil {
			return nil, err
		}
		if e == "" || e == "." {
			continue
		}
		var next *os.Root
		if next, err = at.OpenRoot(e + "/."); err == nil && !isNamed(at, e, next) {
			next.Close()
			err = refuse(fault.Denied, "the directory %q is, or is below, a symbolic link%s", dir, meant(root, dir))
		}
		at.Close()
		at = next
	}
	return at, err
}

// isNamed reports whether the directory dir has the name e in at, which isn't that of a symbolic
// link.
func isNamed(at *os.Root, e string, dir *os.Root) bool {
	opened, err := dir.Stat(".")
	if err != nil {
		return false
	}
	info, err := at.Lstat(e)
	return err == nil && info.IsDir() && os.SameFile(info, opened)
}

// meant returns a hint to the directory that a symbolic link leads to.
func meant(root, dir string) string {
	real := resolved(root, dir)
	below, err := filepath.Rel(root, real)
	if err != nil || !filepath.IsLocal(below) {
		return ""
	}
	return "; name " + strconv.Quote(filepath.ToSlash(below)) + " if that is meant"
}

// resolved returns the directory that dir leads to below root, or dir in root if there is none.
func resolved(root, dir string) string {
	if real, err := filepath.EvalSymlinks(root + string(filepath.Separator) + dir); err == nil {
		return real
	}
	return filepath.Join(root, dir)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
