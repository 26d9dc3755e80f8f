// Package sqljournal is the part that the journal's SQL stores share: the tables, a [Store] that
// checks appends, leases and posts against them, and [NewAllowances]. It knows no driver: each
// store brings a [Database] and a [Dialect].
//
// # Tables
//
//   - sessions: a row for each session, with its head (the labels as a JSON object), its lease and
//     the number of items in its inbox. The column idle, by which the newest are found, is NULL while
//     a session is leased: else each append would change an index.
//   - records: the logs. The key is (session, seq), so that no number can be stored twice.
//   - items: the inboxes. An item that was taken keeps its row without the content, so that its id
//     stays closed. An id that was closed without an item has such a row, too.
//   - allowances: what the users of each [ratelimit.Allowance] took, one row for each user.
//   - queue: a row for each session that has a place in the queue, so that what changes there changes
//     no row of sessions: see [journal.Queue]. It is delayed, ready, claimed or started.
//   - meta: the version of the tables, see [Migrate].
//
// Times are nanoseconds since 1970; NULL is the zero time.
//
// # Guarantees
//
//   - A change is one transaction that locks the session's row with its first statement, so the row
//     doesn't change between check and change. An error that isn't one of package journal's leaves
//     open whether the change was made.
//   - A sequence holds no connection and no transaction between two of its elements: it reads in
//     pages. All pages of a log are of the same session: if that is deleted or pruned meanwhile,
//     the sequence ends with a [*journal.PrunedError], and never skips or mixes records.
//
// A store passes a database and a dialect:
//
//	db := &database{…} // begins and ends transactions
//	store := sqljournal.New(db, sqljournal.Dialect{Prefix: "pawl_", Seq: "s.seq", Updated: "s.updated", NextFence: …})
//	err := store.Append(ctx, a)
package sqljournal
