package file

import (
	"os"
	"syscall"
	"unsafe"
)

// link gives a file another name in another open directory. It doesn't use the names of the
// directories, which root could find replaced.
func link(_ *os.Root, _, _ string, from *os.Root, oldBase string, to *os.Root, newBase string) error {
	source, err := from.Open(".")
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := to.Open(".")
	if err != nil {
		return err
	}
	defer target.Close()
	a, err := syscall.BytePtrFromString(oldBase)
	if err != nil {
		return err
	}
	b, err := syscall.BytePtrFromString(newBase)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(syscall.SYS_LINKAT, source.Fd(), uintptr(unsafe.Pointer(a)), target.Fd(),
		uintptr(unsafe.Pointer(b)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
