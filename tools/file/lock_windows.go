package file

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// sharingViolation is the error for a file that another process has opened for itself alone.
const sharingViolation = syscall.Errno(32)

// tryLock locks the directory of a workspace against other Workspaces and processes: it opens a
// file in it that nobody else may open meanwhile, because directories can't be locked here. The
// file stays. If another one has opened it, unlock is nil. The lock ends with the process.
func tryLock(root *os.Root) (unlock func(), err error) {
	name, err := syscall.UTF16PtrFromString(filepath.Join(root.Name(), tempPrefix+"lock"))
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
