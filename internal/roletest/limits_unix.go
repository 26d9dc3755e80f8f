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

// nobody is the user and the group that own nothing.
const nobody = 65534

// AsNobody has cmd run as an ordinary user where this process is root's, which may read and write anything: in place of the test
// binary, which others can't reach, cmd runs a copy of it.
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

// Narrow lets no file of this process grow past most bytes, as a full disk does: what would write more fails. It is for roles,
// since it is so for the whole process; widen takes the limit away.
func Narrow(most int) (widen func() error, err error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return nil, err
	}
	wide := limit
	set(&limit.Cur, most)
	return func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &wide) }, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

// set sets a field that has one type or another, by the system.
func set[T int64 | uint64](field *T, n int) { *field = T(n) }
