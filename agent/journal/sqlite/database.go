package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqlitefile"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

// readers is how many calls can read at the same time.
const readers = 4

// A database is the file, with one connection that writes and a few that read. Statements are
// prepared once for each.
type database struct {
	durability Durability
	busy       time.Duration
	maxBytes   int64
	noMigrate  bool
	path       string
	file       os.FileInfo // of the open file
	pool       *sql.DB

	// writing holds the writer while it is idle: goroutines wait here, and only processes compete
	// for SQLite's lock.
	writing chan *writer

	// reading holds the readers that are idle.
	reading chan *reader
	closed  chan struct{}
}

var _ sqljournal.Database = (*database)(nil)

func openDatabase(path string, cfg Config) (*database, error) {
	pool, err := sqlitefile.Open(path, sqlitefile.Options{
		Conns:    readers + 2, // the writer may have to be replaced
		Process:  cfg.Durability == Process,
		LogLimit: 64 << 20,
	})
	if err != nil {
		return nil, err
	}
	db := &database{durability: cfg.Durability, busy: cfg.Busy, maxBytes: cfg.MaxBytes,
		noMigrate: cfg.NoMigrate, path: path, pool: pool,
		writing: make(chan *writer, 1),
		reading: make(chan *reader, readers), closed: make(chan struct{})}
	for range readers {
		db.reading <- &reader{pool: pool}
	}
	if err := db.prepare(context.Background()); err != nil {
		err = classify(err)
		select {
		case w := <-db.writing:
			err = errors.Join(err, w.close())
		default: // there is no writer yet
		}
		return nil, errors.Join(err, pool.Close())
	}
	return db, nil
}

// prepare sets up the file, the writer and the tables.
func (db *database) prepare(ctx context.Context) error {
	if db.noMigrate { // before anything is changed
		if current, err := db.current(ctx); err != nil || !current {
			return cmp.Or(err, ErrOlder)
		}
	}
	if err := sqlitefile.WAL(ctx, db.pool, db.busy); err != nil {
		return err
	}
	w, err := newWriter(ctx, db.pool, db.maxBytes)
	if err != nil {
		return err
	}
	db.writing <- w
	if db.file, err = os.Stat(db.path); err != nil {
		return err
	}
	current, err := db.current(ctx)
	switch {
	case err != nil:
		return err
	case !current:
		return db.withWriter(ctx, func(w *writer) error { return w.transaction(migrate) })
	}
	return db.writable()
}

// writable returns an error if the file can't be written, which wouldn't be noticed before the
// first append if the tables are up to date. A file that somebody else writes to now can be
// written.
func (db *database) writable() error {
	w := <-db.writing
	defer func() { db.writing <- w }()
	_, err := w.exec(fillMeta) // which changes nothing; a transaction alone would only read
	if sqlitefile.Busy(err) {
		return nil
	}
	return err
}

// inPlace returns errReplaced if the file that is open isn't the one at its path any more. Whoever
// opens the path now would see another file, and both would work on the same sessions.
func (db *database) inPlace() error {
	now, err := os.Stat(db.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, db.file) {
		return fmt.Errorf("%w: %s", errReplaced, db.path)
	}
	return nil // what can't be looked at may be in place
}

// migrate creates the tables, or brings them up to date.
func migrate(tx sqljournal.Tx) error {
	ctx := context.Background()
	for _, statement := range []string{makeMeta, fillMeta} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	var version int
	if err := tx.QueryRowContext(ctx, readMeta).Scan(&version); err != nil {
		return err
	}
	return sqljournal.Migrate(ctx, tx, dialect, version, migrations)
}

