package sqlmemory

import (
	"context"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/recall"
)

// Texts returns the [memory.Store] of a session: what compaction removed from its conversation, to
// be read back by its handle. A scope without a session is a scope of its own, which the tenant's
// conversations share.
//
// It holds up to Config.TextBytes and then deletes the texts whose last Put was longest ago. A Put
// of an existing handle makes it the newest and keeps the stored text. Texts are stored unchanged:
// unlike the notes of package recall they aren't searched for secrets. Calls fail for a scope
// without a tenant, or with a name that is invalid in a [recall.Scope].
//
// The texts of a session aren't deleted automatically: see [Store.Forget].
func (s *Store) Texts(scope recall.Scope) memory.Store { return s.shared.Texts(scope) }

// Forget deletes the texts of a session, or for a scope without a session all texts of its tenant.
// The notes of a session are deleted by [recall.ForgetSession], all other entries of a tenant by
// [recall.ForgetTenant].
func (s *Store) Forget(ctx context.Context, scope recall.Scope) error {
	return s.shared.Forget(ctx, scope)
}

// Erase replaces words in the entries and texts of all tenants by with, such as "[erased]", and
// returns in how many. match gets each text and returns the words in it, as they stand there: see
// Find of package agent, which does it in a journal. An entry that was replaced has a new version,
// so whoever has read it before can't write it back. One that is written meanwhile is left, and so
// are the rest after an error: repeat Erase until it returns 0.
//
// Names stay, and Erase returns those that have such a word, as in `tenant "t", kind "fact", key
// "ann.phone"`: remove them by [recall.ForgetTenant], [recall.ForgetSession], [Store.Forget] or
// Delete. A text keeps its handle, which is a hash of what it was.
//
// Its file has the old words until it was rebuilt and its log emptied: run VACUUM and then
// PRAGMA wal_checkpoint(TRUNCATE), which returns a row whose first column is 0 if it was, and
// delete older backups.
func (s *Store) Erase(ctx context.Context, match func(text string) []string, with string) (int, []string,
	error) {
	return s.shared.Erase(ctx, match, with)
}
