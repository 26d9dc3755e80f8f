package sqlmemory

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pawlkit/pawl/internal/sqlitefile"
	"github.com/pawlkit/pawl/memory/recall"
)

// Config configures [OpenWith]. Its zero value is ready to use.
type Config struct {
	// Limits are per tenant; see [recall.Limits] for the defaults. Processes that share a file
	// should agree on them.
	Limits recall.Limits
	// TextBytes is the capacity of each [recall.Scope] of [Store.Texts], texts and handles
	// together; 0: 64 MiB. A longer text is rejected.
	TextBytes int64
	// Busy is how long a call waits for another process that writes before it fails with [ErrBusy];
	// 0: 15 s, at least 20 ms.
	Busy time.Duration
}

// A Store is a [recall.Store] in a SQLite file. It also stores what compaction removes from
// conversations ([Store.Texts]). Close it when it is no longer needed.
type Store struct {
	limits    recall.Limits
	textBytes int64
	busy      time.Duration
	db        *sql.DB

	// writing has one token, for the writer, so that only processes compete for SQLite's lock.
	writing *semaphore.Weighted
}

var _ recall.Store = (*Store)(nil)

// Open is [OpenWith] with the defaults.
func Open(path string) (*Store, error) { return OpenWith(path, Config{}) }

// OpenWith opens the file at path, and creates it with mode 0600 if there is none. The folder must
// exist. The path must be a file: neither a URI nor :memory: (use [recall.MapStore] instead).
func OpenWith(path string, cfg Config) (*Store, error) {
	if cfg.Busy <= 0 {
		cfg.Busy = 15 * time.Second
	}
	if cfg.TextBytes <= 0 {
		cfg.TextBytes = 64 << 20
	}
	abs, err := sqlitefile.Make(path, "for a memory that ends with the process use recall.MapStore")
	if err != nil {
		return nil, fmt.Errorf("sqlmemory: %w", err)
	}
	db, err := sqlitefile.Open(abs, sqlitefile.Options{Conns: 4, LogLimit: 8 << 20, Immediate: true})
	if err != nil {
		return nil, fmt.Errorf("sqlmemory: opening %s: %w", path, err)
	}
	s := &Store{limits: cfg.Limits.OrDefault(), textBytes: cfg.TextBytes, busy: cfg.Busy, db: db,
		writing: semaphore.NewWeighted(1)}
	if err := s.prepare(context.Background()); err != nil {
		return nil, fmt.Errorf("sqlmemory: opening %s: %w", path, errors.Join(class(err), db.Close()))
	}
	return s, nil
}

// Close closes the file. Later calls fail.
func (s *Store) Close() error {
	_ = s.writing.Acquire(context.Background(), 1) // this context never ends
	defer s.writing.Release(1)
	return s.db.Close()
}

const (
	getEntry  = `SELECT version, value FROM pawl_recall WHERE tenant = ? AND kind = ? AND key = ?`
	listKind  = `SELECT kind, key, version, value FROM pawl_recall WHERE tenant = ? AND kind = ? ORDER BY kind, key`
	listAll   = `SELECT kind, key, version, value FROM pawl_recall WHERE tenant = ? ORDER BY kind, key`
	getTenant = `SELECT last, entries, bytes FROM pawl_recall_tenants WHERE tenant = ?`
	putTenant = `INSERT OR REPLACE INTO pawl_recall_tenants (tenant, last, entries, bytes) VALUES (?, ?, ?, ?)`
	putEntry  = `INSERT OR REPLACE INTO pawl_recall (tenant, kind, key, version, value) VALUES (?, ?, ?, ?, ?)`
	deleteOne = `DELETE FROM pawl_recall WHERE tenant = ? AND kind = ? AND key = ?`
)

// A rows runs statements: the database, or a transaction.
type rows interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func get(ctx context.Context, on rows, id recall.ID) (recall.Entry, error) {
	e := recall.Entry{ID: id}
	err := on.QueryRowContext(ctx, getEntry, id.Tenant, id.Kind, id.Key).Scan(&e.Version, &e.Value)
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
	err := s.retry(ctx, func() (err error) {
		e, err = get(ctx, s.db, id)
		return err
	})
	return e, callerError("reading", err)
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
	err := s.retry(ctx, func() error {
		list = nil
		found, err := s.db.QueryContext(ctx, query, args...)
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
		return nil, callerError("listing", err)
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
		use, err := s.limits.After(t.use, &e, had)
		if err != nil {
			return err
		}
		t.use = use
		t.last++
		e.Version = t.last
		_, err = tx.ExecContext(ctx, putEntry, e.Tenant, e.Kind, e.Key, e.Version, e.Value)
		return err
	})
	if err != nil {
		return 0, callerError("keeping", err)
	}
	return e.Version, nil
}

// Delete implements [recall.Store].
func (s *Store) Delete(ctx context.Context, id recall.ID, version int64) error {
	if err := id.Check(); err != nil {
		return err
	}
	return callerError("deleting",
		s.write(ctx, id, func(ctx context.Context, tx *sql.Tx, old recall.Entry, t *tenant) error {
			if old.Version == 0 {
				return recall.ErrNotFound
			}
			if version != 0 && version != old.Version {
				return &recall.ConflictError{ID: id, Want: version, Have: old.Version}
			}
			t.use.Entries--
			t.use.Bytes -= old.Size()
			_, err := tx.ExecContext(ctx, deleteOne, id.Tenant, id.Kind, id.Key)
			return err
		}))
}

// A tenant is the row of a tenant. It stays when the tenant has no entries, so that versions aren't
// reused.
type tenant struct {
	last int64
	use  recall.Use
}

// write runs change in a transaction, with the stored entry (version 0: there is none) and the row
// of its tenant.
func (s *Store) write(ctx context.Context, id recall.ID,
	change func(ctx context.Context, tx *sql.Tx, old recall.Entry, t *tenant) error) error {
	return s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		old, err := get(ctx, tx, id)
		if err != nil && !errors.Is(err, recall.ErrNotFound) {
			return err
		}
		var t tenant
		err = tx.QueryRowContext(ctx, getTenant, id.Tenant).Scan(&t.last, &t.use.Entries, &t.use.Bytes)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := change(ctx, tx, old, &t); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, putTenant, id.Tenant, t.last, t.use.Entries, t.use.Bytes)
		return err
	})
}