// current reports whether the tables exist and are up to date, so that nothing needs to be written.
func (db *database) current(ctx context.Context) (bool, error) {
	var tables, version int
	err := db.retry(ctx, func() error {
		if err := db.pool.QueryRowContext(ctx, hasMeta).Scan(&tables); err != nil || tables == 0 {
			return err
		}
		err := db.pool.QueryRowContext(ctx, readMeta).Scan(&version)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err == nil {
		err = sqljournal.CheckVersion(version, migrations)
	}
	return version == len(migrations), err
}

func (db *database) close() error {
	w, ok := <-db.writing
	if !ok {
		return nil // closed before
	}
	close(db.writing)
	close(db.closed)
	err := w.close()
	for range readers {
		err = errors.Join(err, (<-db.reading).close())
	}
	if err = errors.Join(err, db.pool.Close()); err != nil {
		return fmt.Errorf("sqlite: closing: %w", err)
	}
	return nil
}

// errClosed says that the store is no longer open.
var errClosed = errors.New("sqlite: the store is closed")

// withWriter waits for the writer and calls fn with it. From then on statements ignore ctx: they
// take microseconds, and one that is interrupted may still have been committed.
func (db *database) withWriter(ctx context.Context, fn func(w *writer) error) error {
	select {
	case w, ok := <-db.writing:
		if !ok {
			return errClosed
		}
		defer func() { db.writing <- w }()
		if w.broken {
			fresh, err := newWriter(ctx, db.pool, db.maxBytes)
			if err != nil {
				return err
			}
			_ = w.close() // a broken writer may fail to close
			w = fresh
		}
		return db.retry(ctx, func() error { return fn(w) })
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Write implements [sqljournal.Database]. The transaction has SQLite's write lock from its start,
// so it doesn't fail halfway because another process wrote first.
func (db *database) Write(ctx context.Context, fn func(sqljournal.Tx) error) error {
	return wrapError(ctx, db.withWriter(ctx, func(w *writer) error { return w.transaction(fn) }))
}

// WriteLease implements [sqljournal.Database]. It doesn't wait for the disk: all processes that use
// the file are on this machine, and their leases end with it. The next append confirms what is
// before it in the write-ahead log, too. A file that was deleted or replaced is noticed here, since
// a running session renews its lease.
func (db *database) WriteLease(ctx context.Context, fn func(sqljournal.Tx) error) error {
	if err := db.inPlace(); err != nil {
		return wrapError(ctx, err)
	}
	return wrapError(ctx, db.withWriter(ctx, func(w *writer) error {
		if db.durability == Power {
			if _, err := w.exec("PRAGMA synchronous = NORMAL"); err != nil {
				return err
			}
			defer func() { // also when fn panics
				if _, err := w.exec("PRAGMA synchronous = FULL"); err != nil {
					w.broken = true
				}
			}()
		}
		return w.transaction(fn)
	}))
}

// TryAppend implements [sqljournal.Database]. An append of one record, without head and items, is
// one statement and writes one page. Of several records each is checked by its statement, which
// costs less than to read the session first. Without a lease, the session's row changes, too: see
// the column idle.
func (db *database) TryAppend(ctx context.Context, a journal.Append) (bool, error) {
	if a.Fence == 0 || len(a.Records) == 0 || a.Head != nil || len(a.Taken) > 0 {
		return false, nil
	}
	err := db.withWriter(ctx, func(w *writer) error {
		if len(a.Records) == 1 {
			return w.tryAppend(a)
		}
		return w.transaction(func(sqljournal.Tx) error { return w.tryAppend(a) })
	})
	if errors.Is(err, errNotPlain) {
		return false, nil
	}
	return err == nil, wrapError(ctx, err)
}

// Insert implements [sqljournal.Database].
func (db *database) Insert(ctx context.Context, tx sqljournal.Tx, rows sqljournal.Rows) error {
	for i := range rows.Records {
		r := &rows.Records[i]
		if _, err := tx.ExecContext(ctx, insertRecord, rows.Session, rows.After+1+int64(i), rows.Fence, rows.At,
			nanos(r.Time), r.Kind,
			int64(r.V), sqljournal.Blob(r.Data)); err != nil {
			return err
		}
	}
	return nil
}

// Query implements [sqljournal.Database].
func (db *database) Query(ctx context.Context, query string, args []any,
	each func(scan func(...any) error) error) error {
	select {
	case r := <-db.reading:
		defer func() { db.reading <- r }()
		return wrapError(ctx, db.retry(ctx, func() error { return r.query(ctx, query, args, each) }))
	case <-db.closed:
		return errClosed
	case <-ctx.Done():
		return wrapError(ctx, ctx.Err())
	}
}

// retry runs try again while the file is busy, for as long as Config.Busy allows.
func (db *database) retry(ctx context.Context, try func() error) error {
	return sqlitefile.Retry(ctx, db.busy, try)
}

// nanos returns a time as the parameter of a statement.
func nanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}
