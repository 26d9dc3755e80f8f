// Package index finds resources by natural words: for example, "the team page" finds the page
// Members with the id page-17.
//
// A host's tools take exact ids, but people use names, misspelled or in another order, or words
// from a description. A [Finder] keeps an [Item] for each resource (its names and a few words about
// it, not its content) and returns ids and how sure it is:
//
//	f, err := index.New(index.Config{})
//	...
//	err = f.Put(ctx, index.Item{ID: "page-17", Kind: "page", Name: "Members", Text: "our team and staff"})
//	...
//	res, err := f.Find(ctx, "the teem page", index.Filter{Kinds: []string{"page"}}, 3)
//	if hit, ok := res.One(); ok {
//		use(hit.Item.ID)
//	}
//	tell(index.Render(res)) // for a model: marked as data
//
// [Tool] makes a tool for agents: it takes words, and optionally a kind and a limit, and returns
// the output of Render. If other programs change the data, too, the host passes a [Searcher] that
// updates the index first.
//
//	a, err := agent.New(agent.Config{Tools: []tools.Tool{
//		index.Tool(f, index.Lookup{Kinds: []string{"page", "entry"}}),
//	}})
//
// # How it searches
//
// An [Embedder] makes vectors, and an [Index] finds the entries nearest to the query among those
// that the [Filter] selects. The Finder then compares the nearest 128, and entries whose name,
// alias or id is the query, word by word, allowing for typos, plurals, compounds and prefixes;
// names count more than descriptions, rare words more than common ones. The higher of the two
// scores counts. It is multiplied by freshness and trust, if the host configures them.
//
// [Local] is an embedder without network and model, [Exact] an exact index that can be kept in a
// file. For other implementations of the two interfaces, set Config.Low and High to fit their
// similarities.
//
// # Keeping the index up to date
//
// Call [Finder.Put] and [Finder.Remove] after the host's creates, updates and deletes.
// [Finder.Sync] compares everything, for example at startup, and removes entries that no longer
// exist. Only changed items are embedded. [Finder.Reindex] is for a new embedder.
//
// # Guarantees
//
// Hits below the threshold aren't returned. Every hit says why it was found ([Hit].Why). A model
// reads in a word how sure a hit is ([MatchExact], [MatchUnsure] and
// [MatchRival] among others); the score is only for ordering.
// If hits are too close, the result is marked as ambiguous, with its candidates, and [Result.One]
// returns none. The same items, query and configuration give the same result. Everything is safe
// for concurrent use; there are no goroutines. Texts of items are untrusted: [Render] separates
// them from its own text. The filter decides which items a search may see; the host sets it, never
// a model.
package index
