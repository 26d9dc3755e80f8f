package sqlmemory

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/recall"
)

func TestEveryConnectionSyncsItsCommits(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "memory.db"), Config{})
	require.NoError(t, err)
	defer s.Close()
	for range 4 { // as many as there may be, each held until the end
		conn, err := s.db.pool.Conn(t.Context())
		require.NoError(t, err)
		defer conn.Close()
		var synchronous int
		var mode string
		require.NoError(t, conn.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&synchronous))
		require.NoError(t, conn.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode))
		require.Equal(t, 2, synchronous, "FULL")
		require.Equal(t, "wal", mode)
	}
}

func TestAFileAtItsSizeLimitIsFull(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "memory.db"), Config{})
	require.NoError(t, err)
	defer s.Close()
	s.db.pool.SetMaxOpenConns(1)
	_, err = s.db.pool.ExecContext(t.Context(), "PRAGMA max_page_count = 60")
	require.NoError(t, err)
	at := func(n int) recall.ID { return recall.ID{Tenant: "t", Kind: "k", Key: strconv.Itoa(n)} }
	n := 0
	for ; err == nil; n++ {
		_, err = s.Put(t.Context(), recall.Entry{ID: at(n), Value: make([]byte, 2_000)})
	}
	n-- // the one that failed
	require.ErrorIs(t, err, errFull)
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.Positive(t, n)
	require.ErrorIs(t, s.Texts(recall.Scope{Tenant: "t"}).Put(t.Context(), "m-1", string(make([]byte, 20_000))),
		errFull)
	list, err := s.List(t.Context(), "t", "k")
	require.NoError(t, err)
	require.Len(t, list, n)
	require.NoError(t, s.Delete(t.Context(), at(0), 0))
	_, err = s.Put(t.Context(), recall.Entry{ID: at(n), Value: make([]byte, 1_000)})
	require.NoError(t, err, "there is room again")
}
