package process

import (
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// ownGroup makes a process the leader of a new session: it has its own group and no terminal. The
// process is killed when this one dies.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// withoutInherited adds entries to the files of a process that close what this process has
// inherited and would pass on: Go programs mark what they open themselves.
func withoutInherited(files []*os.File) []*os.File {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return files
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		fd, err := strconv.Atoi(name)
		if err != nil || fd < len(files) {
			continue
		}
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
		if errno == 0 && flags&syscall.FD_CLOEXEC == 0 {
			files = append(files, make([]*os.File, fd+1-len(files))...)
		}
	}
	return files
}

// withoutKeys gives this thread, and what it starts, an empty session keyring. Where that isn't
// permitted, the process can't read keys either.
func withoutKeys() {
	const joinSession = 1
	_, _, _ = syscall.Syscall(syscall.SYS_KEYCTL, joinSession, 0, 0)
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
