//go:build unix

package mcp

import (
	"os"
	"syscall"
)

// ownGroup puts a child process into a process group of its own.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends the process group of a child.
func endGroup(p *os.Process, hard bool) {
	sig := syscall.SIGTERM
	if hard {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-p.Pid, sig) // it may have ended
}
