package fault

import "syscall"

// ofErrno knows the system's error numbers that the sentinels and Timeout don't cover. Package
// syscall names only some of them; its ECONNREFUSED and the like are inventions that no call
// returns.
func ofErrno(err error) (Class, bool) {
	const (
		tooManyOpenFiles = syscall.Errno(4)
		handleDiskFull   = syscall.Errno(39)
		diskFull         = syscall.Errno(112)
		pipeClosing      = syscall.Errno(232)   // ERROR_NO_DATA
		deviceFailed     = syscall.Errno(1117)  // ERROR_IO_DEVICE
		tooManySockets   = syscall.Errno(10024) // WSAEMFILE
		netUnreachable   = syscall.Errno(10051)
		connRefused      = syscall.Errno(10061)
		hostUnreachable  = syscall.Errno(10065)
	)
	errno, ok := err.(syscall.Errno)
	if !ok {
		return None, false
	}
	switch errno {
	case syscall.WSAECONNRESET, syscall.WSAECONNABORTED, syscall.ERROR_BROKEN_PIPE, pipeClosing:
		return Transient, true
	case connRefused, hostUnreachable, netUnreachable, deviceFailed, tooManyOpenFiles, tooManySockets:
		return Degraded, true
	case diskFull, handleDiskFull:
		return UserFixable, true
	}
	return None, false
}
