package portfolio

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

//go:embed schema.sql
var schema1 string

//go:embed schema-2.sql
var schema2 string

//go:embed schema-3.sql
var schema3 string

//go:embed schema-4.sql
var schema4 string

// schemas make the tables of each version from those of the one before.
var schemas = []string{schema1, schema2, schema3, schema4}

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
	if err := errors.Join(sqlitefile.WAL(ctx, db, busy), s.write(ctx, s.migrate)); err != nil {
		return nil, errors.Join(fmt.Errorf("portfolio: opening %s: %w", abs, err), db.Close())
	}
	return s, nil
}

// Path returns the absolute path of the file.
func (s *Store) Path() string { return s.path }

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

func (s *Store) migrate(ctx context.Context, tx *sql.Tx) error {
	var tables, others, has int // others are of neither this package nor the journal
	err := tx.QueryRowContext(ctx,
		`SELECT (SELECT count(*) FROM sqlite_master WHERE name = 'artifacts'), (SELECT count(*) FROM sqlite_master
		WHERE type = 'table' AND name NOT LIKE 'pawl%' AND name NOT LIKE 'sqlite%'), user_version FROM pragma_user_version`).Scan(&tables, &others, &has)
	switch {
	case err != nil:
		return err
	case tables == 0 && others > 0:
		return errors.New("the file is that of another program; use another one")
	case has > len(schemas):
		return fmt.Errorf(
			"the file has version %d of the tables, and this program knows version %d; use a newer program, or "+
				"another file", has, len(schemas))
	}
	for _, schema := range schemas[has:] {
		if _, err := tx.ExecContext(ctx, schema); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(schemas))); err != nil || has > 0 {
		return err
	}
	return s.seed(ctx, tx)
}

// write runs f in a transaction, again as long as another process writes.
func (s *Store) write(ctx context.Context, f func(context.Context, *sql.Tx) error) error {
	return sqlitefile.Retry(ctx, busy, func() error {
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := f(ctx, tx); err != nil {
			_ = tx.Rollback() // err says what is wrong
			return err
		}
		return tx.Commit()
	})
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
