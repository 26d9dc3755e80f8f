// Package pgpool has what the stores in PostgreSQL do alike: connect, or take connections from a
// pool of the host's, and run transactions.
//
//	db, err := pgpool.Open(pgpool.Config{DSN: dsn, MaxConns: 8})
//	err = pgpool.Retry(ctx, func(ctx context.Context) error {
//		return pgpool.Transaction(ctx, db, func(ctx context.Context, tx *sql.Tx) error { … })
//	})
//
// Errors of [Open] name the fields of the Config that a store exports: its own has fields of the
// same names.
package pgpool
