package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqlitefile"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

// readers is how many calls can read at the same time.
const readers = 4

// A database is the file, with a pool of connections.
type database struct {
	cfg  Config
	path string
	file os.FileInfo // of the open file
	pool *sql.DB

	// writing has the writer while nobody writes: goroutines wait here, and only processes compete
	// for SQLite's lock. It is closed with the store.
	writing chan *writer
	reading sync.RWMutex // held while rows are read, for reading; Close waits for it
}

var _ sqljournal.Database = (*database)(nil)

func openDatabase(path string, cfg Config) (*database, error) {
	pool, err := sqlitefile.Open(path, sqlitefile.Options{
		Conns:    readers + 1,
		Process:  cfg.Durability == Process,
		LogLimit: 64 << 20,
	})
	if err != nil {
		return nil, err
	}
	db := &database{cfg: cfg, path: path, pool: pool, writing: make(chan *writer, 1)}
	db.writing <- new(writer)
	if err := db.prepare(context.Background()); err != nil {
		return nil, errors.Join(classify(err), db.close())
	}
	return db, nil
}

// prepare sets up the file and the tables.
func (db *database) prepare(ctx context.Context) error {
	if db.cfg.NoMigrate { // before anything is changed
		if current, err := db.current(ctx); err != nil || !current {
			return cmp.Or(err, ErrOlder)
		}
	}
	if err := sqlitefile.WAL(ctx, db.pool, db.cfg.Busy); err != nil {
		return err
	}
	var err error
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
	// If the tables are up to date, it wouldn't be noticed before the first append that the file
	// can't be written. This changes nothing; a transaction alone would only read. A file that
	// somebody else writes to now can be written.
	if _, err = db.pool.ExecContext(ctx, dialect.SQL(fillMeta)); sqlitefile.Busy(err) {
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
func migrate(ctx context.Context, tx sqljournal.Tx) error {
	return sqljournal.Migrate(ctx, tx, dialect, []string{makeMeta, fillMeta}, migrations)
}

// current reports whether the tables exist and are up to date.
func (db *database) current(ctx context.Context) (current bool, err error) {
	err = db.retry(ctx, func() error {
		current, err = sqljournal.Current(ctx, db.pool, dialect, hasMeta, migrations)
		return err
	})
	return current, err
}

func (db *database) close() error {
	w, ok := <-db.writing
	if !ok {
		return nil // closed before
	}
	close(db.writing)
	w.discard()
	db.reading.Lock()
	defer db.reading.Unlock()
	if err := db.pool.Close(); err != nil {
		return fmt.Errorf("sqlite: closing: %w", err)
	}
	return nil
}

// errClosed says that the store is no longer open.
var errClosed = errors.New("sqlite: the store is closed")

// withWriter waits until nobody writes, and calls fn with the writer. From then on statements
// ignore ctx: they take microseconds, and one that is interrupted may still have been committed.
func (db *database) withWriter(ctx context.Context, fn func(*writer) error) error {
	select {
	case w, ok := <-db.writing:
		if !ok {
			return errClosed
		}
		defer func() { db.writing <- w }()
		return db.retry(ctx, func() error {
			if err := w.open(ctx, db.pool); err != nil {
				return err
			}
			return fn(w)
		})
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Write implements [sqljournal.Database]. The transaction has SQLite's write lock from its start,
// so it doesn't fail halfway because another process wrote first. A file that was deleted or
// replaced is noticed here, since a running session renews its lease.
func (db *database) Write(ctx context.Context, fn func(context.Context, sqljournal.Tx) error) error {
	if err := db.inPlace(); err != nil {
		return wrapError(ctx, err)
	}
	return wrapError(ctx, db.withWriter(ctx, func(w *writer) error { return w.transaction(fn) }))
}

// errNotPlain says that an append can't be made by a single statement: the session doesn't exist,
// the fence or the number differs.
var errNotPlain = errors.New("sqlite: not a plain append")

// TryAppend implements [sqljournal.Database]. An append of one record, without head and items, is
// one statement and writes one page. Of several records each is checked by its statement, which
// costs less than to read the session first. Without a lease, the session's row changes, too: see
// the column idle.
func (db *database) TryAppend(ctx context.Context, a journal.Append) (bool, error) {
	if a.Fence == 0 || len(a.Records) == 0 || a.Head != nil || len(a.Taken) > 0 {
		return false, nil
	}
	now := time.Now().UnixNano()
	try := func(ctx context.Context, tx sqljournal.Tx) error {
		for i := range a.Records {
			r := &a.Records[i]
			result, err := tx.ExecContext(ctx, tryAppend, a.Session, int64(a.Fence), int64(a.After)+int64(i), now,
				nanos(r.Time), r.Kind, int64(r.V), sqljournal.Blob(r.Data), a.Quiet)
			if err != nil {
				return err
			}
			if n, err := result.RowsAffected(); err != nil || n != 1 {
				return cmp.Or(err, errNotPlain)
			}
		}
		return nil
	}
	err := db.withWriter(ctx, func(w *writer) error {
		if len(a.Records) == 1 {
			return try(context.Background(), w)
		}
		return w.transaction(try)
	})
	if errors.Is(err, errNotPlain) {
		return false, nil
	}
	return err == nil, wrapError(ctx, err)
}

// Insert implements [sqljournal.Database].
func (db *database) Insert(ctx context.Context, tx sqljournal.Tx, rows sqljournal.Batch) error {
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

// Replace implements [sqljournal.Database].
func (db *database) Replace(ctx context.Context, tx sqljournal.Tx, rows sqljournal.Batch) error {
	for i := range rows.Records {
		r := &rows.Records[i]
		_, err := tx.ExecContext(ctx, replaceRecord, rows.Session, int64(r.Seq), sqljournal.Blob(r.Data))
		if err != nil {
			return err
		}
	}
	return nil
}

// Query implements [sqljournal.Database].
func (db *database) Query(ctx context.Context, query string, args []any,
	each func(scan func(...any) error) error) error {
	db.reading.RLock()
	defer db.reading.RUnlock()
	var failed error // once there are rows: each has seen some, so that isn't retried
	err := db.retry(ctx, func() error {
		rows, err := db.pool.QueryContext(ctx, query, args...)
		if err == nil {
			failed = sqljournal.Each(rows, each)
		}
		return err
	})
	return wrapError(ctx, cmp.Or(err, failed))
}

// retry runs try again while the file is busy, for as long as Config.Busy allows.
func (db *database) retry(ctx context.Context, try func() error) error {
	return sqlitefile.Retry(ctx, db.cfg.Busy, try)
}

// nanos returns a time as the parameter of a statement.
func nanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}
