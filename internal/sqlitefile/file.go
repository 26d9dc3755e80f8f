package sqlitefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Make returns the absolute path of a database file, and makes the file where there is none: empty, for its owner alone (mode
// 0600; SQLite gives a file's companions the file's own mode). The folder must exist. Who asks for a database in memory reads instead,
// which says what to take for that.
func Make(path, instead string) (abs string, err error) {
	if err := check(path, instead); err != nil {
		return "", err
	}
	if abs, err = filepath.Abs(path); err != nil {
		return "", fmt.Errorf("path %q: %w", path, err)
	}
	return abs, create(abs)
}

// check returns an error if no database can be at path.
func check(path, instead string) error {
	switch {
	case path == "":
		return errors.New("path is empty; name a file")
	case strings.HasPrefix(path, ":"):
		return fmt.Errorf("path %q isn't a file; %s", path, instead)
	case strings.HasPrefix(path, "file:"):
		return fmt.Errorf("path %q is a URI; give the path alone", path)
	case strings.ContainsRune(path, 0):
		return fmt.Errorf("path %q holds a NUL", path)
	case os.IsPathSeparator(path[len(path)-1]):
		return fmt.Errorf("path %q is a folder; name a file in it", path)
	}
	for _, of := range []string{"-wal", "-shm", "-journal"} {
		if strings.HasSuffix(path, of) {
			return fmt.Errorf("path %q ends in %s, as the companions of SQLite files do; take another name", path, of)
		}
	}
	return nil
}

// creating is held from before a file is made until it is closed. POSIX takes all locks of a process on a file away when the
// process closes any descriptor of it: SQLite's too, if another store has opened the file meanwhile.
var creating sync.Mutex

// create makes an empty file, unless something is there.
func create(path string) error {
	creating.Lock()
	defer creating.Unlock()
	info, err := os.Stat(path)
	if err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no file but a %s; name a file", path, kind(info.Mode()))
		}
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return nil
	}
	if err != nil {
		return fmt.Errorf("making the file: %w", err)
	}
	return f.Close()
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}
