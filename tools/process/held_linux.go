package process

import (
	"os"
	"syscall"
)

// held reports whether a process has the other end of a pipe open. If it can't be found out, one
// has.
func held(pipe *os.File) bool {
	hungUp := false
	conn, err := pipe.SyscallConn()
	if err != nil {
		return true
	}
	err = conn.Control(func(fd uintptr) {
		set, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
		if err != nil {
			return
		}
		defer syscall.Close(set)
		// EPOLLHUP is reported also if nothing is asked for.
		if syscall.EpollCtl(set, syscall.EPOLL_CTL_ADD, int(fd), new(syscall.EpollEvent)) != nil {
			return
		}
		var events [1]syscall.EpollEvent
		n, err := syscall.EpollWait(set, events[:], 0)
		hungUp = err == nil && n == 1 && events[0].Events&syscall.EPOLLHUP != 0
	})
	return err != nil || !hungUp
}
