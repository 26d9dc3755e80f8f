//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package file

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// disk is a directory of the operating system.
type disk string

// openDisk makes the directory, 0700, if it isn't there, and whatever is missing above it.
func openDisk(dir string) (fsys, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("%s is a file; a directory would do", dir)
	case err == nil:
		return disk(dir), nil
	case !os.IsNotExist(err):
		return nil, err
	}
	var made []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		made = append(made, d)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for _, d := range made {
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
	return &diskFile{File: f, fd: int(f.Fd())}, nil
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

type diskFile struct {
	*os.File
	fd int
	st syscall.Stat_t // scratch of Stat, which only the holder of the lock calls
}

func (f *diskFile) Stat() (int64, bool, error) {
	if err := again(func() error { return syscall.Fstat(f.fd, &f.st) }); err != nil {
		return 0, false, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return f.st.Size, f.st.Nlink > 0, nil
}

func (f *diskFile) TryLock() (bool, error) {
	err := again(func() error { return syscall.Flock(f.fd, syscall.LOCK_EX|syscall.LOCK_NB) })
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	if err != nil {
		return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return true, nil
}

func (f *diskFile) Unlock() error {
	if err := again(func() error { return syscall.Flock(f.fd, syscall.LOCK_UN) }); err != nil {
		return &os.PathError{Op: "unlock", Path: f.Name(), Err: err}
	}
	return nil
}

// again does what a signal has interrupted once more.
func again(do func() error) error {
	for {
		if err := do(); err != syscall.EINTR {
			return err
		}
	}
}
