package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

// A Durability says what an append survives once [Store].Append has returned nil.
type Durability int

const (
	// Power is the default: the server's disk has confirmed the append. Where the server's settings say synchronous_commit off, the store's
	// connections switch it on; what waits for replicas as well is left as it is.
	Power Durability = iota
	// Process survives the death of this process, not that of the server, which may lose the appends of its last moments,
	// below a second with its own defaults (synchronous_commit off).
	Process
)

// Config is what [Open] is told.
type Config struct {
	// DSN says where the database is: a URL (postgres://user@host/db) or key=value pairs, both as libpq takes them. What it leaves out
	// comes from the environment (PGHOST and so on). Logs never show it.
	DSN string
	// Schema is where the tables are: letters, digits and _, at most 63, the first no digit, all lower case. The default is pawl.
	// [Open] makes it if it isn't there. Two stores in one database are apart if their schemas are.
	Schema string
	// Durability is what an append survives. The default is a power failure.
	Durability Durability
	// MaxConns is the most connections that the store has open. The default is 8; from 1 on. Calls beyond wait for one to come free,
	// until their context ends or Timeout has passed.
	MaxConns int
	// MaxIdle is how long a connection that nobody uses stays open. The default is 5 minutes. A connection is
	// replaced after an hour in any case.
	MaxIdle time.Duration
	// Timeout ends a call, or the reading of a page, that gets no answer; it then leaves open whether a change was made. The default is 30 s.
	Timeout time.Duration
}

// A Store is a [journal.Store] in a PostgreSQL database. Close it when it is no longer needed.
type Store struct {
	journal.Store
	db *database
}

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// Open connects to the database and makes the tables if they aren't there, or brings those of an older version up to date; newer
// ones are refused with [ErrNewer]. Once the tables are there it needs no right to make any. It ends with ctx; reaching the
// server takes at most 10 s for each of its addresses, or what connect_timeout in the DSN says.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Schema == "" {
		cfg.Schema = "pawl"
	}
	if cfg.MaxConns == 0 {
		cfg.MaxConns = 8
	}
	if cfg.MaxIdle == 0 {
		cfg.MaxIdle = 5 * time.Minute
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 30 * time.Second
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	conf, err := pgx.ParseConfig(cfg.DSN)
	if err != nil {
		return nil, fmt.Errorf("postgres: Config.DSN can't be read; it must be a URL or key=value pairs: %w", err) // pgx leaves the password out
	}
	if conf.ConnectTimeout == 0 {
		conf.ConnectTimeout = 10 * time.Second
	}
	db := &database{
		pool:    stdlib.OpenDB(*conf, stdlib.OptionAfterConnect(cfg.Durability.set)),
		timeout: cfg.Timeout,
		dialect: dialect(cfg.Schema),
	}
	db.tryAppend, db.insert = db.dialect.SQL(tryAppend), db.dialect.SQL(insertRecords)
	db.pool.SetMaxOpenConns(cfg.MaxConns)
	db.pool.SetMaxIdleConns(cfg.MaxConns)
	db.pool.SetConnMaxIdleTime(cfg.MaxIdle)
	db.pool.SetConnMaxLifetime(time.Hour)
	if err := db.prepare(ctx, cfg.Schema); err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: opening: %w", err), db.pool.Close())
	}
	return &Store{Store: sqljournal.New(db, db.dialect), db: db}, nil
}

// Close closes the connections. Calls that are under way come to their end first; later ones fail.
func (s *Store) Close() error {
	if err := s.db.pool.Close(); err != nil {
		return fmt.Errorf("postgres: closing: %w", err)
	}
	return nil
}

func (c Config) validate() error {
	switch {
	case !schemaName.MatchString(c.Schema):
		return fmt.Errorf("postgres: Config.Schema is %q; it must be lower-case letters, digits and _, at most 63, and not begin with a digit", c.Schema)
	case c.Durability != Power && c.Durability != Process:
		return fmt.Errorf("postgres: Config.Durability is %d; it must be Power or Process", c.Durability)
	case c.MaxConns < 1:
		return fmt.Errorf("postgres: Config.MaxConns is %d; it must be 1 or more, or 0 for 8", c.MaxConns)
	case c.MaxIdle < 0:
		return fmt.Errorf("postgres: Config.MaxIdle is %v; it must be above 0, or 0 for 5 minutes", c.MaxIdle)
	case c.Timeout < 0:
		return fmt.Errorf("postgres: Config.Timeout is %v; it must be above 0, or 0 for 30 s", c.Timeout)
	}
	return nil
}

// set makes a new connection as durable as d says.
func (d Durability) set(ctx context.Context, conn *pgx.Conn) error {
	statement := "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
	if d == Process {
		statement = "SET synchronous_commit = off"
	}
	_, err := conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol)
	return err
}
