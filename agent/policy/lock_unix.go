//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package policy

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file against other books and processes. If another one holds the lock, unlock is
// nil. The lock ends with the process.
func tryLock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.EINTR
	for err == syscall.EINTR {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	switch {
	case err == nil:
		return func() {
			_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // also for a child that still has the descriptor
			_ = f.Close()
		}, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = nil
	}
	return nil, errors.Join(err, f.Close())
}
