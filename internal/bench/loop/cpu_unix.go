//go:build unix

package loop

import (
	"syscall"
	"time"
)

// cpuTime returns what the process has taken of the processors so far.
func cpuTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // it fails only if it is asked for something else
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
