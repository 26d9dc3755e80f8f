//go:build !unix

package process

import (
	"errors"
	"os"
	"syscall"
)

var textBusy = errors.New("process: no such error here")

// ownGroup returns nil: this system has no process groups.
func ownGroup() *syscall.SysProcAttr { return nil }

// awaitEnd returns false: this system can't wait for a process without releasing it.
func awaitEnd(*os.Process) bool { return false }

// signal kills the process itself. This system has no other signals.
func (c *child) signal(s Signal) error {
	if s != Kill {
		return errors.ErrUnsupported
	}
	return c.process.Kill()
}

func signalOf(*os.ProcessState) string { return "" }

func withoutInherited(files []*os.File) []*os.File { return files }

func withoutKeys() {}
