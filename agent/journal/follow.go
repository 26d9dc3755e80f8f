package journal

import (
	"context"
	"iter"
	"time"
)

// Newest is the cursor of now: what is appended from now on comes after it. See [Changes].
const Newest = "newest"

// A Change says that records were appended to a session, the last of them with a change of its
// head: [HeadUpdate] says something else than before. So a change is where a session of agents
// begins or ends a run, pauses, or gets a decision. Records that are appended without such an
// append come with the next one.
type Change struct {
	Session string
	// The records have the numbers from After+1 to Seq: [Store.Read] after After has them. After is
	// never above what it was before, but may be below, so a record may come twice.
	After, Seq uint64
	// Cursor is what comes after this change. Whoever has handled a change stores it, so that
	// nothing is missed after a crash, and what was handled last comes again at most.
	Cursor string
}

// A Follower is a [Store] that knows the order of all its changes. It is optional: [Changes] makes
// do with [Store.Heads].
type Follower interface {
	// Changes is [Changes] of this store.
	//
	// A change whose transaction ends late must not be missed: that its number or its time is below
	// that of the cursor isn't enough to leave it out. All changes of a session come in the order
	// of their records; those of different sessions may come in any order.
	//
	// An empty cursor is before all changes, and [Newest] before what comes next: then there are
	// none, and only the cursor is returned. What isn't a cursor of such a store is an
	// [*InvalidError]. A cursor that is ahead of the store, because that was restored from a
	// backup, is taken for an empty one.
	Changes(ctx context.Context, cursor string) (changes []Change, next string, err error)
}

// Changes returns the next changes of all sessions after a cursor, the oldest first, and the cursor
// after them. There are none if nothing has changed; if there are some, there may be more, so it is
// called again with the cursor it returned. Each change comes at least once, also if several
// processes append at the same time.
//
// A session that is deleted has no changes any more, and pruned records are in none, also if nobody
// has seen them: who must see them stores the cursor before they are deleted. A session that is
// older than its store's order of changes is one change, with all its records. The records of a
// fork or of an import are changes of that session.
//
// It is at least once for a store that isn't a [Follower], too, if the appends of one take no
// longer than 2 minutes and the clocks of the processes differ by less. Then it costs a list of
// what has changed in the last 2 minutes, and the log of each session that hadn't, and its cursor
// is long: it names these sessions.
func Changes(ctx context.Context, store Store, cursor string) (changes []Change, next string, err error) {
	if f, ok := store.(Follower); ok {
		return f.Changes(ctx, cursor)
	}
	return listChanges(ctx, store, cursor)
}

// followEvery is how often [Follow] looks for changes when there were none.
const followEvery = time.Second

// Follow yields the changes of all sessions after a cursor, as [Changes] returns them, and goes on
// with what is appended meanwhile, until ctx ends or the store fails: the last element is the
// error. It looks for changes each second. A host stores the cursor of what it has handled:
//
//	for change, err := range journal.Follow(ctx, store, cursor) {
//		if err != nil {
//			return err
//		}
//		for r, err := range store.Read(ctx, change.Session, change.After) { … }
//		save(change.Cursor)
//	}
func Follow(ctx context.Context, store Store, cursor string) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		for {
			changes, next, err := Changes(ctx, store, cursor)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Change{}, err)
				return
			}
			for _, c := range changes {
				if !yield(c, nil) {
					return
				}
			}
			cursor = next
			if len(changes) > 0 {
				continue
			}
			timer := time.NewTimer(followEvery)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
			}
		}
	}
}
