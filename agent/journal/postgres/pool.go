package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// connect returns a pool of the store's own, or one that takes its connections from Config.Pool and
// gives each back after its use.
func (c Config) connect() (*sql.DB, error) {
	if c.Pool != nil {
		pool := stdlib.OpenDBFromPool(c.Pool)
		pool.SetMaxOpenConns(c.MaxConns)
		return pool, nil
	}
	conf, err := pgx.ParseConfig(c.DSN)
	if err != nil {
		// pgx leaves the password out
		return nil, fmt.Errorf("postgres: Config.DSN can't be read; it must be a URL or key=value pairs: %w", err)
	}
	conf.ConnectTimeout = cmp.Or(conf.ConnectTimeout, 10*time.Second)
	pool, most := stdlib.OpenDB(*conf, stdlib.OptionAfterConnect(c.Durability.configure)), cmp.Or(c.MaxConns, 8)
	pool.SetMaxOpenConns(most)
	pool.SetMaxIdleConns(most)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	pool.SetConnMaxLifetime(time.Hour)
	return pool, nil
}

// check returns an error if the server can't keep what the store promises.
func (c Config) check(ctx context.Context, pool *sql.DB) error {
	var encoding, commit string
	err := pool.QueryRowContext(ctx,
		"SELECT current_setting('server_encoding'), current_setting('synchronous_commit')").Scan(&encoding, &commit)
	switch {
	case err != nil:
		return err
	case encoding != "UTF8":
		return fmt.Errorf("the database's encoding is %s; create one with UTF8", encoding)
	case commit == "off" && c.Durability == Power:
		return errors.New("the connections of Config.Pool have synchronous_commit off; leave it on, or set " +
			"Config.Durability to Process")
	}
	return nil
}

// configure makes a new connection of the store's own as durable as d says.
func (d Durability) configure(ctx context.Context, conn *pgx.Conn) error {
	statement :=
		"SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
	if d == Process {
		statement = "SET synchronous_commit = off"
	}
	_, err := conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol)
	return err
}
