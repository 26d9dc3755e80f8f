package sqljournal

import (
	"context"
	"errors"
	"fmt"
)

// ErrNewer says that a newer version of the package has created or changed the tables. They are neither read nor written then,
// because this version would lose what it doesn't know.
var ErrNewer = errors.New("the journal's tables are of a newer version; use the version of Pawl that created them, or a later one")

// Migrate brings the tables up to date, within one transaction that excludes all others that would do the same. Migrations[0] creates the
// tables of version 1, migrations[1] changes them to version 2, and so on. Statements are written as for [Dialect].SQL. Version 0
// means that there are no tables.
func Migrate(ctx context.Context, tx Tx, d Dialect, version int, migrations [][]string) error {
	if err := CheckVersion(version, migrations); err != nil {
		return err
	}
	if version == len(migrations) {
		return nil
	}
	for i, statements := range migrations[version:] {
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, d.SQL(statement)); err != nil {
				return fmt.Errorf("migrating the journal's tables to version %d: %w", version+1+i, err)
			}
		}
	}
	_, err := tx.ExecContext(ctx, d.SQL("UPDATE @meta SET version = ?1"), len(migrations))
	return err
}

// CheckVersion returns an error that wraps [ErrNewer] if tables of a version can't be used.
func CheckVersion(version int, migrations [][]string) error {
	if version > len(migrations) {
		return fmt.Errorf("%w (they have version %d, this one knows up to %d)", ErrNewer, version, len(migrations))
	}
	return nil
}
