// Package langchain makes Pawl's resource index use langchaingo's embedders and vector stores.
//
//   - [Embedder] is an index.Embedder that calls an embedder of langchaingo's.
//   - [New] returns an index.Index over a store of langchaingo's.
//   - [Embeddings] is an embedder of langchaingo's, for such a store, that calls an index.Embedder:
//     with index.Local, one that needs no network and no model.
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
// The interface of langchaingo's stores is AddDocuments and SimilaritySearch. It can't delete,
// replace, look up by id or list, and a store chooses the ids. A [Ledger] closes this gap: it
// records the content of the index with the store's ids, and Config.Delete removes documents. If a
// part is missing, an operation that needs it returns an [*UnsupportedError] that names it:
//
//	Ledger  Delete  Search  Get, IDs  add  replace, remove, Reindex
//	no      -       yes     no        no   no
//	yes     no      yes     yes       yes  no
//	yes     yes     yes     yes       yes  yes
//
// # What an Index guarantees
//
// With a ledger, a search returns only items in their present state in the ledger, each once: no
// earlier states, no removed items, and no documents that another program has put into the store,
// whatever their metadata. A change takes effect when the ledger has committed it, as a whole or
// not at all; a failed change, or a crash, leaves at worst documents that no search finds. A
// [*LeftoverError] has the ids of old documents that couldn't be deleted.
//
// If Config.Filter is set, the filter is passed to the store; every item is checked again in any
// case. If a filter leaves too few items, the search asks for more documents, up to MaxFetch, and
// then returns a [*ShortError]. Matches are ordered by similarity, and by id among equals.
//
// # What it doesn't guarantee
//
//   - The store decides which documents are nearest: an approximate index may miss some, and equal
//     scores may be cut either way. A store that returns fewer documents than it was asked for is
//     taken to have no more (alloydb and cloudsql never return more than their own k).
//   - Config.Similarity defines what a score means. Similarities that rise down the list are
//     detected, other mistakes aren't.
//   - Unless Config.Vectors is set, the vectors of entries and queries are not used: the store
//     embeds the text, the same that a Finder would embed, with its own embedder. The host must
//     make sure that Config.Model names it.
//   - Unlike [index.Memory], it doesn't look for items with exactly the queried name besides the
//     nearest ones.
//   - Without a ledger, items are read from the store's documents, including old and forged ones:
//     don't let others write into that store.
//   - A crash during a change, or a failed deletion, leaves documents in the store that no search
//     finds. They use space until the host deletes them.
//   - Stores must give each document its own id. In a store that gives equal texts the same id, two
//     items would share a document.
//   - Only one process may change an index at a time, since a ledger belongs to one Index. There
//     may be many readers without a ledger.
//
// # Text of others
//
// Names and texts are untrusted data. The adapters pass them on unchanged; [index.Render] marks
// what a Finder has found before a model reads it. EqualFilter leaves values out of a filter that
// stores would paste into SQL unescaped. Messages of foreign errors are cut. They contain no secret
// of the requests of a call's context. Each call records the headers that net/http sends for it,
// and removes their values from the message and the wrapped errors. It also removes what looks like
// a secret. Give langchaingo's clients an [HTTPClient]: their default one follows redirects to
// another host, and sends the texts there.
//
// There are no goroutines. Foreign code that ignores its context blocks its caller; its panics
// become errors.
package langchain
