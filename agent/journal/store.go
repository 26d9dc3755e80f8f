package journal

import (
	"context"
	"iter"
	"math"
	"time"
)

// All makes [Store.Delete] delete a whole session.
const All uint64 = math.MaxUint64

// A Store keeps sessions. It is safe for concurrent use, by several processes if it says so.
//
// Every method refuses an invalid request with an [*InvalidError], and returns an error that wraps
// ctx.Err() if ctx has ended before it began. Slices passed in are copied, slices returned belong
// to the caller. A caller may use the store from the body of a loop over one of its sequences.
//
// Every method returns soon after the end of ctx, also while it waits for a lock, a disk or a
// server: with an error that wraps ctx.Err(), or as if ctx hadn't ended. After such an error of a
// method that changes something it is open whether it did, so it can be repeated.
//
// Package agent ends each call by its context: an append or a deletion after 30 s, any other call
// and the wait for the next element of a sequence after 10 s, and what was begun for a run with the
// run's context, except an append. A call that hasn't returned 5 s after that is abandoned: it is
// counted by Agent.Abandoned, and its result is dropped. It may still take effect, like any append
// whose outcome is unclear. Its goroutine and what it holds stay in use until it returns.
//
// Session names and ids are compared, and sessions sorted, byte by byte: without case folding or
// normalization.
type Store interface {
	// Append adds records to a session, and changes its head and inbox with them. It checks, in
	// this order:
	//
	//  1. A fence that isn't that of the session's newest lease, or whose lease was released, is a
	//     [*ConflictError]. A session that doesn't exist has no lease, so any fence but 0 is a
	//     conflict: a writer can't bring back a session that was deleted.
	//  2. If the same records (time, kind, version and data) are in the log after a.After, appended
	//     with the same fence, this is the same append again. It succeeds and changes nothing.
	//  3. If a.After isn't the number of the last record, it is a [*ConflictError].
	//  4. If a.Quiet is set and something is in the inbox, it is an [ErrInbox].
	//
	// Otherwise all of a is stored, as durably as the store documents, before Append returns nil.
	//
	// The fence comes first on purpose: a writer that has lost its lease learns it even if its
	// records are in the log, because it must not start the effects that they announce. A conflict
	// therefore says "you are not the writer", not "your records aren't there".
	//
	// After an error for which [Unclear] is true, the caller doesn't know whether a was stored. It
	// repeats the same append, unchanged, until it gets nil or a conflict, or gives up; an error
	// that is [ErrUnusable] won't go away by itself. An append without records can't be recognized:
	// a repetition is checked by its numbers, and does no harm.
	//
	// Append keeps neither a.Records nor a.Taken, which the caller may use again. What they refer
	// to isn't changed.
	Append(ctx context.Context, a Append) error

	// Read yields the records of a session with numbers above after, in order and without gaps.
	// Records appended meanwhile may follow or not. An unknown session has none. The sequence ends
	// after its first error.
	//
	// If records above after were pruned, it yields only a [*PrunedError]. If they are pruned
	// during the loop, it goes on or yields that error, but never skips a record. When ctx ends it
	// yields an error that wraps ctx.Err() in place of the next record, or of the end. Breaking out
	// of the loop leaks nothing. Each loop over the sequence reads again.
	Read(ctx context.Context, session string, after uint64) iter.Seq2[Record, error]

	// Head returns the head of a session, or [ErrNoSession] if there is no session of that name. A
	// session exists from its first append or lease until it is deleted whole.
	Head(ctx context.Context, session string) (Head, error)

	// Heads yields the heads that f selects, in the order that f asks for. Each is consistent in
	// itself; sessions that are created, deleted or changed meanwhile may be missed. An error with
	// a head that names a session is about that session alone, which f may or may not select, and
	// the sequence goes on. Otherwise errors, breaks and ctx are as in Read.
	Heads(ctx context.Context, f Filter) iter.Seq2[Head, error]

	// Lease gives owner the right to write to a session for ttl, which is above 0 and at most
	// [MaxTTL]. If another owner has a lease that hasn't ended, it returns a [*HeldError].
	// Otherwise owner gets a lease with a new fence, even if it has one already, and every earlier
	// fence is stale from then on. So an owner is one writer: concurrent writers need different
	// owner names.
	Lease(ctx context.Context, session, owner string, ttl time.Duration) (Lease, error)

	// Renew extends l to ttl from now, and keeps its fence. A lease that has ended can still be
	// renewed if no other owner has taken it. If it was taken or released, or the session was
	// deleted, Renew returns a [*ConflictError].
	Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error)

	// Release ends l, so that another owner needn't wait for it. Its fence is stale from then on.
	// It is no error if l was released or taken already, or if the session was deleted.
	Release(ctx context.Context, l Lease) error

	// Post puts an item into the inbox of a session, and closes the ids in it.Closes. It needs no
	// lease. It returns [ErrNoSession] if the session doesn't exist, and a [*PostedError] if it.ID
	// or one of it.Closes was used before: an item with that id was posted, or the id was closed by
	// [Append].Taken or by another item. The first one wins, and a refused post changes nothing.
	// Ids are remembered until the session is deleted whole.
	//
	// After an unclear error the same post again returns nil or a [*PostedError]. Which of two
	// posts came first is then to be seen from the item, or from the log.
	Post(ctx context.Context, session string, it Item) error

	// Take returns the items in the inbox, oldest first, and removes none of them: the [Append]
	// that names an item in Taken removes it. So what a process had taken but not yet appended when
	// it crashed is there for the next one. A fence that Append would refuse is a [*ConflictError].
	// An unknown session has no items.
	Take(ctx context.Context, session string, fence uint64) ([]Item, error)

	// Delete removes the records of a session up to and including number upTo; numbering continues
	// as if they were there. With [All] it deletes the session whole, with head, lease, inbox and
	// ids. The name is then free for a new session, whose fences are above all those of the deleted
	// one. An unknown session is no error.
	//
	// Delete needs no lease. If the session is being written to, its writer's next append is a
	// conflict.
	Delete(ctx context.Context, session string, upTo uint64) error
}
