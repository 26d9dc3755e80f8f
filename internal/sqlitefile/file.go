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

// Make returns the absolute path of a database file, and creates an empty file if there is none,
// with mode 0600 (SQLite gives a file's companions the same mode). The folder must exist. instead
// tells a caller who asks for an in-memory database what to use.
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
		return fmt.Errorf("path %q is a URI; use a plain path", path)
	case strings.ContainsRune(path, 0):
		return fmt.Errorf("path %q contains a NUL", path)
	case os.IsPathSeparator(path[len(path)-1]):
		return fmt.Errorf("path %q is a folder; name a file in it", path)
	}
	for _, of := range []string{"-wal", "-shm", "-journal"} {
		if strings.HasSuffix(path, of) {
			return fmt.Errorf("path %q ends in %s, like the companions of SQLite files; use another name", path, of)
		}
	}
	return nil
}

// creating is held while a file is created, until it is closed. When a process closes any
// descriptor of a file, POSIX releases all locks that the process has on it, including those of
// SQLite if another store has opened the file in the meantime.
var creating sync.Mutex

// create creates an empty file, unless it exists.
func create(path string) error {
	creating.Lock()
	defer creating.Unlock()
	info, err := os.Stat(path)
	if err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is a %s, not a file; name a file", path, kind(info.Mode()))
		}
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // another process has created it
		return nil
	}
	if err != nil {
		return fmt.Errorf("creating the file: %w", err)
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
