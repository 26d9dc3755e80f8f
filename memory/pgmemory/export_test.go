package pgmemory

import "database/sql"

// Pool lets tests look at a store's connections.
func Pool(s *Store) *sql.DB { return s.db.pool }

// WithMigration adds a version to come until the function it returns is called.
func WithMigration(statements ...string) func() {
	now := migrations
	migrations = append(now[:len(now):len(now)], statements)
	return func() { migrations = now }
}

var (
	ErrPrepared = errPrepared
	ErrReadOnly = errReadOnly
)
