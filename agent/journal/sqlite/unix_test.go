//go:build unix

package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/internal/roletest"
)

func init() { roles["narrow"] = appendNarrow }

// appendNarrow appends until the system refuses to let any file grow further, as a full disk does,
// then again once it may.
func appendNarrow(args []string) error {
	ctx := context.Background()
	s, err := sqlite.Open(args[0], sqlite.Config{})
	if err != nil {
		return err
	}
	defer s.Close()
	widen, err := roletest.Narrow(600 << 10)
	if err != nil {
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
	if err := widen(); err != nil {
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
	n := roletest.Sum(t, roletest.Start(t, "narrow", path))
	holds(t, open(t, path, sqlite.Config{}), uint64(n))
}
