//go:build unix

package fault

import "syscall"

// ofErrno knows the system's error numbers that the sentinels and Timeout don't cover.
func ofErrno(err error) (Class, bool) {
	errno, ok := err.(syscall.Errno)
	if !ok {
		return None, false
	}
	switch errno {
	case syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE:
		return Transient, true
	case syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
		syscall.EIO, syscall.EMFILE, syscall.ENFILE:
		return Degraded, true
	case syscall.ENOSPC, syscall.EDQUOT:
		return UserFixable, true
	}
	return None, false
}
