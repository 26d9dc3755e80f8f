//go:build unix

package mcp

import (
	"os"
	"syscall"
)

// ownGroup puts a child process into a process group of its own.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// endGroup ends the process group of a child.
func endGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL) // it may have ended
}
