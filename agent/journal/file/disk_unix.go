//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// disk is a directory of the operating system.
type disk string

// openDisk creates the directory, and those above it, with mode 0700 if they don't exist.
func openDisk(dir string) (fsys, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; give the path of a directory", dir)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var created []string
	for d := dir; err != nil && d != filepath.Dir(d); _, err = os.Stat(d) {
		created = append(created, d)
		d = filepath.Dir(d)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, d := range created {
		if err := disk(filepath.Dir(d)).Sync(); err != nil {
			return nil, err
		}
	}
	return disk(dir), nil
}

func (d disk) path(name string) string { return filepath.Join(string(d), name) }

func (d disk) Open(name string, create bool) (handle, error) {
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	f, err := os.OpenFile(d.path(name), flag, 0o600)
	if err != nil {
		return nil, err
	}
	return &diskFile{f}, nil
}

func (d disk) Rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d disk) Remove(name string) error { return os.Remove(d.path(name)) }

func (d disk) List() ([]string, error) {
	f, err := os.Open(string(d))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

func (d disk) Sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

type diskFile struct{ *os.File }

func (f *diskFile) Stat() (int64, bool, error) {
	info, err := f.File.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), info.Sys().(*syscall.Stat_t).Nlink > 0, nil
}

func (f *diskFile) TryLock() (bool, error) {
	err := f.flock(syscall.LOCK_EX | syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

func (f *diskFile) Unlock() error { return f.flock(syscall.LOCK_UN) }

func (f *diskFile) flock(how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
		return nil
	}
}
