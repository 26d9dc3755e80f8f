// Package sqlmemory keeps working memory in a SQLite file: a [recall.Store] in pure Go that outlives the process.
//
//	store, err := sqlmemory.Open("memory.db", sqlmemory.Config{})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	m, err := recall.New(recall.Config{Store: store, Scope: recall.OfCall("acme")})
//
// [Store.Texts] is the [memory.Store] of a session in the same file: what compaction takes out of its conversation.
//
// # What holds
//
// What a write has returned nil for survives the death of the process and a power failure (write-ahead log,
// synchronous FULL). A [Store] is safe for concurrent use, and several processes of one machine may have the file open: versions
// and limits hold across them. Other programs may keep tables of their own in the file; those of this package begin with
// pawl_recall. Files on network drives don't lock as they should: don't.
//
// What was deleted or forgotten makes room within the file, which doesn't shrink, and stays legible in it until that room is
// used again.
//
// The end of a call's context ends its waiting for others, not what it has begun to write: a call that returns the context's error
// has kept nothing. Tables of an older version are brought up to date by Open, newer ones refused with [ErrNewer].
package sqlmemory
