package sqlrecall

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/memory/recall"
)

// A Database is where a [Store] keeps its tables.
type Database interface {
	// Write runs fn in a transaction, and commits it if fn returns nil. It may run fn again after a
	// failure that a retry can avoid.
	Write(ctx context.Context, fn func(context.Context, *sql.Tx) error) error
	// Read runs fn, which runs one statement that only reads. It may run fn again.
	Read(ctx context.Context, fn func(context.Context, *sql.DB) error) error
	// Class returns an error of the driver in the error of the store that fits it, or unchanged.
	Class(err error) error
}

// A Dialect has the differences between the statements of the databases.
type Dialect struct {
	// Prefix is put before the name of every table, for @.
	Prefix string
	// Dollar is set if parameters are written $1 instead of ?1.
	Dollar bool
	// Lock is the first statement of each change: it excludes all other changes of the tenant
	// until the transaction ends. Its parameter is the tenant. It is empty if a transaction
	// excludes all others.
	Lock string
}

// SQL returns a statement with @ and ? replaced by the dialect's prefix and parameters.
func (d Dialect) SQL(statement string) string {
	if d.Dollar {
		statement = strings.ReplaceAll(statement, "?", "$")
	}
	return strings.ReplaceAll(statement, "@", d.Prefix)
}

// Config configures [New].
type Config struct {
	Package   string // prefix of errors
	Limits    recall.Limits
	TextBytes int64 // capacity of each scope; 0 or less: 64 MiB
	Dialect   Dialect
}

// A Store is a [recall.Store] in the tables of a [Database], and has the texts of scopes.
type Store struct {
	db  Database
	cfg Config
}

var _ recall.Store = (*Store)(nil)

// New returns the store in db, whose tables exist.
func New(db Database, cfg Config) *Store {
	cfg.Limits = cfg.Limits.OrDefault()
	if cfg.TextBytes <= 0 {
		cfg.TextBytes = 64 << 20
	}
	return &Store{db: db, cfg: cfg}
}

const (
	getEntry = "SELECT version, value FROM @recall WHERE tenant = ?1 AND kind = ?2 AND key = ?3"
	listAll  = "SELECT kind, key, version, value FROM @recall WHERE tenant = ?1 ORDER BY kind, key"
	listKind = "SELECT kind, key, version, value FROM @recall WHERE tenant = ?1 AND kind = ?2 ORDER BY kind, key"
	putEntry = "INSERT INTO @recall (tenant, kind, key, version, value) VALUES (?1, ?2, ?3, ?4, ?5) " +
		"ON CONFLICT (tenant, kind, key) DO UPDATE SET version = ?4, value = ?5"
	deleteOne = "DELETE FROM @recall WHERE tenant = ?1 AND kind = ?2 AND key = ?3"
	getTenant = "SELECT last, entries, bytes FROM @recall_tenants WHERE tenant = ?1"
	putTenant = "INSERT INTO @recall_tenants (tenant, last, entries, bytes) VALUES (?1, ?2, ?3, ?4) " +
		"ON CONFLICT (tenant) DO UPDATE SET last = ?2, entries = ?3, bytes = ?4"
)

// A querier runs a statement that returns at most one row: the database, or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// sql returns a statement in the store's dialect.
func (s *Store) sql(statement string) string { return s.cfg.Dialect.SQL(statement) }

// callerError returns an error for the caller; errors of package recall stay unchanged.
func (s *Store) callerError(doing string, err error) error {
	var conflict *recall.ConflictError
	var limit *recall.LimitError
	if err == nil || errors.Is(err, recall.ErrNotFound) || errors.As(err, &conflict) || errors.As(err, &limit) {
		return err
	}
	return fmt.Errorf("%s: %s: %w", s.cfg.Package, doing, s.db.Class(err))
}

// change runs fn in a transaction that excludes all other changes of the tenant.
func (s *Store) change(ctx context.Context, tenant string, fn func(context.Context, *sql.Tx) error) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if lock := s.cfg.Dialect.Lock; lock != "" {
			if _, err := tx.ExecContext(ctx, s.sql(lock), tenant); err != nil {
				return err
			}
		}
		return fn(ctx, tx)
	})
}

func (s *Store) get(ctx context.Context, on querier, id recall.ID) (recall.Entry, error) {
	e := recall.Entry{ID: id}
	err := on.QueryRowContext(ctx, s.sql(getEntry), id.Tenant, id.Kind, id.Key).Scan(&e.Version, &e.Value)
	if errors.Is(err, sql.ErrNoRows) {
		return recall.Entry{}, recall.ErrNotFound
	}
	return e, err
}

