package process

import (
	"os"
	"syscall"
	"unsafe"
)

// ownGroup puts a process into a session of its own: a group, without a terminal. It dies with this process.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd waits until a process has ended, without reaping it, and reports whether it could.
func awaitEnd(p *os.Process) bool {
	const byPid, withoutReaping = 1, syscall.WEXITED | syscall.WNOWAIT
	var info [128]byte // a siginfo_t, which is of no interest
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, byPid, uintptr(p.Pid), uintptr(unsafe.Pointer(&info)), withoutReaping, 0, 0)
		if err != syscall.EINTR {
			return err == 0
		}
	}
}
