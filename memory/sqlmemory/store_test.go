package sqlmemory_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/recall/recalltest"
	"github.com/pawlkit/pawl/memory/sqlmemory"
)

func TestTheStorePassesTheSuite(t *testing.T) {
	recalltest.Run(t, func(t *testing.T, limits recall.Limits) recall.Store {
		return open(t, file(t), sqlmemory.Config{Limits: limits})
	})
}

func TestEntriesExistAfterReopening(t *testing.T) {
	path := file(t)
	s, err := sqlmemory.Open(path, sqlmemory.Config{})
	require.NoError(t, err)
	a := recall.ID{Tenant: "t", Kind: "k", Key: "a"}
	v, err := s.Put(t.Context(), recall.Entry{ID: a, Value: []byte("one")})
	require.NoError(t, err)
	require.NoError(t, s.Delete(t.Context(), a, v))
	w, err := s.Put(t.Context(), recall.Entry{ID: a, Value: []byte("two")})
	require.NoError(t, err)
	require.NoError(t, s.Delete(t.Context(), a, w))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "twice")
	_, err = s.Get(t.Context(), a)
	require.Error(t, err, "after Close")

	s = open(t, path, sqlmemory.Config{})
	x, err := s.Put(t.Context(), recall.Entry{ID: a, Value: []byte("three")})
	require.NoError(t, err)
	require.Greater(t, x, w, "a version was used twice")
	e, err := s.Get(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, recall.Entry{ID: a, Version: x, Value: []byte("three")}, e)
}

func TestOnlyTheOwnerCanReadTheFile(t *testing.T) {
	path := file(t)
	open(t, path, sqlmemory.Config{})
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
}

func TestProcessesLoseNoUpdate(t *testing.T) {
	const processes, each = 3, 150
	path := file(t)
	var all []*roletest.Process
	for range processes { // they make the file together
		all = append(all, roletest.Start(t, "count", path, strconv.Itoa(each)))
	}
	roletest.Together(t, all...)
	require.Positive(t, roletest.Sum(t, all...), "they never met: there were no conflicts")
	e, err := open(t, path, sqlmemory.Config{}).Get(t.Context(), counter)
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(processes*each), string(e.Value))
}

func TestLimitsHoldAcrossProcesses(t *testing.T) {
	path := file(t)
	a, b := roletest.Start(t, "many", path, "a"), roletest.Start(t, "many", path, "b")
	roletest.Together(t, a, b)
	require.Equal(t, 30, roletest.Sum(t, a, b))
}

// The writer is killed in the middle, again and again; what it said it kept is there.
func TestAKilledWriterLosesNoStoredEntry(t *testing.T) {
	path := file(t)
	for round := range 4 {
		p := roletest.Start(t, "endless", path)
		for range 5 + 17*round {
			require.NotEmpty(t, p.Line())
		}
		kept, err := strconv.Atoi(p.Kill(t))
		require.NoError(t, err)
		s, err := sqlmemory.Open(path, sqlmemory.Config{})
		require.NoError(t, err)
		e, err := s.Get(t.Context(), counter)
		require.NoError(t, err)
		n, err := strconv.Atoi(string(e.Value))
		require.NoError(t, err)
		require.GreaterOrEqual(t, n, kept)
		require.LessOrEqual(t, n, kept+2, "at most one is kept and wasn't said")
		require.NoError(t, s.Close())
	}
}

func TestTablesOfANewerVersionAreRejected(t *testing.T) {
	path := file(t)
	s, err := sqlmemory.Open(path, sqlmemory.Config{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	raw(t, path, `UPDATE pawl_recall_meta SET version = 99`)
	_, err = sqlmemory.Open(path, sqlmemory.Config{})
	require.ErrorIs(t, err, sqlmemory.ErrNewer)
	require.Equal(t, fault.UserFixable, fault.Of(err))
}

func TestTablesOfOthersStay(t *testing.T) {
	path := file(t)
	raw(t, path, `CREATE TABLE other (n INTEGER); INSERT INTO other VALUES (7)`)
	open(t, path, sqlmemory.Config{})
	raw(t, path, `UPDATE other SET n = 8 WHERE n = 7`)
}

func raw(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	res, err := db.Exec(statement)
	require.NoError(t, err)
	n, err := res.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.NoError(t, db.Close())
}

func TestInvalidPathsAreRejected(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{
		"", ":memory:", "file:a.db", "a\x00b", dir, filepath.Join(dir, "none", "a.db"), filepath.Join(dir, "a.db-wal"),
		filepath.Join(dir, "a.db-shm"),
		filepath.Join(dir, "a.db-journal"), filepath.Join(dir, "a.db") + string(filepath.Separator),
	} {
		_, err := sqlmemory.Open(path, sqlmemory.Config{})
		require.Error(t, err, "%q", path)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	text := filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(text, []byte(fmt.Sprintf("%4096s", "no database")), 0o600))
	_, err = sqlmemory.Open(text, sqlmemory.Config{})
	require.ErrorIs(t, err, sqlmemory.ErrDamaged)
	names := filepath.Join(dir, "a b%20?mode=memory#.db")
	open(t, names, sqlmemory.Config{})
	require.FileExists(t, names)
}

func TestAnotherWriterThatKeepsTheLockMakesACallBusy(t *testing.T) {
	path := file(t)
	s := open(t, path, sqlmemory.Config{Busy: time.Millisecond})
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	_, err = s.Put(t.Context(), recall.Entry{ID: counter, Value: []byte("1")})
	require.ErrorIs(t, err, sqlmemory.ErrBusy)
	require.Equal(t, fault.Transient, fault.Of(err))
	_, err = s.Get(t.Context(), counter)
	require.ErrorIs(t, err, recall.ErrNotFound, "who reads doesn't wait")
	_, err = conn.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	_, err = s.Put(context.Background(), recall.Entry{ID: counter, Value: []byte("1")})
	require.NoError(t, err)
}

// BenchmarkUpdate reads and replaces an entry of 500 bytes among 1,000, with the disk's
// confirmation.
func BenchmarkUpdate(b *testing.B) {
	s := open(b, file(b), sqlmemory.Config{})
	at := recall.ID{Tenant: "t", Kind: "k", Key: "0"}
	fill(b, s)
	b.ReportAllocs()
	for b.Loop() {
		e, err := s.Get(b.Context(), at)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Put(b.Context(), e); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList reads 1,000 entries of 500 bytes.
func BenchmarkList(b *testing.B) {
	s := open(b, file(b), sqlmemory.Config{})
	fill(b, s)
	b.ReportAllocs()
	for b.Loop() {
		list, err := s.List(b.Context(), "t", "k")
		if err != nil || len(list) != 1000 {
			b.Fatal(len(list), err)
		}
	}
}

func fill(b *testing.B, s recall.Store) {
	b.Helper()
	for i := range 1000 {
		_, err := s.Put(b.Context(),
			recall.Entry{ID: recall.ID{Tenant: "t", Kind: "k", Key: strconv.Itoa(i)}, Value: make([]byte, 500)})
		require.NoError(b, err)
	}
}
