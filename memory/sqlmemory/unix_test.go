//go:build unix

package sqlmemory_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/sqlmemory"
)

func init() { roles["narrow"], roles["reader"] = narrow, reader }

func numbered(n int) recall.ID { return recall.ID{Tenant: "t", Kind: "k", Key: strconv.Itoa(n)} }

// narrow keeps entries and texts until the system refuses to let any file grow further, as a full
// disk does, then again once it may.
func narrow(args []string) error {
	ctx := context.Background()
	s, err := sqlmemory.Open(args[0], sqlmemory.Config{})
	if err != nil {
		return err
	}
	defer s.Close()
	texts := s.Texts(recall.Scope{Tenant: "t"})
	widen, err := roletest.Narrow(800 << 10)
	if err != nil {
		return err
	}
	n := 0
	keep := func() error {
		_, err := s.Put(ctx, recall.Entry{ID: numbered(n), Value: make([]byte, 2_000)})
		if err != nil {
			return err
		}
		n++
		return texts.Put(ctx, strconv.Itoa(n-1), strings.Repeat("x", 2_000))
	}
	for err == nil {
		err = keep()
	}
	if fault.Of(err) == fault.Invalid || n < 10 {
		return fmt.Errorf("after %d: %w", n, err)
	}
	if err := widen(); err != nil {
		return err
	}
	for range 5 {
		if err := keep(); err != nil {
			return fmt.Errorf("with room: %w", err)
		}
	}
	fmt.Println(n)
	return nil
}

func TestAFullDiskLosesNoStoredEntry(t *testing.T) {
	path := file(t)
	n := roletest.Sum(t, roletest.Start(t, "narrow", path))
	s := open(t, path, sqlmemory.Config{Limits: recall.Limits{Entries: n + 1}})
	for i := range n {
		_, err := s.Get(t.Context(), numbered(i))
		require.NoError(t, err)
	}
	_, err := s.Put(t.Context(), recall.Entry{ID: numbered(n)})
	require.NoError(t, err, "what was refused isn't counted")
	var limit *recall.LimitError
	_, err = s.Put(t.Context(), recall.Entry{ID: numbered(n + 1)})
	require.ErrorAs(t, err, &limit)
	for i := range n {
		_, err := s.Texts(recall.Scope{Tenant: "t"}).Get(t.Context(), strconv.Itoa(i))
		require.True(t, err == nil || fault.Of(err) == fault.NotFound, "%v", err) // the one that didn't fit
	}
}

// reader does what needs writing with a file that it may only read.
func reader(args []string) error {
	if f, err := os.OpenFile(args[0], os.O_RDWR, 0); err == nil {
		return errors.Join(errors.New("the file can be written to"), f.Close())
	}
	s, err := sqlmemory.Open(args[0], sqlmemory.Config{})
	if err == nil {
		defer s.Close()
		_, err = s.Put(context.Background(), recall.Entry{ID: counter})
	}
	fmt.Println(errors.Is(err, sqlmemory.ErrReadOnly), fault.Of(err), err)
	return nil
}

func TestAReadOnlyFileIsReported(t *testing.T) {
	dir, err := os.MkdirTemp("", "pawl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "memory.db")
	s, err := sqlmemory.Open(path, sqlmemory.Config{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, os.Chmod(path, 0o444))
	for _, mode := range []os.FileMode{0o777, 0o555} { // of the folder
		require.NoError(t, os.Chmod(dir, mode))
		cmd := roletest.Command(t.Context(), "reader", path)
		cmd.Dir = dir
		roletest.AsNobody(t, cmd) // root may write anything
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", said)
		require.Contains(t, string(said), "true user", "%o", mode)
	}
	require.NoError(t, os.Chmod(dir, 0o755))
}
