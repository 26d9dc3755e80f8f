package process

import (
	"os"
	"syscall"
	"unsafe"
)

// ownGroup makes a process the leader of a new session: it has its own group and no terminal. The
// process is killed when this one dies.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitEnd waits until a process has ended without reaping it. It returns false if the system can't
// do this.
func awaitEnd(p *os.Process) bool {
	const byPid, withoutReaping = 1, syscall.WEXITED | syscall.WNOWAIT
	var info [128]byte // a siginfo_t, which isn't used
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, byPid, uintptr(p.Pid), uintptr(unsafe.Pointer(&info)),
			withoutReaping, 0, 0)
		if err != syscall.EINTR {
			return err == 0
		}
	}
}
