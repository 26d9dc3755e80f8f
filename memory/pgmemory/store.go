package pgmemory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawlkit/pawl/internal/pgpool"
	"github.com/pawlkit/pawl/internal/sqlrecall"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/recall"
)

// Config says where [Open] keeps the memory, and how much.
type Config struct {
	// DSN says where the database is: a URL (postgres://user@host/db) or key=value pairs, both as
	// in libpq. What it omits comes from the environment (PGHOST and so on). It is never logged. It
	// is empty if Pool is set.
	DSN string
	// Pool is the host's own pool, which the store then uses instead of connections of its own.
	// [Store.Close] doesn't close it; close the store first. The store changes no setting of its
	// connections; Open refuses a pool whose connections have synchronous_commit off.
	Pool *pgxpool.Pool
	// Schema is where the tables are: letters, digits and _, at most 63, the first no digit, all
	// lower case. The default is pawl. [Open] creates it if it doesn't exist.
	Schema string
	// Timeout ends a call that gets no answer, or no connection. The default, for 0 or less, is
	// 30 s.
	Timeout time.Duration
	// NoMigrate opens only tables that are up to date, and changes nothing: if they don't exist or
	// are older, the error is [ErrOlder].
	NoMigrate bool
	// Limits are per tenant; see [recall.Limits] for the defaults. Processes that share a schema
	// should agree on them.
	Limits recall.Limits
	// TextBytes is the capacity of each [recall.Scope] of [Store.Texts], texts and handles
	// together; 0: 64 MiB. A longer text is rejected.
	TextBytes int64
}

// A Store is a [recall.Store] in a PostgreSQL database. It also stores what compaction removes from
// conversations ([Store.Texts]). Close it when it is no longer needed.
type Store struct {
	recall.Store
	shared *sqlrecall.Store // the same
	db     *database
}

// Open connects to the database and creates the tables if they don't exist, or brings those of an
// older version up to date, unless Config.NoMigrate is set; newer ones are refused with [ErrNewer].
// If the tables are up to date it needs no permission to create any. Several processes may open
// them at once. Open ends with ctx.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg.Schema = cmp.Or(cfg.Schema, "pawl")
	if cfg.Timeout <= 0 {
		cfg.Timeout = 30 * time.Second
	}
	from := pgpool.Config{DSN: cfg.DSN, Pool: cfg.Pool, Schema: cfg.Schema}
	if cfg.Pool == nil {
		from.MaxConns = 4
	}
	pool, err := pgpool.Open(from)
	if err != nil {
		return nil, fmt.Errorf("pgmemory: %w", err)
	}
	db := &database{pool: pool, timeout: cfg.Timeout}
	if err := db.prepare(ctx, from, cfg.NoMigrate); err != nil {
		return nil, fmt.Errorf("pgmemory: opening: %w", errors.Join(db.Class(err), pool.Close()))
	}
	shared := sqlrecall.New(db, sqlrecall.Config{Package: "pgmemory", Limits: cfg.Limits, TextBytes: cfg.TextBytes,
		Dialect: dialect(cfg.Schema)})
	return &Store{Store: shared, shared: shared, db: db}, nil
}

// Texts returns the [memory.Store] of a session: what compaction removed from its conversation, to
// be read back by its handle. A scope without a session is a scope of its own, which the tenant's
// conversations share.
//
// It holds up to Config.TextBytes and then deletes the texts whose last Put was longest ago. A Put
// of an existing handle makes it the newest and keeps the stored text. Texts are stored unchanged:
// unlike the notes of package recall they aren't searched for secrets. Calls fail for a scope
// without a tenant, or with a name that is invalid in a [recall.Scope].
//
// The texts of a session aren't deleted automatically: see [Store.Forget].
func (s *Store) Texts(scope recall.Scope) memory.Store { return s.shared.Texts(scope) }

// Forget deletes the texts of a session, or for a scope without a session all texts of its tenant.
// The notes of a session are deleted by [recall.ForgetSession], all other entries of a tenant by
// [recall.ForgetTenant].
func (s *Store) Forget(ctx context.Context, scope recall.Scope) error {
	return s.shared.Forget(ctx, scope)
}

// Erase replaces words in the entries and texts of all tenants by with, such as "[erased]", and
// returns in how many. match gets each text and returns the words in it, as they stand there: see
// Find of package agent, which does it in a journal. An entry that was replaced has a new version,
// so whoever has read it before can't write it back. One that is written meanwhile is left, and so
// are the rest after an error: repeat Erase until it returns 0.
//
// Names stay, and Erase returns those that have such a word, as in `tenant "t", kind "fact", key
// "ann.phone"`: remove them by [recall.ForgetTenant], [recall.ForgetSession], [Store.Forget] or
// Delete. A text keeps its handle, which is a hash of what it was.
//
// Its tables have the old words until they were rebuilt, and its statistics have samples: run
// VACUUM (FULL, ANALYZE) on recall and recall_texts, and delete older dumps, archives of the log
// and backups.
func (s *Store) Erase(ctx context.Context, match func(text string) []string, with string) (int, []string,
	error) {
	return s.shared.Erase(ctx, match, with)
}

// Close closes the connections, unless they are those of Config.Pool. It waits for calls under way;
// later calls fail.
func (s *Store) Close() error {
	if err := s.db.pool.Close(); err != nil {
		return fmt.Errorf("pgmemory: closing: %w", err)
	}
	return nil
}
