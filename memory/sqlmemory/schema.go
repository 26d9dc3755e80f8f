package sqlmemory

import (
	"context"
	"database/sql"

	"github.com/pawlkit/pawl/internal/sqlitefile"
	"github.com/pawlkit/pawl/internal/sqlrecall"
)

// dialect says how SQLite's statements differ.
var dialect = sqlrecall.Dialect{Prefix: "pawl_"}

// migrations update the tables from one version to the next; the first creates them. Never change
// one, only append.
var migrations = [][]string{{
	`CREATE TABLE @recall (
		tenant  TEXT    NOT NULL,
		kind    TEXT    NOT NULL,
		key     TEXT    NOT NULL,
		version INTEGER NOT NULL,
		value   BLOB    NOT NULL,
		PRIMARY KEY (tenant, kind, key)
	) WITHOUT ROWID`,
	`CREATE TABLE @recall_tenants (
		tenant  TEXT    NOT NULL PRIMARY KEY,
		last    INTEGER NOT NULL,
		entries INTEGER NOT NULL,
		bytes   INTEGER NOT NULL
	) WITHOUT ROWID`,
}, {
	`CREATE TABLE @recall_texts (
		tenant  TEXT    NOT NULL,
		session TEXT    NOT NULL,
		handle  TEXT    NOT NULL,
		turn    INTEGER NOT NULL,
		size    INTEGER NOT NULL,
		text    BLOB    NOT NULL,
		UNIQUE (tenant, session, handle)
	)`,
	"CREATE INDEX @recall_texts_turns ON @recall_texts (tenant, session, turn, size)",
	`CREATE TABLE @recall_scopes (
		tenant  TEXT    NOT NULL,
		session TEXT    NOT NULL,
		last    INTEGER NOT NULL,
		bytes   INTEGER NOT NULL,
		PRIMARY KEY (tenant, session)
	) WITHOUT ROWID`,
}}

const makeMeta = `CREATE TABLE IF NOT EXISTS @recall_meta (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL)`

// prepare sets up the file: write-ahead logging, and the tables of this version.
func (db *database) prepare(ctx context.Context) error {
	if err := sqlitefile.WAL(ctx, db.pool, db.busy); err != nil {
		return err
	}
	return db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return sqlrecall.Migrate(ctx, tx, dialect, []string{makeMeta, sqlrecall.FillMeta}, migrations)
	})
}
