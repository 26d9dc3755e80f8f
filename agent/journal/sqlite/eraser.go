package sqlite

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
		{Where: "the file's unused pages and its write-ahead log have what was replaced until the file is rebuilt " +
			"and the log is emptied; the last statement returns a row, and if its first column isn't 0, somebody else " +
			"was reading or writing: run it again",
			Run: []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"}},
		{Where: "backups and copies of the file, and snapshots of its disk, have it: delete those that are older"},
	}
}
