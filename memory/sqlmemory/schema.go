package sqlmemory

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

// migrations update the tables from one version to the next; the first creates them. Never change
// one, only append.
var migrations = []string{
	`CREATE TABLE pawl_recall (
		tenant  TEXT    NOT NULL,
		kind    TEXT    NOT NULL,
		key     TEXT    NOT NULL,
		version INTEGER NOT NULL,
		value   BLOB    NOT NULL,
		PRIMARY KEY (tenant, kind, key)
	) WITHOUT ROWID;
	CREATE TABLE pawl_recall_tenants (
		tenant  TEXT    NOT NULL PRIMARY KEY,
		last    INTEGER NOT NULL,
		entries INTEGER NOT NULL,
		bytes   INTEGER NOT NULL
	) WITHOUT ROWID`,
	// turn is the number of the put; the text with the lowest was put longest ago.
	`CREATE TABLE pawl_recall_texts (
		tenant  TEXT    NOT NULL,
		session TEXT    NOT NULL,
		handle  TEXT    NOT NULL,
		turn    INTEGER NOT NULL,
		size    INTEGER NOT NULL,
		text    BLOB    NOT NULL,
		UNIQUE (tenant, session, handle)
	);
	CREATE INDEX pawl_recall_texts_turns ON pawl_recall_texts (tenant, session, turn, size);
	CREATE TABLE pawl_recall_scopes (
		tenant  TEXT    NOT NULL,
		session TEXT    NOT NULL,
		last    INTEGER NOT NULL,
		bytes   INTEGER NOT NULL,
		PRIMARY KEY (tenant, session)
	) WITHOUT ROWID`,
}

const (
	makeMeta = `CREATE TABLE IF NOT EXISTS pawl_recall_meta (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL)`
	fillMeta = `INSERT OR IGNORE INTO pawl_recall_meta (one, version) VALUES (1, 0)`
	readMeta = `SELECT version FROM pawl_recall_meta`
	setMeta  = `UPDATE pawl_recall_meta SET version = ?`
)

// prepare sets up the file: write-ahead logging, and the tables of this version.
func (s *Store) prepare(ctx context.Context) error {
	if err := sqlitefile.WAL(ctx, s.db, s.busy); err != nil {
		return err
	}
	return s.transact(ctx, migrate)
}

func migrate(ctx context.Context, tx *sql.Tx) error {
	version, err := versionOf(ctx, tx)
	if err != nil {
		return err
	}
	if version < 0 {
		return fmt.Errorf("the version of the tables is damaged: it is %d; restore the file from a backup", version)
	}
	if version > len(migrations) {
		return fmt.Errorf("%w: they have version %d, this program supports %d", ErrNewer, version, len(migrations))
	}
	for ; version < len(migrations); version++ {
		if _, err := tx.ExecContext(ctx, migrations[version]); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, setMeta, version+1); err != nil {
			return err
		}
	}
	return nil
}

func versionOf(ctx context.Context, tx *sql.Tx) (version int, err error) {
	for _, statement := range []string{makeMeta, fillMeta} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return 0, err
		}
	}
	err = tx.QueryRowContext(ctx, readMeta).Scan(&version)
	return version, err
}
