package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/pgpool"
	"github.com/pawlkit/pawl/internal/sqljournal"
	"github.com/pawlkit/pawl/ratelimit"
)

// A Durability says what an append survives once [Store].Append has returned nil.
type Durability int

const (
	// Power is the default: the server's disk has confirmed the append. If synchronous_commit is
	// off in the server's settings, the store's connections switch it on; settings that also wait
	// for replicas stay as they are.
	Power Durability = iota
	// Process survives the death of this process, but not a crash of the server, which may lose the
	// appends of the last moments, of less than a second with its default settings
	// (synchronous_commit off). With Config.Pool it is the pool that has this setting.
	Process
)

// Config says how [Open] connects.
type Config struct {
	// DSN says where the database is: a URL (postgres://user@host/db) or key=value pairs, both as
	// in libpq. What it omits comes from the environment (PGHOST and so on). It is never logged. It
	// is empty if Pool is set.
	DSN string
	// Pool is the host's own pool, which the store then uses instead of connections of its own.
	// [Store.Close] doesn't close it; close the store first. Any search_path and any query exec
	// mode will do; behind a pooler in transaction mode the pool needs QueryExecModeExec. The store
	// changes no setting of its connections: under [Power], Open refuses a pool whose connections
	// have synchronous_commit off. Calls wait for a connection, so a tool that holds one while it
	// runs must not hold the last one.
	Pool *pgxpool.Pool
	// Schema is where the tables are: letters, digits and _, at most 63, the first no digit, all
	// lower case. The default is pawl. [Open] creates it if it doesn't exist. Two stores in one
	// database are separate if their schemas differ.
	Schema string
	// Durability is what an append survives. The default is a power failure.
	Durability Durability
	// MaxConns is the most connections that the store has open. The default, for 0, is 8, or all of
	// Pool. Other calls wait for a free connection until their context ends or Timeout has passed.
	// A connection of the store's own that is unused for 5 minutes is closed, and each is replaced
	// after an hour.
	MaxConns int
	// Timeout ends a call, or the read of a page, that gets no answer; then it is open whether a
	// change was made. The default, for 0, is 30 s.
	Timeout time.Duration
	// NoMigrate opens only tables that are up to date, and changes nothing: if they don't exist or
	// are older, the error is [ErrOlder].
	NoMigrate bool
}

// A Store is a [journal.Store] in a PostgreSQL database. Close it when it is no longer needed.
type Store struct {
	journal.Store
	db       *database
	listener *listener
}

var _ journal.Notifier = (*Store)(nil)

// Open connects to the database and creates the tables if they don't exist, or brings those of an
// older version up to date, unless Config.NoMigrate is set; newer ones are refused with [ErrNewer].
// If the tables exist it needs no permission to create any. It ends with ctx; connecting to the
// server takes at most 10 s for each of its addresses, or connect_timeout of the DSN.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg.Schema, cfg.Timeout = cmp.Or(cfg.Schema, "pawl"), cmp.Or(cfg.Timeout, 30*time.Second)
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	pool, err := pgpool.Open(cfg.connections())
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	db := &database{pool: pool, timeout: cfg.Timeout, dialect: dialect(cfg.Schema)}
	for i, queue := range []string{"", leaveQueue, enterQueue} {
		db.append[i] = db.dialect.SQL(fmt.Sprintf(tryAppend, queue))
	}
	db.insert, db.replace = db.dialect.SQL(insertRecords), db.dialect.SQL(replaceRecords)
	err = db.prepare(ctx, cfg)
	if err == nil {
		err = db.identify(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: opening: %w", classify(err)), db.pool.Close())
	}
	return &Store{Store: sqljournal.New(db, db.dialect), db: db, listener: newListener(&listener{
		connect: cfg.connections().Connect, notify: db.notify, schema: cfg.Schema,
	})}, nil
}

// Allowances returns a store for the allowances with a name, which all processes that use the
// schema share: together they admit what one would. Allowances with different limits need different
// names; a name is like that of a session, and with an invalid one each update fails with a
// [*journal.InvalidError].
//
// The clock is the server's. An update is one transaction, which locks the key's row. It writes the
// whole state of the key: 20 bytes for each take in the longest window, and 80 for each that is
// open. A key whose takes count no more is deleted when others are added.
func (s *Store) Allowances(name string) ratelimit.AllowanceStore {
	return sqljournal.NewAllowances(s.db, s.db.dialect, name)
}

// Close closes the connections, unless they are those of Config.Pool. It waits for calls under way;
// later calls fail.
func (s *Store) Close() error {
	s.listener.close()
	if err := s.db.pool.Close(); err != nil {
		return fmt.Errorf("postgres: closing: %w", err)
	}
	return nil
}

func (c Config) validate() error {
	switch {
	case c.Durability != Power && c.Durability != Process:
		return fmt.Errorf("postgres: Config.Durability is %d; it must be Power or Process", c.Durability)
	case c.MaxConns < 0:
		return fmt.Errorf("postgres: Config.MaxConns is %d; it must be 1 or more, or 0 for the default", c.MaxConns)
	case c.Timeout < 0:
		return fmt.Errorf("postgres: Config.Timeout is %v; it must be above 0, or 0 for 30 s", c.Timeout)
	}
	return nil
}

// connections says where the connections come from.
func (c Config) connections() pgpool.Config {
	most := c.MaxConns
	if most == 0 && c.Pool == nil {
		most = 8
	}
	return pgpool.Config{DSN: c.DSN, Pool: c.Pool, Schema: c.Schema, MaxConns: most, Process: c.Durability == Process}
}
