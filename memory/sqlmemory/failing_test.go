package sqlmemory_test

import (
	"context"
	"database/sql"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/sqlmemory"
)

// locked takes SQLite's write lock of a file, as another process would, and returns what gives it
// back.
func locked(t *testing.T, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec("BEGIN IMMEDIATE")
	require.NoError(t, err)
	return func() {
		_, err := db.Exec("ROLLBACK")
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
}

func TestWaitingForTheLockEndsWithTheContext(t *testing.T) {
	path := file(t)
	s := open(t, path, sqlmemory.Config{Busy: 20 * time.Second})
	release := locked(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err := s.Put(ctx, recall.Entry{ID: counter, Value: []byte("1")})
	require.ErrorIs(t, err, context.DeadlineExceeded)

	first := make(chan error, 1)
	go func() { // waits for the file
		_, err := s.Put(t.Context(), recall.Entry{ID: counter, Value: []byte("1")})
		first <- err
	}()
	for range 10 { // wait for the file or for their turn
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		require.ErrorIs(t, s.Delete(ctx, counter, 0), context.DeadlineExceeded)
		cancel()
	}
	release()
	require.NoError(t, <-first)
}

// A waning is a context that ends once it was asked whether it has.
type waning struct {
	context.Context
	done chan struct{}
	once sync.Once
}

func (w *waning) Done() <-chan struct{} { return w.done }

func (w *waning) Err() (err error) {
	err = context.Canceled
	w.once.Do(func() { close(w.done); err = nil })
	return err
}

func TestAWriteThatHasBegunIsCompleted(t *testing.T) {
	s := open(t, file(t), sqlmemory.Config{})
	texts := s.Texts(recall.Scope{Tenant: "t"})
	waning := func() context.Context { return &waning{Context: t.Context(), done: make(chan struct{})} }
	version, err := s.Put(waning(), recall.Entry{ID: counter, Value: []byte("1")})
	require.NoError(t, err)
	require.NoError(t, texts.Put(waning(), "m-1", "text"))
	require.NoError(t, s.Delete(waning(), counter, version))
	require.NoError(t, s.Forget(waning(), recall.Scope{Tenant: "t"}))
	_, err = texts.Get(waning(), "m-1")
	require.ErrorIs(t, err, context.Canceled, "a reader takes notice")
}

func TestASlowWriterIsWaitedFor(t *testing.T) {
	path := file(t)
	s := open(t, path, sqlmemory.Config{})
	release := locked(t, path)
	put := make(chan error, 1)
	go func() {
		_, err := s.Put(t.Context(), recall.Entry{ID: counter, Value: []byte("1")})
		put <- err
	}()
	select {
	case err := <-put:
		t.Fatal("it didn't wait", err)
	case <-time.After(50 * time.Millisecond):
	}
	release()
	require.NoError(t, <-put)
}

func TestADamagedFileIsReported(t *testing.T) {
	path := file(t)
	s, err := sqlmemory.Open(path, sqlmemory.Config{})
	require.NoError(t, err)
	for i := range 200 {
		_, err := s.Put(t.Context(),
			recall.Entry{ID: recall.ID{Tenant: "t", Kind: "k", Key: strconv.Itoa(i)}, Value: make([]byte, 500)})
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := 8192; i < len(data); i++ {
		data[i] = 0xa5
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))
	s, err = sqlmemory.Open(path, sqlmemory.Config{})
	if err == nil {
		_, err = s.List(t.Context(), "t", "k")
		require.NoError(t, s.Close())
	}
	require.ErrorIs(t, err, sqlmemory.ErrDamaged)
	require.Equal(t, fault.UserFixable, fault.Of(err))
}

// A context that ends while a list is read: SQLite says "interrupted", the caller reads why.
func TestAnInterruptedListReturnsTheContextsError(t *testing.T) {
	path := file(t)
	s := open(t, path, sqlmemory.Config{Limits: recall.Limits{Entries: 800}})
	raw(t, path, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 800)
		INSERT INTO pawl_recall SELECT 't', 'k', i, i, zeroblob(1000) FROM n; INSERT INTO pawl_recall_tenants VALUES ('t', 800, 800, 800000)`)
	for n := 0; n < 3; {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		list, err := s.List(ctx, "t", "k")
		if err == nil {
			require.Len(t, list, 800, "a short list without an error")
			continue
		}
		require.ErrorIs(t, err, context.Canceled)
		require.Nil(t, list)
		n++
	}
}
