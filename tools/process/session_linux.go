package process

import (
	"os"
	"strconv"
	"syscall"
)

// longestChase is the most times that the processes of a session are listed for KILL, in case they
// start others as fast as they are ended.
const longestChase = 100

// signalJobs sends a signal to the processes of a session that aren't in the group of its leader: a
// shell with job control gives each job its own group. For KILL it also finds those that are
// started meanwhile: it repeats until there is no new process. The leader isn't reaped yet, so no
// other session has its number. Without /proc it does nothing. Listing takes 2 µs for each process
// of the system.
func signalJobs(leader int, sig syscall.Signal) {
	signaled := make(map[int]bool)
	for range longestChase {
		before := len(signaled)
		for _, pid := range jobsOf(leader) {
			// A process that has got KILL starts no others, so it doesn't count again.
			if !signaled[pid] && signalJob(leader, pid, sig) {
				signaled[pid] = true
			}
		}
		if len(signaled) == before || sig != syscall.SIGKILL {
			return
		}
	}
}

// jobsOf returns the processes of a session that are in other groups than its leader.
func jobsOf(leader int) (pids []int) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && isJob(leader, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isJob reports whether a process belongs to a session, but not to the group of its leader.
func isJob(leader, pid int) bool {
	session, _, err := syscall.RawSyscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	if err != 0 || int(session) != leader {
		return false
	}
	group, errno := syscall.Getpgid(pid)
	return errno == nil && group != leader
}

// signalJob sends a signal to a job. The process is held by a descriptor, if the system has those,
// and is checked again, so that no other process with the same number gets the signal.
func signalJob(leader, pid int, sig syscall.Signal) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	if !isJob(leader, pid) || p.Signal(sig) != nil {
		return false
	}
	if sig != syscall.SIGKILL {
		_ = p.Signal(syscall.SIGCONT)
	}
	return true
}
