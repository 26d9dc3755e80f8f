package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

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

// enter opens dir below root. No symbolic link leads out of root.
func enter(root, dir string) (workDir, error) {
	if dir == "" {
		dir = "."
	}
	if filepath.IsAbs(dir) {
		return workDir{}, refuse(fault.Denied, "the directory %q is absolute; give one relative to the root", dir)
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return workDir{}, fault.NewFixable("process: the root "+root+" can't be opened", "create the directory, or correct the path", err)
	}
	defer r.Close()
	sub, err := r.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return workDir{}, refuse(fault.NotFound, "there is no directory %q below the root", dir)
	case err != nil:
		return workDir{}, refuse(fault.Denied, "the directory %q can't be entered: it isn't a directory, or it leads out of the root", dir)
	}
	defer sub.Close()
	d := workDir{path: filepath.Join(root, dir)}
	if runtime.GOOS != "linux" {
		return d, nil
	}
	if d.open, err = sub.Open("."); err != nil {
		return workDir{}, refuse(fault.Denied, "the directory %q can't be opened: %v", dir, err)
	}
	// The child has the same descriptor until it runs the program. So it enters the directory that was checked, even if
	// somebody replaces a directory by a link in the meantime.
	if by := "/proc/self/fd/" + strconv.Itoa(int(d.open.Fd())); isDir(by) {
		d.path = by
	}
	return d, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
