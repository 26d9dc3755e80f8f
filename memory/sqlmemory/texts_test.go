package sqlmemory_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/sqlrecall/scopetest"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/recall/recalltest"
	"github.com/pawlkit/pawl/memory/sqlmemory"
)

func TestTheTextsOfAScopePassTheSuite(t *testing.T) {
	recalltest.Texts(t, func(t *testing.T, mostBytes int) memory.Store {
		s := open(t, file(t), sqlmemory.Config{TextBytes: int64(mostBytes)})
		// which is as full as it may be, and neither takes room nor gives any
		other := s.Texts(recall.Scope{Tenant: "u", Session: "s"})
		require.NoError(t, other.Put(t.Context(), "full", strings.Repeat("x", 900)))
		t.Cleanup(func() {
			text, err := other.Get(context.Background(), "full")
			require.NoError(t, err)
			require.Len(t, text, 900)
		})
		return s.Texts(recall.Scope{Tenant: "t", Session: "s"})
	})
}

func TestScopesAreApart(t *testing.T) {
	scopetest.Run(t, func(t *testing.T, textBytes int64) scopetest.Store {
		return open(t, file(t), sqlmemory.Config{TextBytes: textBytes})
	})
}

// A file with tables of version 1, as the first program that made some did.
func TestTablesOfAnOlderVersionAreMigrated(t *testing.T) {
	path := file(t)
	raw(t, path, `CREATE TABLE pawl_recall_meta (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL);
		CREATE TABLE pawl_recall (tenant TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL, value BLOB NOT NULL,
			PRIMARY KEY (tenant, kind, key)) WITHOUT ROWID;
		CREATE TABLE pawl_recall_tenants (tenant TEXT NOT NULL PRIMARY KEY, last INTEGER NOT NULL, entries INTEGER NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
		INSERT INTO pawl_recall VALUES ('t', 'k', 'a', 7, x'41');
		INSERT INTO pawl_recall_tenants VALUES ('t', 7, 1, 3);
		INSERT INTO pawl_recall_meta VALUES (1, 1)`)
	for range 2 {
		s, err := sqlmemory.Open(path, sqlmemory.Config{})
		require.NoError(t, err)
		a := recall.ID{Tenant: "t", Kind: "k", Key: "a"}
		e, err := s.Get(t.Context(), a)
		require.NoError(t, err)
		require.Equal(t, recall.Entry{ID: a, Version: 7, Value: []byte("A")}, e)
		texts := s.Texts(recall.Scope{Tenant: "t"})
		require.NoError(t, texts.Put(t.Context(), "m-1", "kept"))
		require.NoError(t, s.Close())
		require.Error(t, texts.Put(t.Context(), "m-2", "after Close"))
	}
}

// BenchmarkPutText keeps texts of 8 KB in a scope that is full, with the disk's confirmation.
func BenchmarkPutText(b *testing.B) {
	s := open(b, file(b), sqlmemory.Config{TextBytes: 1 << 20}).Texts(recall.Scope{Tenant: "t", Session: "s"})
	b.ReportAllocs()
	text := []byte(strings.Repeat("x", 8_000))
	for n := 0; b.Loop(); n++ {
		text[n%8_000]++
		if err := s.Put(b.Context(), memory.HandleOf(string(text)), string(text)); err != nil {
			b.Fatal(err)
		}
	}
}

func TestTheLogIsTruncatedAfterABigText(t *testing.T) {
	path := file(t)
	s := open(t, path, sqlmemory.Config{}).Texts(recall.Scope{Tenant: "t"})
	require.NoError(t, s.Put(t.Context(), "big", strings.Repeat("x", 10<<20)))
	info, err := os.Stat(path + "-wal")
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(10<<20))
	for i := range 3 {
		require.NoError(t, s.Put(t.Context(), fmt.Sprint("small", i), "x"))
	}
	info, err = os.Stat(path + "-wal")
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), int64(8<<20))
}

func TestNoMoreTextsAreDeletedThanNecessary(t *testing.T) {
	path := file(t)
	s := open(t, path, sqlmemory.Config{TextBytes: 100}).Texts(recall.Scope{Tenant: "t"})
	for _, handle := range []string{"a", "b", "c"} {
		require.NoError(t, s.Put(t.Context(), handle, strings.Repeat("x", 49)))
	}
	for handle, there := range map[string]bool{"a": false, "b": true, "c": true} {
		_, err := s.Get(t.Context(), handle)
		require.Equal(t, there, err == nil, handle)
	}
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	version := func() (n int64) {
		require.NoError(t, db.QueryRowContext(t.Context(), "PRAGMA data_version").Scan(&n))
		return n
	}
	before := version()
	require.NoError(t, s.Put(t.Context(), "c", strings.Repeat("x", 49)))
	require.Equal(t, before, version(), "the newest was written again")
	require.NoError(t, s.Put(t.Context(), "b", strings.Repeat("x", 49)))
	require.NotEqual(t, before, version())
}
