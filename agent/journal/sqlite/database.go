package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

const (
	// readers is how many calls read at the same time.
	readers = 4
	// oneTry is how long SQLite itself waits for another process.
	oneTry = 20 * time.Millisecond
)

// A database is the file, with one connection that writes and a few that read. Statements are prepared once for each.
type database struct {
	busy time.Duration
	pool *sql.DB

	// writing holds the writer while nobody writes: goroutines take turns here, and only processes compete for SQLite's lock.
	writing chan *writer

	mu      sync.Mutex // guards what follows
	reading map[string]*sql.Stmt
}

var _ sqljournal.Database = (*database)(nil)

func openDatabase(path string, cfg Config) (*database, error) {
	pool, err := sql.Open("sqlite", dsn(path, cfg))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(readers + 1)
	pool.SetMaxIdleConns(readers + 1)
	db := &database{busy: cfg.Busy, pool: pool, writing: make(chan *writer, 1), reading: make(map[string]*sql.Stmt)}
	if err := db.prepare(context.Background(), cfg); err != nil {
		return nil, errors.Join(word(err), pool.Close())
	}
	return db, nil
}

// prepare makes the file ready, and the writer.
func (db *database) prepare(ctx context.Context, cfg Config) error {
	// Two processes that make one file together collide here, and SQLite reports that at once instead of waiting.
	var mode string
	err := db.retry(ctx, func() error { return db.pool.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode) })
	if err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("the file can't use write-ahead logging (mode %s); put it on a local disk", mode)
	}
	w, err := newWriter(ctx, db.pool, cfg.MaxBytes)
	if err != nil {
		return err
	}
	db.writing <- w
	if current, err := db.current(ctx); current || err != nil {
		return err
	}
	return db.Write(ctx, func(tx sqljournal.Tx) error {
		for _, statement := range []string{makeMeta, fillMeta} {
			if _, err := tx.ExecContext(ctx, dialect.SQL(statement)); err != nil {
				return err
			}
		}
		var version int
		if err := tx.QueryRowContext(ctx, dialect.SQL(readMeta)).Scan(&version); err != nil {
			return err
		}
		return sqljournal.Migrate(ctx, tx, dialect, version, migrations)
	})
}

