package pgmemory

import (
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/pgpool"
	"github.com/pawlkit/pawl/internal/sqlrecall"
)

// The errors of a call, besides those of package recall. They are in the error chain together with
// the server's error, a *pgconn.PgError.
var (
	// errFull means that the server's disk is full. Its class is fault.UserFixable.
	errFull = fault.New(fault.UserFixable, "the server's disk is full; make room on it")
	// errReadOnly means that the server accepts no changes. Its class is fault.UserFixable.
	errReadOnly = fault.New(fault.UserFixable,
		"the server accepts no changes; connect to the primary (target_session_attrs=read-write)")
	// errPrepared means that a pooler mixes up prepared statements. Its class is fault.UserFixable.
	errPrepared = fault.New(fault.UserFixable, pgpool.Remedy)
	// ErrNewer means that a newer version of Pawl has created the tables. Its class is
	// fault.UserFixable.
	ErrNewer = sqlrecall.ErrNewer
	// ErrOlder means that Config.NoMigrate is set and that the tables don't exist, or are older.
	// Its class is fault.UserFixable.
	ErrOlder = fault.New(fault.UserFixable, "the tables of the working memory don't exist or are of an older "+
		`version; "pawl migrate -memory", or a program without NoMigrate, has to open them first`)
)

// Class implements [sqlrecall.Database].
func (db *database) Class(err error) error {
	switch state := pgpool.State(err); {
	case state == "53100" || state == "":
	case slices.Contains([]string{
		"08", // a connection
		"40", // another transaction
		"53", // too many connections, or no memory
		"57", // the server ends, or was told to end the statement
	}, state[:2]):
		return fault.Wrap(fault.Transient, err)
	}
	return pgpool.Errors{Full: errFull, ReadOnly: errReadOnly, Prepared: errPrepared}.Class(err)
}
