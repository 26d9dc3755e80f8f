//go:build !unix

package mcp

import (
	"os"
	"syscall"
)

// ownGroup returns nil: this system has no process groups.
func ownGroup() *syscall.SysProcAttr { return nil }

// endGroup ends the process itself.
func endGroup(p *os.Process) { _ = p.Kill() } // it may have ended
