// Package langchain joins Pawl's resource index to langchaingo's embedders and vector stores, both ways.
//
//	from langchaingo                        to langchaingo
//	Embedder: an index.Embedder of its      Embeddings: an embedder of langchaingo's of an index.Embedder,
//	embedders                               such as index.Local, which needs no network and no model
//	New: an index.Index over its stores     Store: a store of langchaingo's over an index.Index
//
// A Finder whose items are in pgvector:
//
//	x, err := langchain.New(store, langchain.Config{
//		Model:  "text-embedding-3-small", // of the embedder that the store has
//		Ledger: ledger,
//		Delete: deleteRows, // func(ctx context.Context, ids []string) error: langchaingo's interface can't
//		Filter: langchain.EqualFilter,
//	})
//	...
//	f, err := index.New(index.Config{Index: x, Embedder: x.Embedder(), Low: .2, High: .7})
//
// # What a store can't do
//
// The interface of langchaingo's stores is AddDocuments and SimilaritySearch. It can't delete, replace, look up by an id or list, and a
// store chooses the ids. A [Ledger] fills the gap: it keeps what the index holds, with the store's ids, and Config.Delete
// removes documents. Where something is still missing, the answer is an [*UnsupportedError] that names it, never success:
//
//	Ledger  Delete  Search  Get, IDs  add  replace, remove, Reindex
//	no      -       yes     no        no   no
//	yes     no      yes     yes       yes  no
//	yes     yes     yes     yes       yes  yes
//
// # What an Index guarantees
//
// With a ledger, every item that a search returns is what the ledger holds of it, found by a document of just this state: after a change no former
// state is found, nothing that was removed, nothing twice, and no document that somebody else has put into the store, whatever its metadata. A change
// is made when the ledger has committed it, all of it or nothing; what failed, or was cut by a crash, leaves at worst documents that nothing finds.
// The ledger lists those that it knows of, and the next change or [Index.Tidy] deletes them.
//
// The filter goes to the store where Config.Filter says how, and every item is checked again. A search that would return too few of the
// items because a filter removed them asks for more documents, up to MaxFetch, and then is a [*ShortError]. Matches
// stand by similarity, and those just as near by id.
//
// # What it doesn't
//
//   - Which documents are nearest is the store's word: an approximate index may miss some, and equal scores may be cut either way. A store that
//     returns fewer documents than it was asked for is taken to have no more (alloydb and cloudsql never return more than their own k).
//   - What a score means is Config.Similarity's to say. Similarities that rise down the list are found out, other mistakes aren't.
//   - Unless Config.Vectors is set, the vectors of entries and queries are not used: the store embeds the text, the same that a Finder would embed, by
//     its own embedder. That this is Config.Model is the host's word.
//   - An item whose very name is asked for isn't looked for besides the nearest, as [index.Memory] does.
//   - Without a ledger, items are what the store's documents say, old states and forged ones included: don't let others write into that store.
//   - A crash between AddDocuments and the ledger's commit leaves documents that no ledger knows. They are hidden and cost space.
//   - Stores give each document an id of its own. With one that gives equal texts the same id, two items would share a document.
//   - One process changes an index at a time, since the ledger is one Index's alone. Readers without it may be many.
//
// # Text of others
//
// Names and texts are data that people wrote. The adapters pass them on as they are; [index.Render] marks what a Finder has found before a
// model reads it. langchaingo's chains put a document's content into a prompt unmarked: [StoreConfig].Marked, or [Mark], marks it.
// EqualFilter keeps out of a filter what stores would paste into SQL. Messages of foreign errors are cut, and secrets in
// addresses and headers redacted.
//
// There are no goroutines. Foreign code that doesn't respect its context holds up who called it; its panics are errors.
package langchain
