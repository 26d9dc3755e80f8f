package sqlrecall

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
)

// ErrNewer means that a newer version of Pawl has created the tables. Its class is
// fault.UserFixable.
var ErrNewer = fault.New(fault.UserFixable, "the tables were created by a newer version of Pawl; use that version")

// FillMeta makes the row with the version, which is 0 at first.
const FillMeta = "INSERT INTO @recall_meta (one, version) VALUES (1, 0) ON CONFLICT DO NOTHING"

// Migrate creates or updates the tables, within one transaction that excludes concurrent
// migrations. setup makes the table with the version, if it isn't there, and its row.
// migrations[0] creates the tables of version 1, migrations[1] changes them to version 2, and so
// on.
func Migrate(ctx context.Context, tx *sql.Tx, d Dialect, setup []string, migrations [][]string) error {
	for _, statement := range setup {
		if _, err := tx.ExecContext(ctx, d.SQL(statement)); err != nil {
			return err
		}
	}
	version, err := version(ctx, tx, d, len(migrations))
	if err != nil {
		return err
	}
	for ; version < len(migrations); version++ {
		for _, statement := range migrations[version] {
			if _, err := tx.ExecContext(ctx, d.SQL(statement)); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, d.SQL("UPDATE @recall_meta SET version = ?1"), version+1); err != nil {
			return err
		}
	}
	return nil
}

// Current reports whether the tables, of which the one with the version exists, are up to date.
func Current(ctx context.Context, db *sql.DB, d Dialect, migrations [][]string) (bool, error) {
	version, err := version(ctx, db, d, len(migrations))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return version == len(migrations), err
}

// version returns the version of the tables, which is at most newest.
func version(ctx context.Context, on querier, d Dialect, newest int) (version int, err error) {
	err = on.QueryRowContext(ctx, d.SQL("SELECT version FROM @recall_meta")).Scan(&version)
	switch {
	case err != nil:
		return 0, err
	case version < 0:
		return 0, fmt.Errorf("the version of the tables is damaged: it is %d; restore them from a backup", version)
	case version > newest:
		return 0, fmt.Errorf("%w: they have version %d, this program supports %d", ErrNewer, version, newest)
	}
	return version, nil
}
