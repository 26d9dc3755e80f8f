package pgmemory

import (
	"context"
	"database/sql"
	"time"

	"github.com/pawlkit/pawl/internal/pgpool"
	"github.com/pawlkit/pawl/internal/sqlrecall"
)

// A database runs the statements of a [sqlrecall.Store] on a pool of connections.
type database struct {
	pool    *sql.DB
	timeout time.Duration
}

var _ sqlrecall.Database = (*database)(nil)

// dialect says how PostgreSQL's statements differ. A change waits for the others of its tenant by a
// lock that ends with the transaction, so that it needs no connection of its own.
func dialect(schema string) sqlrecall.Dialect {
	return sqlrecall.Dialect{Prefix: `"` + schema + `".`, Dollar: true,
		Lock: "SELECT pg_advisory_xact_lock(hashtextextended('pawl memory " + schema + " ' || ?1::text, 0))"}
}

// migrations update the tables from one version to the next; the first creates them. Never change
// one, only append.
var migrations = [][]string{{
	`CREATE TABLE @recall (
		tenant  text COLLATE "C" NOT NULL,
		kind    text COLLATE "C" NOT NULL,
		key     text COLLATE "C" NOT NULL,
		version bigint NOT NULL,
		value   bytea NOT NULL,
		PRIMARY KEY (tenant, kind, key)
	)`,
	`CREATE TABLE @recall_tenants (
		tenant  text COLLATE "C" PRIMARY KEY,
		last    bigint NOT NULL,
		entries bigint NOT NULL,
		bytes   bigint NOT NULL
	)`,
	`CREATE TABLE @recall_texts (
		tenant  text COLLATE "C" NOT NULL,
		session text COLLATE "C" NOT NULL,
		handle  text COLLATE "C" NOT NULL,
		turn    bigint NOT NULL,
		size    bigint NOT NULL,
		text    bytea NOT NULL,
		PRIMARY KEY (tenant, session, handle)
	)`,
	"CREATE INDEX recall_texts_turns ON @recall_texts (tenant, session, turn)",
	`CREATE TABLE @recall_scopes (
		tenant  text COLLATE "C" NOT NULL,
		session text COLLATE "C" NOT NULL,
		last    bigint NOT NULL,
		bytes   bigint NOT NULL,
		PRIMARY KEY (tenant, session)
	)`,
}}

const (
	makeSchema = "CREATE SCHEMA IF NOT EXISTS "
	makeMeta   = "CREATE TABLE IF NOT EXISTS @recall_meta (one bigint PRIMARY KEY CHECK (one = 1), version bigint NOT NULL)"
	hasMeta    = "SELECT to_regclass('@recall_meta') IS NOT NULL"
)

// prepare creates the schema and the tables, or brings them up to date.
func (db *database) prepare(ctx context.Context, from pgpool.Config, noMigrate bool) error {
	if err := from.Check(ctx, db.pool); err != nil {
		return err
	}
	d, exists := dialect(from.Schema), false
	if err := db.pool.QueryRowContext(ctx, d.SQL(hasMeta)).Scan(&exists); err != nil {
		return err
	}
	if exists { // if the tables are up to date, no permission to create any is needed
		if current, err := sqlrecall.Current(ctx, db.pool, d, migrations); current || err != nil {
			return err
		}
	}
	if noMigrate {
		return ErrOlder
	}
	return pgpool.Transaction(ctx, db.pool, func(ctx context.Context, tx *sql.Tx) error {
		// A second process waits here, and then finds the tables up to date.
		if err := pgpool.LockSchema(ctx, tx, from.Schema); err != nil {
			return err
		}
		setup := []string{makeSchema + `"` + from.Schema + `"`, makeMeta, sqlrecall.FillMeta}
		return sqlrecall.Migrate(ctx, tx, d, setup, migrations)
	})
}

// Write implements [sqlrecall.Database].
func (db *database) Write(ctx context.Context, fn func(context.Context, *sql.Tx) error) error {
	return db.limited(ctx, func(ctx context.Context) error {
		return pgpool.Retry(ctx, func(ctx context.Context) error { return pgpool.Transaction(ctx, db.pool, fn) })
	})
}

// Read implements [sqlrecall.Database].
func (db *database) Read(ctx context.Context, fn func(context.Context, *sql.DB) error) error {
	return db.limited(ctx, func(ctx context.Context) error { return fn(ctx, db.pool) })
}

// limited runs a call within its timeout.
func (db *database) limited(ctx context.Context, call func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, db.timeout)
	defer cancel()
	err := call(limited)
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // whatever the driver makes of it
	}
	return err
}
