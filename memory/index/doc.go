// Package index finds things by natural words: "the team page" is the page Members with the id page-17.
//
// A host's tools take exact ids, people say names, misspelt, in another order, or words that only a description holds. A
// [Finder] keeps an [Item] for each resource (its names and a few words about it, not its content) and answers with ids
// and with how sure it is:
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
// [Tool] is the same for an agent: a tool that takes words, and perhaps a kind and a limit, and answers with what Render writes.
// A host whose data others change too gives it a [Searcher] that brings the index up to date first.
//
//	a, err := agent.New(agent.Config{Tools: []tools.Tool{index.Tool(f, index.Lookup{Kinds: []string{"page", "entry"}})}})
//
// # How it searches
//
// An [Embedder] makes vectors, an [Index] finds those nearest to the query's among what the [Filter] lets through, and the
// Finder looks closely at the nearest 128 and at those whose name, alias or id is the query: word by word, with
// typos, plurals, compounds and beginnings, names counting more than descriptions, rare words more than common ones. The
// surer of both kinds of evidence counts. Freshness and trust, where the host says what they are worth, multiply it.
//
// [Local] is an embedder without network and model, [Memory] an exact index that can be kept in a file. Others implement the two
// interfaces; set Config.Low and High for what their similarities are worth.
//
// # Keeping in step
//
// [Finder.Put] and [Finder.Remove] belong behind the host's creates, updates and deletes; [Finder.Sync] goes over everything,
// say at start, and removes what is gone. Only what has changed is embedded. [Finder.Reindex] is for a new embedder.
//
// # Guarantees
//
// What scores less than the threshold isn't said. Every hit says why it was found ([Hit].Why), and in what a model reads how sure
// it is in a word ([MatchExact] to [MatchLess]), beside a score that only orders. What is too close to call is marked as ambiguous, with its candidates, and
// [Result.One] then returns none. The same items, query and configuration give the same result. Everything is safe for
// concurrent use; there are no goroutines. What stands in items is text of others: [Render] keeps it apart from what is
// said about it. Whose items a search may see is the filter's to say, and the host's to set, never a model's.
package index
