package site

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pawlkit/pawl/memory/index"
)

// A Site is an open content file: pages made of sections, collections made of entries, in several
// locales.
//
// Every method is one transaction: a read sees a consistent state, and a write happens completely
// or not at all. A Site is safe for concurrent use, and several processes may have the same file
// open. Close it when it is no longer needed.
type Site struct {
	// fixed at creation
	path    string
	opened  os.FileInfo // what was at path; nil while it is being opened
	uploads string      // the folder of uploaded files
	seed    string      // the file with the contents of a new file; empty: none

	temporary bool // Close deletes the folder of the file
	db        *sql.DB
	now       func() time.Time

	// writing holds one token for the writer. The writers of this process take turns here, in the
	// order in which they came, so only processes compete for SQLite's lock.
	writing *semaphore.Weighted
	closed  atomic.Bool

	// The holder of the token in finding updates finder from the file and searches it.
	finder  *index.Finder
	remote  *index.Finder // with the embedder of a remote model; nil: none
	finding *semaphore.Weighted

	mu      sync.Mutex    // guards changed
	changed chan struct{} // closed by the next write
}

// Path returns the absolute path of the file.
func (s *Site) Path() string { return s.path }

// Close releases the file. It waits for running calls; later calls return [ErrClosed]. A second
// Close does nothing.
func (s *Site) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	_ = s.writing.Acquire(context.Background(), 1) // waits for the writer; later ones see closed
	defer s.writing.Release(1)
	err := s.db.Close()
	if s.temporary {
		err = errors.Join(err, os.RemoveAll(filepath.Dir(s.path)))
	}
	return err
}

// view runs fn in a transaction that sees a consistent state of the file, and returns its result.
func view[T any](ctx context.Context, s *Site, doing string, fn func(*txn) (T, error)) (T, error) {
	return returning(ctx, s.read, doing, fn)
}

// commit runs fn in a transaction that may write, and returns its result after the commit.
func commit[T any](ctx context.Context, s *Site, doing string, fn func(*txn) (T, error)) (T, error) {
	key, _ := ctx.Value(keyOf{}).(string)
	return returning(ctx, s.write, doing, func(tx *txn) (T, error) { return repeatable(tx, key, doing, fn) })
}

// WithKey returns a context for one write with an idempotency key of at most 200 characters: with
// the same key it takes effect once, and repeated ones return its result.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOf{}, key)
}

type keyOf struct{}

// repeatable runs fn, unless a request with the key was carried out before: then it returns the
// result of that.
func repeatable[T any](tx *txn, key, doing string, fn func(*txn) (T, error)) (result T, err error) {
	if key == "" {
		return fn(tx)
	}
	if err := checkText("the key", key, 0, maxLabel); err != nil {
		return result, err
	}
	var did, kept string
	if tx.first([]any{&did, &kept}, "SELECT doing, result FROM done_calls WHERE key = ?", key) {
		if did != doing {
			return result, invalid("give each request a key of its own", "the key was used for %s", did)
		}
		return result, json.Unmarshal([]byte(kept), &result)
	}
	if result, err = fn(tx); err != nil {
		return result, err
	}
	tx.insert("done_calls", record{"key": key, "doing": doing, "result": object{result}, "at": tx.now})
	return result, nil
}

// returning returns fn's result, or the zero value with an error, so that no caller gets a partial
// result.
func returning[T any](ctx context.Context, run func(context.Context, string, func(*txn) error) error, doing string,
	fn func(*txn) (T, error)) (T, error) {
	var result, none T
	err := run(ctx, doing, func(tx *txn) (err error) {
		result, err = fn(tx)
		return err
	})
	if err != nil {
		return none, err
	}
	return result, nil
}

// read runs fn in a transaction that sees a consistent state of the file and takes no lock.
func (s *Site) read(ctx context.Context, doing string, fn func(*txn) error) error {
	return s.explain(ctx, doing, s.run(ctx, true, fn))
}

// write runs fn in a transaction that holds the file's write lock from its start, and commits if fn
// returns nil.
func (s *Site) write(ctx context.Context, doing string, fn func(*txn) error) error {
	if err := s.writing.Acquire(ctx, 1); err != nil {
		return s.explain(ctx, doing, err)
	}
	defer s.writing.Release(1)
	err := s.run(ctx, false, fn)
	if err == nil {
		s.notify()
	}
	return s.explain(ctx, doing, err)
}

// run runs fn in a transaction. A failure of the storage comes before fn's own error, which may be
// a consequence of it.
func (s *Site) run(ctx context.Context, readOnly bool, fn func(*txn) error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if s.gone() { // what is written to a deleted file is lost
		return fs.ErrNotExist
	}
	begun, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: readOnly})
	if err != nil {
		return err
	}
	defer begun.Rollback()
	tx := &txn{ctx: ctx, tx: begun, now: s.now().UTC().Format(timeLayout)}
	err = fn(tx)
	if err == nil && !readOnly {
		tx.exec("UPDATE revision SET n = n + 1")
	}
	if err = cmp.Or(tx.err, err); err != nil || readOnly {
		return err
	}
	return begun.Commit()
}
