//go:build unix

package process

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

const textBusy = syscall.ETXTBSY

// signal sends a signal to the group and, on Linux, to the other groups of the session. On Linux
// the leader isn't reaped yet, so the number still belongs to the group. On other systems it may be
// reaped, but a group keeps its number while it has members.
func (c *child) signal(s Signal) error {
	pid := c.process.Pid
	if pid <= 1 { // -1 means all processes, 0 our own group
		return os.ErrProcessDone
	}
	sig := syscall.SIGKILL
	switch s {
	case Interrupt:
		sig = syscall.SIGINT
	case Terminate:
		sig = syscall.SIGTERM
	}
	err := syscall.Kill(-pid, sig)
	if s != Kill {
		_ = syscall.Kill(-pid, syscall.SIGCONT) // a stopped process couldn't handle the signal
	}
	signalJobs(pid, sig)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// signalOf returns the name of the signal that ended a process, or "".
func signalOf(s *os.ProcessState) string {
	w, ok := s.Sys().(syscall.WaitStatus)
	if !ok || !w.Signaled() {
		return ""
	}
	if name, ok := signalNames[w.Signal()]; ok {
		return name
	}
	return strconv.Itoa(int(w.Signal()))
}

var signalNames = map[syscall.Signal]string{
	syscall.SIGABRT: "ABRT", syscall.SIGALRM: "ALRM", syscall.SIGBUS: "BUS", syscall.SIGFPE: "FPE",
	syscall.SIGHUP: "HUP",
	syscall.SIGILL: "ILL", syscall.SIGINT: "INT", syscall.SIGKILL: "KILL", syscall.SIGPIPE: "PIPE",
	syscall.SIGQUIT: "QUIT",
	syscall.SIGSEGV: "SEGV", syscall.SIGSYS: "SYS", syscall.SIGTERM: "TERM", syscall.SIGTRAP: "TRAP",
	syscall.SIGUSR1: "USR1",
	syscall.SIGUSR2: "USR2", syscall.SIGXCPU: "XCPU", syscall.SIGXFSZ: "XFSZ",
}
