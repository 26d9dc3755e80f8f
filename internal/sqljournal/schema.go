package sqljournal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent/journal"
)

// ErrNewer means that a newer version of the package has created or changed the tables. They can't
// be used then, because this version would lose data that it doesn't know.
var ErrNewer = errors.New(
	"the journal's tables are of a newer version; use the version of Pawl that created them, or a later one")

// ErrOlder means that the tables don't exist or are of an older version, and may not be changed by
// whoever opens them.
var ErrOlder = errors.New(
	"the journal's tables don't exist or are of an older version; a program that may migrate them has to open them first")

// errVersion says that the version of the tables is damaged. What else is damaged isn't known then.
var errVersion = journal.Unusable(
	"the version of the journal's tables is damaged; restore the journal from a backup")

const readVersion = "SELECT version FROM @meta"

// Current reports whether the tables exist and are up to date, so that nothing needs to be written.
// exists is a query that says whether the table with the version exists.
func Current(ctx context.Context, pool *sql.DB, d Dialect, exists string, migrations [][]string) (bool, error) {
	var there bool
	if err := pool.QueryRowContext(ctx, d.SQL(exists)).Scan(&there); err != nil || !there {
		return false, err
	}
	version, err := versionIn(pool.QueryRowContext(ctx, d.SQL(readVersion)), migrations)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return version == len(migrations), err
}

// Migrate creates or updates the tables, within one transaction that excludes concurrent
// migrations. setup makes the table with the version, if it isn't there, and its row with version
// 0. migrations[0] creates the tables of version 1, migrations[1] changes them to version 2, and so
// on. Statements have the form of [Dialect].SQL.
func Migrate(ctx context.Context, tx Tx, d Dialect, setup []string, migrations [][]string) error {
	for _, statement := range setup {
		if _, err := tx.ExecContext(ctx, d.SQL(statement)); err != nil {
			return err
		}
	}
	version, err := versionIn(tx.QueryRowContext(ctx, d.SQL(readVersion)), migrations)
	if err != nil || version == len(migrations) {
		return err
	}
	for i, statements := range migrations[version:] {
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, d.SQL(statement)); err != nil {
				return fmt.Errorf("migrating the journal's tables to version %d: %w", version+1+i, err)
			}
		}
	}
	_, err = tx.ExecContext(ctx, d.SQL("UPDATE @meta SET version = ?1"), len(migrations))
	return err
}

// versionIn returns the version of the tables.
func versionIn(found Row, migrations [][]string) (int, error) {
	var version any
	if err := found.Scan(&version); err != nil {
		return 0, err
	}
	return checkVersion(version, migrations)
}

func checkVersion(version any, migrations [][]string) (int, error) {
	v, ok := version.(int64)
	switch {
	case !ok || v < 0:
		return 0, fmt.Errorf("%w (it is %v; it must be a number from 0 to %d)", errVersion, version, len(migrations))
	case v > int64(len(migrations)):
		return 0, fmt.Errorf("%w (they have version %d, this one knows up to %d)", ErrNewer, v, len(migrations))
	}
	return int(v), nil
}