// current reports whether the tables are there and up to date, so that nothing needs to be written.
func (db *database) current(ctx context.Context) (bool, error) {
	var tables, version int
	err := db.retry(ctx, func() error {
		if err := db.pool.QueryRowContext(ctx, dialect.SQL(hasMeta)).Scan(&tables); err != nil || tables == 0 {
			return err
		}
		err := db.pool.QueryRowContext(ctx, dialect.SQL(readMeta)).Scan(&version)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	if err == nil {
		err = sqljournal.Check(version, migrations)
	}
	return version == len(migrations), err
}

func (db *database) close() error {
	w, ok := <-db.writing
	if !ok {
		return nil // closed before
	}
	close(db.writing)
	err := w.close()
	db.mu.Lock()
	for _, stmt := range db.reading {
		err = errors.Join(err, stmt.Close())
	}
	db.reading = nil
	db.mu.Unlock()
	if err = errors.Join(err, db.pool.Close()); err != nil {
		return fmt.Errorf("sqlite: closing: %w", err)
	}
	return nil
}

// errClosed says that the store is no longer open.
var errClosed = errors.New("sqlite: the store is closed")

// turn waits for the writer and lends it to fn. Once it has it, statements take no notice of ctx: they take microseconds, and one
// that is interrupted may have been kept all the same.
func (db *database) turn(ctx context.Context, fn func(w *writer) error) error {
	select {
	case w, ok := <-db.writing:
		if !ok {
			return errClosed
		}
		defer func() { db.writing <- w }()
		return over(ctx, db.retry(ctx, func() error { return fn(w) }))
	case <-ctx.Done():
		return over(ctx, ctx.Err())
	}
}

// Write implements [sqljournal.Database]. The transaction has SQLite's write lock from its start, so none fails half-way because another
// process wrote first.
func (db *database) Write(ctx context.Context, fn func(sqljournal.Tx) error) error {
	return db.turn(ctx, func(w *writer) error { return w.transaction(fn) })
}

// TryAppend implements [sqljournal.Database]: an append of one record, and nothing else, is a single statement.
func (db *database) TryAppend(ctx context.Context, a journal.Append) (done bool, err error) {
	if len(a.Records) != 1 || a.Head != nil || len(a.Taken) > 0 {
		return false, nil
	}
	r := &a.Records[0]
	err = db.turn(ctx, func(w *writer) error {
		result, err := w.exec(dialectTryAppend, a.Session, int64(a.Fence), int64(a.After), time.Now().UnixNano(), nanos(r.Time), r.Kind, int64(r.V),
			sqljournal.Blob(r.Data))
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		done = n == 1
		return err
	})
	return done && err == nil, err
}

// Insert implements [sqljournal.Database].
func (db *database) Insert(ctx context.Context, tx sqljournal.Tx, rows sqljournal.Rows) error {
	for i := range rows.Records {
		r := &rows.Records[i]
		if _, err := tx.ExecContext(ctx, dialectInsertRecord, rows.Session, rows.After+1+int64(i), rows.Fence, rows.At, nanos(r.Time), r.Kind,
			int64(r.V), sqljournal.Blob(r.Data)); err != nil {
			return err
		}
	}
	return nil
}

var (
	dialectTryAppend    = dialect.SQL(tryAppend)
	dialectInsertRecord = dialect.SQL(insertRecord)
)

// Query implements [sqljournal.Database].
func (db *database) Query(ctx context.Context, query string, args []any, each func(*sql.Rows) error) error {
	stmt, err := db.stmt(query)
	if err != nil {
		return over(ctx, err)
	}
	some := false
	return over(ctx, db.retry(ctx, func() error {
		rows, err := stmt.QueryContext(ctx, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			some = true
			if err := each(rows); errors.Is(err, sqljournal.ErrStop) {
				return nil
			} else if err != nil {
				return err
			}
		}
		if err := rows.Err(); err != nil && some {
			return &halfway{err}
		}
		return rows.Err()
	}))
}

// stmt returns a statement for reading.
func (db *database) stmt(query string) (*sql.Stmt, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.reading == nil {
		return nil, errClosed
	}
	if stmt := db.reading[query]; stmt != nil {
		return stmt, nil
	}
	var stmt *sql.Stmt
	err := db.retry(context.Background(), func() (err error) {
		stmt, err = db.pool.PrepareContext(context.Background(), query)
		return err
	})
	if err != nil {
		return nil, err
	}
	db.reading[query] = stmt
	return stmt, nil
}

// A halfway is an error after which what was begun can't be begun again.
type halfway struct{ error }

func (h *halfway) Unwrap() error { return h.error }

// retry runs try until it isn't busy any more, for as long as Config.Busy says.
func (db *database) retry(ctx context.Context, try func() error) error {
	var began time.Time
	for {
		err := try()
		if err == nil || !busy(err) {
			return err
		}
		var half *halfway
		if errors.As(err, &half) {
			return err
		}
		if began.IsZero() {
			began = time.Now()
		}
		if time.Since(began) >= db.busy {
			return err
		}
		timer := time.NewTimer(time.Millisecond + rand.N(4*time.Millisecond))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// over words the error that a call ends with. The end of ctx is one that wraps ctx.Err(), whichever way the driver reports it.
func over(ctx context.Context, err error) error {
	switch {
	case err == nil || !journal.Unclear(err):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("sqlite: %w", ctx.Err())
	case errors.Is(err, errClosed):
		return err
	}
	return word(err)
}

// nanos returns a time as a statement takes it.
func nanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}
