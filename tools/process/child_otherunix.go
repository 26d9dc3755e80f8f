//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

// ownGroup makes a process the leader of a new session: it has its own group and no terminal.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// awaitEnd returns false: there is no portable way to wait without reaping.
func awaitEnd(*os.Process) bool { return false }

// signalJobs does nothing: there is no portable way to list the processes of a session.
func signalJobs(int, syscall.Signal) {}

func withoutInherited(files []*os.File) []*os.File { return files }

func withoutKeys() {}
