//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

// ownGroup puts a process into a session of its own: a group, without a terminal.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// awaitEnd reports that there is no portable way to wait without reaping.
func awaitEnd(*os.Process) bool { return false }
