package sqlitefile_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/sqlmemory"
)

// A journal and a memory make one file together, again and again. Both keep what they are given, and the locks that SQLite holds
// for them on the file last: another process doesn't get it.
func TestAJournalAndAMemoryMakeOneFileTogether(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"=other")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said := bufio.NewScanner(out)
	for range 60 {
		path := filepath.Join(t.TempDir(), "both.db")
		j, m := together(t, path)
		_, err := fmt.Fprintln(in, path)
		require.NoError(t, err)
		require.True(t, said.Scan())
		require.Contains(t, said.Text(), "database is locked")
		require.NoError(t, errors.Join(j.Close(), m.Close()))
		kept(t, path)
	}
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
}

const writes = 3

func entry(n int) recall.ID { return recall.ID{Tenant: "t", Kind: "k", Key: fmt.Sprint(n)} }

// together opens both on a file, at the same time, and writes to both, at the same time.
func together(t *testing.T, path string) (j *sqlite.Store, m *sqlmemory.Store) {
	ctx := context.Background()
	var go2 sync.WaitGroup
	var errs [2]error
	start := make(chan struct{})
	go2.Go(func() {
		<-start
		if j, errs[0] = sqlite.Open(path); errs[0] != nil {
			return
		}
		for n := range uint64(writes) {
			errs[0] = errors.Join(errs[0], j.Append(ctx, journal.Append{Session: "s", After: n, Records: []journal.Record{{Kind: "k"}}}))
		}
	})
	go2.Go(func() {
		<-start
		if m, errs[1] = sqlmemory.Open(path, sqlmemory.Config{}); errs[1] != nil {
			return
		}
		for n := range writes {
			_, err := m.Put(ctx, recall.Entry{ID: entry(n), Value: []byte("x")})
			errs[1] = errors.Join(errs[1], err)
		}
	})
	close(start)
	go2.Wait()
	require.NoError(t, errors.Join(errs[:]...))
	return j, m
}

// kept checks that what together wrote is there, under the name of a store of each kind.
func kept(t *testing.T, path string) {
	t.Helper()
	j, err := sqlite.Open(path)
	require.NoError(t, err)
	h, err := j.Head(t.Context(), "s")
	require.NoError(t, err)
	require.EqualValues(t, writes, h.Seq)
	m, err := sqlmemory.Open(path, sqlmemory.Config{})
	require.NoError(t, err)
	list, err := m.List(t.Context(), "t", "k")
	require.NoError(t, err)
	require.Len(t, list, writes)
	require.NoError(t, errors.Join(j.Close(), m.Close()))
}
