//go:build unix

package fault_test

import (
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/stretchr/testify/require"
)

func TestErrorNumbersHaveAClass(t *testing.T) {
	for errno, want := range map[syscall.Errno]fault.Class{
		syscall.ECONNRESET:   fault.Transient,
		syscall.ECONNABORTED: fault.Transient,
		syscall.EPIPE:        fault.Transient,
		syscall.ETIMEDOUT:    fault.Transient,
		syscall.ECONNREFUSED: fault.Degraded,
		syscall.EHOSTUNREACH: fault.Degraded,
		syscall.ENETUNREACH:  fault.Degraded,
		syscall.EIO:          fault.Degraded,
		syscall.EMFILE:       fault.Degraded,
		syscall.ENFILE:       fault.Degraded,
		syscall.ENOSPC:       fault.UserFixable,
		syscall.EDQUOT:       fault.UserFixable,
		syscall.ENOENT:       fault.NotFound,
		syscall.EACCES:       fault.Denied,
		syscall.EPERM:        fault.Denied,
		syscall.ENOSYS:       fault.Permanent,
		syscall.EEXIST:       fault.Permanent,
		syscall.EINVAL:       fault.Permanent,
	} {
		require.Equal(t, want, fault.Of(errno), errno.Error())
		require.Equal(t, want, fault.Of(&net.OpError{Op: "read", Err: os.NewSyscallError("read", errno)}),
			errno.Error())
		require.Equal(t, want, fault.Of(&os.PathError{Op: "write", Path: "f", Err: errno}), errno.Error())
	}
}
