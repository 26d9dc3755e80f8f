package postgres

import (
	"context"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

var _ journal.Eraser = (*Store)(nil)

func (s *Store) shared() *sqljournal.Store { return s.Store.(*sqljournal.Store) }

// Rewrite implements [journal.Eraser].
func (s *Store) Rewrite(ctx context.Context, r journal.Rewrite) error {
	return s.shared().Rewrite(ctx, r)
}

// Inbox implements [journal.Eraser].
func (s *Store) Inbox(ctx context.Context, session string) ([]journal.Item, error) {
	return s.shared().Inbox(ctx, session)
}

// DropAllowances implements [journal.Eraser].
func (s *Store) DropAllowances(ctx context.Context, drop func(name, key string) bool) (int, error) {
	return s.shared().DropAllowances(ctx, drop)
}

// Remains implements [journal.Eraser].
func (s *Store) Remains() []journal.Remains {
	return []journal.Remains{
		{Where: "the tables have the old versions of rows until they are rebuilt, for which each is locked, and the " +
			"planner's statistics (pg_statistic) have samples until they are analyzed", Run: s.vacuum()},
		{Where: "the write-ahead log, replicas' included, has it until its files are used again after a checkpoint; an " +
			"archive of it, dumps and backups have it: delete those that are older", Run: []string{"CHECKPOINT"}},
	}
}

// vacuum returns the statements that rebuild the tables and take new samples.
func (s *Store) vacuum() (statements []string) {
	for _, table := range []string{"records", "items", "sessions", "allowances"} {
		statements = append(statements, s.db.dialect.SQL("VACUUM (FULL, ANALYZE) @"+table))
	}
	return statements
}
