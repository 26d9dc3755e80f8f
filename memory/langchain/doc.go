// Package langchain makes package index use langchaingo's embedders and vector stores.
//
//   - [Embedder] is an index.Embedder that calls an embedder of langchaingo's.
//   - [New] searches a store of langchaingo's by natural words: an index.Searcher.
//
// A tool that searches what other programs have put into pgvector:
//
//	s, err := langchain.New(store, langchain.Config{Item: func(d schema.Document) (index.Item, bool) {
//		source, ok := d.Metadata["source"].(string)
//		return index.Item{ID: source, Name: source, Text: d.PageContent}, ok
//	}})
//	...
//	tool := index.Tool(s, index.Lookup{})
//
// The interface of langchaingo's stores can add documents and search. It can't delete, replace or
// look up, so a store is no index.Index: whoever fills it keeps it up to date. An index.Finder
// whose items change has an index.Exact, with an Embedder of a langchaingo model.
//
// Texts of documents are untrusted data; [index.Render] marks what was found before a model reads
// it. Messages of foreign errors are cut. They contain no secret of the requests of a call's
// context: each call records the headers that net/http sends for it, and removes their values from
// the message and the wrapped errors. Give langchaingo's clients an [HTTPClient]: their default one
// follows redirects to another host, and sends the texts there.
//
// There are no goroutines. Foreign code that ignores its context blocks its caller; its panics
// become errors.
package langchain
