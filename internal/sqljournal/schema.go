package sqljournal

import (
	"context"
	"errors"
	"fmt"
)

// ErrNewer means that a newer version of the package has created or changed the tables. They can't
// be used then, because this version would lose data that it doesn't know.
var ErrNewer = errors.New(
	"the journal's tables are of a newer version; use the version of Pawl that created them, or a later one")

// ErrOlder means that the tables don't exist or are of an older version, and may not be changed by
// whoever opens them.
var ErrOlder = errors.New(
	"the journal's tables don't exist or are of an older version; a program that may migrate them has to open them first")

// Migrate updates the tables, within one transaction that excludes concurrent migrations.
// migrations[0] creates the tables of version 1, migrations[1] changes them to version 2, and so
// on. Statements have the form of [Dialect].SQL. Version 0 means that there are no tables.
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
