package portfolio

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

// schemas make the tables of each version from those of the one before.
//
//go:embed schema
var schemas embed.FS

// busy is how long a call waits for another process that writes.
const busy = 15 * time.Second

// A Store is an open file.
type Store struct {
	path string
	db   *sql.DB
	now  func() time.Time
}

// Open opens a file, and creates it with the tables and the seeded users if it has none.
func Open(path string) (*Store, error) {
	abs, err := sqlitefile.Make(path, "name a file in a temporary folder instead")
	if err != nil {
		return nil, fmt.Errorf("portfolio: %w", err)
	}
	// A process may die at any moment; what survives a power failure is up to the journal, which
	// goes first.
	db, err := sqlitefile.Open(abs,
		sqlitefile.Options{Conns: 8, LogLimit: 8 << 20, Immediate: true, ForeignKeys: true, Process: true})
	if err != nil {
		return nil, fmt.Errorf("portfolio: %w", err)
	}
	ctx := context.Background()
	s := &Store{path: abs, db: db, now: time.Now}
	if err := errors.Join(sqlitefile.WAL(ctx, db, busy), s.write(ctx, (*tx).migrate)); err != nil {
		return nil, errors.Join(fmt.Errorf("portfolio: opening %s: %w", abs, err), db.Close())
	}
	return s, nil
}

// Path returns the absolute path of the file.
func (s *Store) Path() string { return s.path }

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

func (t *tx) migrate() {
	var tables, others, has int // others are of neither this package nor the journal
	t.fail(t.QueryRowContext(t.ctx,
		`SELECT (SELECT count(*) FROM sqlite_master WHERE name = 'artifacts'), (SELECT count(*) FROM sqlite_master
		WHERE type = 'table' AND name NOT LIKE 'pawl%' AND name NOT LIKE 'sqlite%'), user_version FROM pragma_user_version`).
		Scan(&tables, &others, &has))
	files, err := schemas.ReadDir("schema")
	t.fail(err)
	switch {
	case tables == 0 && others > 0:
		t.fail(errors.New("the file is that of another program; use another one"))
	case has > len(files):
		t.fail(fmt.Errorf("the file has version %d of the tables, and this program knows version %d; use a newer "+
			"program, or another file", has, len(files)))
	}
	for i := has; i < len(files) && t.err == nil; i++ {
		text, err := schemas.ReadFile("schema/" + files[i].Name())
		t.fail(err)
		t.exec(string(text))
	}
	t.exec(fmt.Sprintf("PRAGMA user_version = %d", len(files)))
	if has == 0 {
		t.seed()
	}
}

// A tx is a transaction. After its first error it does nothing more, and it isn't committed.
type tx struct {
	*sql.Tx
	ctx context.Context // of the call whose transaction it is
	now time.Time
	err error
}

// write runs f in a transaction, again as long as another process writes.
func (s *Store) write(ctx context.Context, f func(*tx)) error {
	return sqlitefile.Retry(ctx, busy, func() error {
		inner, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		t := &tx{inner, ctx, s.now().UTC().Truncate(time.Millisecond), nil}
		if f(t); t.err != nil {
			_ = t.Rollback() // t.err says what is wrong
			return t.err
		}
		return t.Commit()
	})
}

// exec runs a transaction of one statement.
func (s *Store) exec(ctx context.Context, query string, args ...any) error {
	return s.write(ctx, func(t *tx) { t.exec(query, args...) })
}

// exec executes a statement.
func (t *tx) exec(query string, args ...any) {
	if t.err == nil {
		_, t.err = t.ExecContext(t.ctx, query, args...)
	}
}

// fail ends the transaction with an error, if there is one.
func (t *tx) fail(err error) { t.err = cmp.Or(t.err, err) }

// read returns what get returns.
func read[T any](t *tx, scan func(row, *T) error, missing error, query string, args ...any) (v T) {
	if t.err == nil {
		v, t.err = get(t.ctx, t, scan, missing, query, args...)
	}
	return v
}

// A row is a *sql.Row or *sql.Rows.
type row interface{ Scan(...any) error }

// get returns the first row of a query. Without one it returns the error missing.
func get[T any](ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, scan func(row, *T) error, missing error, query string, args ...any) (v T, err error) {
	if err = scan(db.QueryRowContext(ctx, query, args...), &v); errors.Is(err, sql.ErrNoRows) {
		err = missing
	}
	return v, err
}

// list returns the rows of a query.
func list[T any](ctx context.Context, s *Store, scan func(row, *T) error, query string, args ...any) ([]T, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		var v T
		if err := scan(rows, &v); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// scalar reads a row of one value.
func scalar[T any](r row, v *T) error { return r.Scan(v) }

// A unix is a time as a column, in milliseconds. The zero time is 0.
type unix time.Time

// Value returns the column.
func (u unix) Value() (driver.Value, error) {
	if time.Time(u).IsZero() {
		return int64(0), nil
	}
	return time.Time(u).UnixMilli(), nil
}

// Scan reads the column.
func (u *unix) Scan(v any) error {
	if ms, _ := v.(int64); ms != 0 {
		*u = unix(time.UnixMilli(ms).UTC())
	}
	return nil
}

// An asJSON is a value as a column of JSON; to scan one, v is a pointer.
type asJSON struct{ v any }

// Value returns the column.
func (c asJSON) Value() (driver.Value, error) {
	text, err := json.Marshal(c.v)
	return string(text), err
}

// Scan reads the column.
func (c asJSON) Scan(v any) error {
	text, _ := v.(string)
	return json.Unmarshal([]byte(text), c.v)
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
