package site

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/memory/index"
)

// A Site is an open content file: pages made of sections, collections made of entries, in several locales.
//
// Every method is one transaction: a read sees a consistent state, and a write happens completely or not at all. A Site is safe for
// concurrent use, and several processes may have the same file open. Close it when it is no longer needed.
type Site struct {
	// fixed at creation
	path    string
	uploads string // the folder of uploaded files
	db      *sql.DB
	now     func() time.Time

	// writing holds one token for the writer. The writers of this process take turns here, in the order in which they came, so only
	// processes compete for SQLite's lock.
	writing chan struct{}
	closed  atomic.Bool

	// The holder of the token in finding updates finder from the file and searches it.
	finder  *index.Finder
	finding chan struct{}

	mu      sync.Mutex    // guards changed
	changed chan struct{} // closed by the next write
}

// Path returns the absolute path of the file.
func (s *Site) Path() string { return s.path }

// Close releases the file. It waits for running calls; later calls return [ErrClosed]. A second Close does nothing.
func (s *Site) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.writing <- struct{}{} // wait for the writer; later ones see closed
	err := s.db.Close()
	<-s.writing
	return err
}

// view runs fn in a transaction that sees a consistent state of the file, and returns its result.
func view[T any](ctx context.Context, s *Site, doing string, fn func(*sql.Tx) (T, error)) (T, error) {
	return returning(ctx, s.read, doing, fn)
}

// commit runs fn in a transaction that may write, and returns its result after the commit.
func commit[T any](ctx context.Context, s *Site, doing string, fn func(*sql.Tx) (T, error)) (T, error) {
	return returning(ctx, s.write, doing, fn)
}

// returning returns fn's result, or the zero value with an error, so that no caller gets a partial result.
func returning[T any](ctx context.Context, run func(context.Context, string, func(*sql.Tx) error) error, doing string, fn func(*sql.Tx) (T, error)) (T, error) {
	var result, none T
	err := run(ctx, doing, func(tx *sql.Tx) (err error) {
		result, err = fn(tx)
		return err
	})
	if err != nil {
		return none, err
	}
	return result, nil
}

// read runs fn in a transaction that sees a consistent state of the file and takes no lock.
func (s *Site) read(ctx context.Context, doing string, fn func(*sql.Tx) error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err == nil {
		defer tx.Rollback()
		err = fn(tx)
	}
	return s.explain(ctx, doing, err)
}

// write runs fn in a transaction that holds the file's write lock from its start, and commits if fn returns nil.
func (s *Site) write(ctx context.Context, doing string, fn func(*sql.Tx) error) error {
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return s.explain(ctx, doing, ctx.Err())
	}
	if s.closed.Load() {
		return ErrClosed
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.explain(ctx, doing, err)
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return s.explain(ctx, doing, err)
	}
	if _, err := tx.ExecContext(ctx, "UPDATE revision SET n = n + 1"); err != nil {
		return s.explain(ctx, doing, err)
	}
	if err := tx.Commit(); err != nil {
		return s.explain(ctx, doing, err)
	}
	s.notify()
	return nil
}

func (s *Site) explain(ctx context.Context, doing string, err error) error {
	if err != nil && s.closed.Load() && ctx.Err() == nil {
		return ErrClosed
	}
	return explain(ctx, doing, err)
}

// stamp returns the current time as it is stored: in UTC with milliseconds, so that the text order is the time order.
func (s *Site) stamp() string { return s.now().UTC().Format(timeLayout) }

const timeLayout = "2006-01-02T15:04:05.000Z"

// parseTime parses a time of stamp. An invalid one, written by another program, becomes the zero time.
func parseTime(text string) time.Time {
	t, err := time.Parse(timeLayout, text)
	if err != nil {
		return time.Time{}
	}
	return t
}

// collect runs a query and returns its rows, never nil, so that an empty list is [] in JSON.
func collect[T any](ctx context.Context, tx *sql.Tx, scan func(scan func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := []T{}
	for rows.Next() {
		v, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

// one is the scan function of a single column.
func one[T any](scan func(...any) error) (v T, err error) {
	err = scan(&v)
	return v, err
}
