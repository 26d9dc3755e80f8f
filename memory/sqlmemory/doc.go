// Package sqlmemory keeps working memory in a SQLite file: a [recall.Store] in pure Go that
// outlives the process.
//
//	store, err := sqlmemory.Open("memory.db", sqlmemory.Config{})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	m, err := recall.New(recall.Config{Store: store, Scope: recall.OfCall("acme")})
//
// [Store.Texts] is the [memory.Store] of a session in the same file: it keeps what compaction
// removes from the conversation.
//
// # Guarantees
//
// A write that returned nil survives the death of the process and a power failure (write-ahead log,
// synchronous FULL). A [Store] is safe for concurrent use, and several processes of one machine may
// have the file open: versions and limits apply across them. Other programs may keep their own
// tables in the file; the tables of this package begin with pawl_recall. The file must not be on a
// network drive, where locks don't work.
//
// Deleted entries free space within the file, which doesn't shrink. Their content remains readable
// in the file until that space is reused.
//
// When a call's context ends, the call stops waiting for others, but a write that has begun is
// completed: a call that returns the context's error has written nothing. Open migrates tables of
// an older version, and rejects newer ones with [ErrNewer].
package sqlmemory
