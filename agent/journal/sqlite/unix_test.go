//go:build unix

package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
)

// asNobody lets cmd run as an ordinary user, if this process isn't one.
func asNobody(_ *testing.T, cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}

// appendNarrow appends until the system refuses to let any file grow further, as a full disk does, then again once it may.
func appendNarrow(args []string) error {
	ctx := context.Background()
	signal.Ignore(syscall.SIGXFSZ)
	s, err := sqlite.OpenWith(args[0], sqlite.Config{})
	if err != nil {
		return err
	}
	defer s.Close()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	most := limit.Cur
	limit.Cur = 200 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	n := uint64(0)
	for err == nil {
		if err = s.Append(ctx, one("s", n)); err == nil {
			n++
		}
	}
	if !journal.Unclear(err) || n < 20 {
		return fmt.Errorf("after %d appends: %w", n, err)
	}
	for range 3 {
		if err := s.Append(ctx, one("s", n)); err == nil {
			return errors.New("the append is kept where there is no room")
		}
	}
	limit.Cur = most
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	for range 5 {
		if err := s.Append(ctx, one("s", n)); err != nil {
			return fmt.Errorf("the same append with room: %w", err)
		}
		n++
	}
	fmt.Println(n)
	return nil
}

func TestAFullDiskLosesNothingThatWasKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	p := begin(t, "narrow", path)
	var n uint64
	_, err := fmt.Sscan(p.line(), &n)
	require.NoError(t, errors.Join(err, p.Wait()))
	holds(t, open(t, path, sqlite.Config{}), n)
}
