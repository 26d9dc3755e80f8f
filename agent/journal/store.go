package journal

import (
	"context"
	"iter"
	"math"
	"time"
)

// All makes [Store.Delete] remove a session whole.
const All uint64 = math.MaxUint64

// A Store keeps sessions. It is safe for concurrent use, by several processes if it says so.
//
// Every method refuses a request that could never be right with an [*InvalidError], and returns an error that wraps ctx.Err()
// when ctx has ended before it began. Slices handed in are copied, slices handed out belong to the caller. A caller may use the
// store from the body of a loop over one of its sequences.
//
// Session names and ids are compared, and sessions sorted, byte by byte: no case folding, no normalisation.
type Store interface {
	// Append adds records to a session, and with them changes its head and inbox.
	//
	// It is judged in this order. A fence that isn't the newest, or whose lease was released, is a [*ConflictError]. If the
	// very records of a (same time, kind, version and data) already stand after a.After, appended under the same fence, this is
	// the same append again: it succeeds and changes nothing. If a.After isn't the number of the last record, it is a
	// [*ConflictError]. Else all of a is kept, and kept for good in the sense that the store documents, before Append
	// returns nil.
	//
	// The fence comes first on purpose: a writer that has lost its lease is told so even if its records stand, because it
	// must not proceed to the effects that they announce. A conflict therefore says "you are not the writer", not "your
	// records aren't there".
	//
	// After any error for which [Unclear] holds the caller doesn't know whether a was kept. It tries the same append again,
	// unchanged, until it gets nil or a conflict. An append without records can't be recognised: again, it is judged by its
	// numbers, and does no harm.
	Append(ctx context.Context, a Append) error

	// Read yields the records of a session with numbers above after, in order and without gaps. Records appended meanwhile may
	// follow or not. An unknown session has none. The sequence ends after its first error.
	//
	// If records above after have been pruned, it yields a [*PrunedError] and nothing else; if that happens while it is under
	// way, it continues unharmed or yields that error, but never skips. When ctx ends it yields an error that wraps ctx.Err()
	// in place of the next record, or of the end. Breaking out leaves nothing behind. Each range over the sequence reads anew.
	Read(ctx context.Context, session string, after uint64) iter.Seq2[Record, error]

	// Head returns the head of a session, and [ErrNoSession] if there is none by that name. A session exists from its first
	// append or lease until it is deleted whole.
	Head(ctx context.Context, session string) (Head, error)

	// Heads yields the heads that f asks for, in the order of their names. Each is consistent in itself; sessions that
	// come, go or change meanwhile may be missed. Errors, breaks and ctx are as in Read.
	Heads(ctx context.Context, f Filter) iter.Seq2[Head, error]

	// Lease gives owner the right to write to a session for ttl, which is above 0 and at most [MaxTTL]. A live lease
	// of another owner is a [*HeldError]. Otherwise, also from itself, owner gets a lease with a new fence, and every fence before
	// it is stale from then on. An owner is therefore one writer: who runs several at a time gives each a name of its own.
	Lease(ctx context.Context, session, owner string, ttl time.Duration) (Lease, error)

	// Renew extends l to ttl from now, and keeps its fence. It may come late: a lease that ran out is renewed if nobody has
	// taken it. If it was taken or released, that is a [*ConflictError].
	Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error)

	// Release gives l back, so that another needn't wait for its end. Its fence is stale from then on. Releasing what was
	// released or taken already does nothing.
	Release(ctx context.Context, l Lease) error

	// Post puts an item into the inbox of a session. It needs no lease. If the session doesn't exist it returns [ErrNoSession]; if
	// its inbox has, or ever had, an item with that id, or the id was closed by [Append].Taken, nothing changes and it returns
	// a [*PostedError]: the first wins. Ids are remembered until the session is deleted whole.
	//
	// After an unclear error the same post again returns nil or a [*PostedError]. Which of two posters it was that
	// came first is then told by the item, or by the log.
	Post(ctx context.Context, session string, it Item) error

	// Take returns the items in the inbox, oldest first, and removes none of them: an item leaves with the [Append] that names it
	// in Taken. So what was taken but not yet journaled when a process died is there for the next one. A fence that wouldn't do for an
	// append is a [*ConflictError]. An unknown session has no items.
	Take(ctx context.Context, session string, fence uint64) ([]Item, error)

	// Delete removes the records of a session up to and including number upTo; numbering continues as if they were there. With
	// [All] it removes the session whole, with head, lease, inbox and ids: the name is free for a new session, and fences
	// given out for it later are still above those before. An unknown session is no error.
	//
	// Delete asks for no lease. Whoever deletes a session that is being written to stops its writer with a conflict.
	Delete(ctx context.Context, session string, upTo uint64) error
}
