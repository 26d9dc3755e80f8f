package sqljournal

import (
	"context"
	"errors"
	"fmt"
)

// ErrNewer says that the tables were made, or changed, by a newer version of the package. Nothing is read or written then:
// what the older one doesn't know it couldn't keep.
var ErrNewer = errors.New("the journal's tables are of a newer version; use the version of Pawl that made them, or a later one")

// Migrate brings the tables up to date, within one transaction that shuts out all others that would do the same. The first
// migrations[0] makes the tables of version 1, and so on; statements are written as for [Dialect].SQL. Version 0 is: there are none.
func Migrate(ctx context.Context, tx Tx, d Dialect, version int, migrations [][]string) error {
	if err := Check(version, migrations); err != nil {
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

// Check returns an error that wraps [ErrNewer] if tables of a version can't be used.
func Check(version int, migrations [][]string) error {
	if version > len(migrations) {
		return fmt.Errorf("%w (they have version %d, this one knows up to %d)", ErrNewer, version, len(migrations))
	}
	return nil
}
