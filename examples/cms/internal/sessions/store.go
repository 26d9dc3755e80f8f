package sessions

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pawlkit/pawl/agent/journal"
)

// busyTimeout is how long a call waits for another process. A write takes milliseconds.
const busyTimeout = 15 * time.Second

//go:embed schema.sql
var schema string

// A Store is a [journal.Store] in a SQLite file. Close it when it is no longer needed.
type Store struct {
	db *sql.DB
	// writing holds one token for the writer: those of this process take turns here, and only processes compete for
	// SQLite's lock.
	writing chan struct{}
}

var _ journal.Store = (*Store)(nil)

// Open opens the file at path, and creates it where there is none. The folder must exist.
func Open(ctx context.Context, path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("sessions: path %q: %w", path, err)
	}
	// The driver begins writes with BEGIN IMMEDIATE, so that none fails half-way because another one wrote first, and
	// read-only transactions deferred, which WAL never blocks. Synchronous full is what survives a power failure.
	query := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "synchronous(full)"},
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(abs)}).EscapedPath()+"?"+query.Encode())
	if err != nil {
		return nil, fmt.Errorf("sessions: opening %s: %w", abs, err)
	}
	db.SetMaxOpenConns(4)
	s := &Store{db: db, writing: make(chan struct{}, 1)}
	err = s.useWAL(ctx)
	if err == nil {
		err = s.write(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, schema)
			return err
		})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sessions: opening %s: %w", abs, err), db.Close())
	}
	return s, nil
}

// Close releases the file.
func (s *Store) Close() error { return s.db.Close() }

// useWAL switches the file to write-ahead logging, which it keeps. Two processes that create one file together collide
// here, and SQLite reports that at once instead of waiting, so the waiting is done here.
func (s *Store) useWAL(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	for {
		var mode string
		err := s.db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
		var e *sqlite.Error
		switch {
		case err == nil && mode == "wal":
			return nil
		case err == nil:
			return fmt.Errorf("the file can't use write-ahead logging (mode %s); put it on a local disk", mode)
		case !errors.As(err, &e) || e.Code()&0xff != sqlite3.SQLITE_BUSY:
			return err
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// write runs fn in a transaction that holds the file's write lock from its start, and commits if fn returns nil. The
// package's own errors pass unchanged; what else goes wrong leaves open whether the change was made.
func (s *Store) write(ctx context.Context, fn func(*sql.Tx) error) error {
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return ended(ctx, ctx.Err())
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return ended(ctx, err)
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return ended(ctx, err)
	}
	return ended(ctx, tx.Commit())
}

// read runs fn in a transaction that sees one moment of the file and takes no lock.
func (s *Store) read(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return ended(ctx, err)
	}
	defer tx.Rollback()
	return ended(ctx, fn(tx))
}

// ended words an error of the driver. The end of ctx is one that wraps ctx.Err(), whichever way the driver reports it.
func ended(ctx context.Context, err error) error {
	switch {
	case err == nil || !journal.Unclear(err):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("sessions: %w", ctx.Err())
	}
	return fmt.Errorf("sessions: %w", err)
}

// nanos returns a time as it is stored.
func nanos(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixNano(), Valid: true}
}

// instant reads what nanos wrote.
func instant(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.Unix(0, n.Int64).UTC()
}

// blob returns data as it is stored: empty, never NULL.
func blob(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}
