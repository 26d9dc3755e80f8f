package policy

import (
	"errors"
	"syscall"
)

// sharingViolation is the error for a file that another process has opened for itself alone.
const sharingViolation = syscall.Errno(32)

// tryLock opens a file that nobody else may open meanwhile. If another one has opened it, unlock is
// nil. The lock ends with the process.
func tryLock(path string) (unlock func(), err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_NORMAL, 0)
	switch {
	case err == nil:
		return func() { _ = syscall.CloseHandle(h) }, nil
	case errors.Is(err, sharingViolation):
		return nil, nil
	}
	return nil, err
}
