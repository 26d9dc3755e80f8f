package pgpool

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Config says where connections come from.
type Config struct {
	DSN      string
	Pool     *pgxpool.Pool // the host's own; DSN is empty then
	Schema   string
	MaxConns int // 0 or less: all of Pool
	// Process is set if a commit needn't survive a crash of the server.
	Process bool
}

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// Open returns a pool of its own, or one that takes its connections from c.Pool and gives each back
// after its use. It doesn't connect yet.
func Open(c Config) (*sql.DB, error) {
	if !schemaName.MatchString(c.Schema) {
		return nil, fmt.Errorf(
			"Config.Schema is %q; it must be lower-case letters, digits and _, at most 63, and not begin with a digit",
			c.Schema)
	}
	if c.Pool != nil {
		if c.DSN != "" {
			return nil, errors.New("Config.DSN and Config.Pool are both set; set the one that is meant")
		}
		pool := stdlib.OpenDBFromPool(c.Pool)
		pool.SetMaxOpenConns(c.MaxConns)
		return pool, nil
	}
	conf, err := pgx.ParseConfig(c.DSN)
	if err != nil {
		// pgx leaves the password out
		return nil, fmt.Errorf("Config.DSN can't be read; it must be a URL or key=value pairs: %w", err)
	}
	conf.ConnectTimeout = cmp.Or(conf.ConnectTimeout, 10*time.Second)
	pool := stdlib.OpenDB(*conf, stdlib.OptionAfterConnect(c.configure))
	pool.SetMaxOpenConns(c.MaxConns)
	pool.SetMaxIdleConns(c.MaxConns)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	pool.SetConnMaxLifetime(time.Hour)
	return pool, nil
}

// Connect opens a connection beside the pool: to its server, as its user.
func (c Config) Connect(ctx context.Context) (*pgx.Conn, error) {
	if c.Pool == nil {
		return pgx.Connect(ctx, c.DSN)
	}
	pool := c.Pool.Config()
	if pool.BeforeConnect != nil { // it may have to fetch a password
		if err := pool.BeforeConnect(ctx, pool.ConnConfig); err != nil {
			return nil, err
		}
	}
	return pgx.ConnectConfig(ctx, pool.ConnConfig)
}

// configure makes a new connection, which isn't of the host's pool, as durable as it has to be.
func (c Config) configure(ctx context.Context, conn *pgx.Conn) error {
	statement :=
		"SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
	if c.Process {
		statement = "SET synchronous_commit = off"
	}
	_, err := conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol)
	return err
}

// Check returns an error if the server can't keep what a store promises.
func (c Config) Check(ctx context.Context, pool *sql.DB) error {
	var encoding, commit string
	err := pool.QueryRowContext(ctx,
		"SELECT current_setting('server_encoding'), current_setting('synchronous_commit')").Scan(&encoding, &commit)
	switch {
	case err != nil:
		return err
	case encoding != "UTF8":
		return fault.Errorf(fault.UserFixable, "the database's encoding is %s; create one with UTF8", encoding)
	case commit == "off" && !c.Process:
		return fault.New(fault.UserFixable, "the connections of Config.Pool have synchronous_commit off, so a crash of the server could "+
			"lose what was stored; leave it on")
	}
	return nil
}

// LockSchema excludes all others that create or change the tables of a schema until the transaction
// ends.
func LockSchema(ctx context.Context, tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, schema string) error {
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", "pawl journal "+schema)
	return err
}