// Get implements [recall.Store].
func (s *Store) Get(ctx context.Context, id recall.ID) (recall.Entry, error) {
	if err := id.Check(); err != nil {
		return recall.Entry{}, err
	}
	var e recall.Entry
	err := s.db.Read(ctx, func(ctx context.Context, db *sql.DB) (err error) {
		e, err = s.get(ctx, db, id)
		return err
	})
	return e, s.callerError("reading", err)
}

// List implements [recall.Store].
func (s *Store) List(ctx context.Context, tenant, kind string) ([]recall.Entry, error) {
	if err := (recall.ID{Tenant: tenant, Kind: cmp.Or(kind, "all"), Key: "all"}).Check(); err != nil {
		return nil, err
	}
	query, args := listKind, []any{tenant, kind}
	if kind == "" {
		query, args = listAll, args[:1]
	}
	var list []recall.Entry
	err := s.db.Read(ctx, func(ctx context.Context, db *sql.DB) error {
		list = nil
		found, err := db.QueryContext(ctx, s.sql(query), args...)
		if err != nil {
			return err
		}
		for found.Next() {
			e := recall.Entry{ID: recall.ID{Tenant: tenant}}
			if err := found.Scan(&e.Kind, &e.Key, &e.Version, &e.Value); err != nil {
				return errors.Join(err, found.Close())
			}
			list = append(list, e)
		}
		return errors.Join(found.Err(), found.Close())
	})
	if err != nil {
		return nil, s.callerError("listing", err)
	}
	return list, nil
}

// Put implements [recall.Store].
func (s *Store) Put(ctx context.Context, e recall.Entry) (int64, error) {
	if err := e.Check(); err != nil {
		return 0, err
	}
	if e.Value == nil {
		e.Value = []byte{}
	}
	want := e.Version
	err := s.write(ctx, e.ID, func(ctx context.Context, tx *sql.Tx, old recall.Entry, t *tenant) error {
		if old.Version != want {
			return &recall.ConflictError{ID: e.ID, Want: want, Have: old.Version}
		}
		had := int64(-1)
		if old.Version > 0 {
			had = old.Size()
		}
		use, err := s.cfg.Limits.After(t.use, &e, had)
		if err != nil {
			return err
		}
		t.use = use
		t.last++
		e.Version = t.last
		_, err = tx.ExecContext(ctx, s.sql(putEntry), e.Tenant, e.Kind, e.Key, e.Version, e.Value)
		return err
	})
	if err != nil {
		return 0, s.callerError("keeping", err)
	}
	return e.Version, nil
}

// Delete implements [recall.Store].
func (s *Store) Delete(ctx context.Context, id recall.ID, version int64) error {
	if err := id.Check(); err != nil {
		return err
	}
	return s.callerError("deleting",
		s.write(ctx, id, func(ctx context.Context, tx *sql.Tx, old recall.Entry, t *tenant) error {
			if old.Version == 0 {
				return recall.ErrNotFound
			}
			if version != 0 && version != old.Version {
				return &recall.ConflictError{ID: id, Want: version, Have: old.Version}
			}
			t.use.Entries--
			t.use.Bytes -= old.Size()
			_, err := tx.ExecContext(ctx, s.sql(deleteOne), id.Tenant, id.Kind, id.Key)
			return err
		}))
}

// A tenant is the row of a tenant.
type tenant struct {
	last int64
	use  recall.Use
}

// write runs change in a transaction, with the stored entry (version 0: there is none) and the row
// of its tenant.
func (s *Store) write(ctx context.Context, id recall.ID,
	change func(ctx context.Context, tx *sql.Tx, old recall.Entry, t *tenant) error) error {
	return s.change(ctx, id.Tenant, func(ctx context.Context, tx *sql.Tx) error {
		old, err := s.get(ctx, tx, id)
		if err != nil && !errors.Is(err, recall.ErrNotFound) {
			return err
		}
		var t tenant
		err = tx.QueryRowContext(ctx, s.sql(getTenant), id.Tenant).Scan(&t.last, &t.use.Entries, &t.use.Bytes)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := change(ctx, tx, old, &t); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, s.sql(putTenant), id.Tenant, t.last, t.use.Entries, t.use.Bytes)
		return err
	})
}
