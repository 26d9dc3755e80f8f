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
