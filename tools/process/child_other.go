//go:build !unix

package process

import (
	"errors"
	"os"
	"syscall"
)

var textBusy = errors.New("process: no such error here")

// ownGroup does nothing: there are no groups.
func ownGroup() *syscall.SysProcAttr { return nil }

// awaitEnd reports that a process can't be waited for without releasing it.
func awaitEnd(*os.Process) bool { return false }

// signal kills the process itself. There are no other signals.
func (c *child) signal(s Signal) error {
	if s != Kill {
		return errors.ErrUnsupported
	}
	return c.process.Kill()
}

func signalOf(*os.ProcessState) string { return "" }
