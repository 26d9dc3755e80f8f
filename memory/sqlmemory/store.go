package sqlmemory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/pawlkit/pawl/internal/sqlitefile"
	"github.com/pawlkit/pawl/internal/sqlrecall"
	"github.com/pawlkit/pawl/memory/recall"
)

// Config configures [Open]. Its zero value is ready to use.
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
	recall.Store
	shared *sqlrecall.Store // the same
	db     *database
}

// Open opens the file at path, and creates it with mode 0600 if there is none. The folder must
// exist. The path must be a file: neither a URI nor :memory: (use [recall.MapStore] instead).
func Open(path string, cfg Config) (*Store, error) {
	if cfg.Busy <= 0 {
		cfg.Busy = 15 * time.Second
	}
	abs, err := sqlitefile.Make(path, "for a memory that ends with the process use recall.MapStore")
	if err != nil {
		return nil, fmt.Errorf("sqlmemory: %w", err)
	}
	pool, err := sqlitefile.Open(abs, sqlitefile.Options{Conns: 4, LogLimit: 8 << 20, Immediate: true})
	if err != nil {
		return nil, fmt.Errorf("sqlmemory: opening %s: %w", path, err)
	}
	db := &database{busy: cfg.Busy, pool: pool, writing: semaphore.NewWeighted(1)}
	if err := db.prepare(context.Background()); err != nil {
		return nil, fmt.Errorf("sqlmemory: opening %s: %w", path, errors.Join(db.Class(err), pool.Close()))
	}
	shared := sqlrecall.New(db,
		sqlrecall.Config{Package: "sqlmemory", Limits: cfg.Limits, TextBytes: cfg.TextBytes, Dialect: dialect})
	return &Store{Store: shared, shared: shared, db: db}, nil
}

// Close closes the file. Later calls fail.
func (s *Store) Close() error {
	_ = s.db.writing.Acquire(context.Background(), 1) // this context never ends
	defer s.db.writing.Release(1)
	return s.db.pool.Close()
}
