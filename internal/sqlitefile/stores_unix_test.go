//go:build unix

package sqlitefile_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/sqlmemory"
)

func init() { roles["ask"] = ask }

const (
	pairs  = 3 // of a journal and a memory in one file
	writes = 2 // of each
)

// Journals and memories make one file together, again and again. All keep what they are given, and
// the locks that SQLite has on the file for them last.
func TestJournalsAndMemoriesCreateOneFileTogether(t *testing.T) {
	other := roletest.Start(t, "ask") // a process doesn't see its own locks
	for range 16 {
		path := filepath.Join(t.TempDir(), "both.db")
		stores := together(t, path)
		_, err := fmt.Fprintln(other.In, path)
		require.NoError(t, err)
		require.Equal(t, "true <nil>", other.Line(), "the locks were lost")
		for _, s := range stores {
			require.NoError(t, s.Close())
		}
		kept(t, path)
	}
	require.NoError(t, other.In.Close())
	require.Empty(t, other.End(t))
}

// ask says of each file that it is told whether another process has a lock on it.
func ask([]string) error {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println(locked(in.Text()))
	}
	return in.Err()
}

// locked reports whether another process has a lock on the file.
func locked(path string) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	err = syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock)
	return lock.Type != syscall.F_UNLCK, err
}

// together opens the stores on a file and writes to them, all at the same time.
func together(t *testing.T, path string) []io.Closer {
	t.Helper()
	ctx := context.Background()
	start := make(chan struct{})
	stores, errs := make([]io.Closer, 2*pairs), make([]error, 2*pairs)
	var all sync.WaitGroup
	for i := range pairs {
		name := strconv.Itoa(i)
		all.Go(func() {
			<-start
			s, err := sqlite.Open(path, sqlite.Config{})
			for n := uint64(0); n < writes && err == nil; n++ {
				err = s.Append(ctx, journal.Append{Session: name, After: n, Records: []journal.Record{{Kind: "k"}}})
			}
			stores[2*i], errs[2*i] = s, err
		})
		all.Go(func() {
			<-start
			s, err := sqlmemory.Open(path, sqlmemory.Config{})
			for n := 0; n < writes && err == nil; n++ {
				_, err = s.Put(ctx, recall.Entry{ID: recall.ID{Tenant: "t", Kind: name, Key: strconv.Itoa(n)}})
			}
			stores[2*i+1], errs[2*i+1] = s, err
		})
	}
	close(start)
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	return stores
}

// kept checks that what was written together is there.
func kept(t *testing.T, path string) {
	t.Helper()
	j, err := sqlite.Open(path, sqlite.Config{})
	require.NoError(t, err)
	n := 0
	for h, err := range j.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		require.EqualValues(t, writes, h.Seq)
		n++
	}
	require.Equal(t, pairs, n)
	m, err := sqlmemory.Open(path, sqlmemory.Config{})
	require.NoError(t, err)
	list, err := m.List(t.Context(), "t", "")
	require.NoError(t, err)
	require.Len(t, list, pairs*writes)
	require.NoError(t, errors.Join(j.Close(), m.Close()))
}
