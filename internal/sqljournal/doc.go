// Package sqljournal is what the journal's SQL stores share: how sessions lie in tables, and how a [Store] judges an append, a
// lease or a post by them. It knows no driver: a store of its own brings a [Database] and a [Dialect].
//
// # Tables
//
//   - sessions: a row for each session, with its head, its lease and the number of items in its inbox.
//   - records: the logs. The key is (session, seq), so no number can stand twice, whatever else goes wrong.
//   - items: the inboxes. An item that was taken keeps its row without its content, so that its id stays closed.
//   - meta: the version of the tables, see [Migrate].
//
// Times are nanoseconds since 1970; NULL is the zero time.
//
// # Guarantees
//
//   - A change happens in one transaction that holds the session's row from its first statement, so what it was judged by is
//     what it changes. Whatever isn't one of the journal's own errors leaves open whether the change was made.
//   - A sequence holds no connection and no transaction between two of its elements: it reads in pages. The pages of a log
//     are tied to the session that the first one came from: one that is deleted meanwhile, or pruned, ends in a
//     [*journal.PrunedError], never in a log that is short or mixed.
//
// A store hands its methods over:
//
//	db := &database{…} // begins and ends transactions
//	store := sqljournal.New(db, sqljournal.Dialect{Prefix: "pawl_", Seq: "s.seq", Updated: "s.updated", NextFence: …})
//	err := store.Append(ctx, a)
package sqljournal
