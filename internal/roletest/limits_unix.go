//go:build unix

package roletest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// nobody is a user and a group that own nothing.
const nobody = 65534

// AsNobody makes cmd run as an ordinary user if this process runs as root, which may read and write
// anything. cmd runs a copy of the test binary, because other users have no access to the original.
func AsNobody(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	dir, err := os.MkdirTemp("", "roletest")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	cmd.Path = filepath.Join(dir, "program")
	must(t, copied(os.Args[0], cmd.Path))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

func copied(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Narrow limits the size of the files of this process to most bytes, to simulate a full disk:
// larger writes fail. It is for roles, because it affects the whole process; widen removes the
// limit.
func Narrow(most int) (widen func() error, err error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return nil, err
	}
	wide := limit
	set(&limit.Cur, most)
	return func() error {
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &wide)
	}, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

// set sets a field whose type depends on the system.
func set[T int64 | uint64](field *T, n int) { *field = T(n) }
