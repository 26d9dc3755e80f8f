//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package file

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks the directory of a workspace against other Workspaces and processes. If another one
// holds the lock, unlock is nil. The lock ends with the process.
func tryLock(root *os.Root) (unlock func(), err error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			break
		}
	}
	switch {
	case err == nil:
		return func() {
			// also for a child that has just been forked and still has the descriptor
			_ = syscall.Flock(int(dir.Fd()), syscall.LOCK_UN)
			_ = dir.Close()
		}, nil
	case errors.Is(err, errors.ErrUnsupported): // a file system without locks
		return func() { _ = dir.Close() }, nil
	}
	_ = dir.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, err
}
