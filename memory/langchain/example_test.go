package langchain_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/langchain"
)

// A store in memory that treats options like pgvector. It can't delete documents, so the host
// passes a function.
func Example() {
	ctx := context.Background()
	store := &fake{flavour: pgvector, embedder: langchain.Embeddings(index.Local{})}
	x, err := langchain.New(store, langchain.Config{
		Model:  index.Local{}.Model(),
		Ledger: &langchain.MapLedger{},
		Delete: store.delete,
		Filter: langchain.EqualFilter,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := index.New(index.Config{Index: x, Embedder: x.Embedder()})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = f.Put(ctx,
		index.Item{ID: "page-1", Kind: "page", Name: "Home"},
		index.Item{ID: "page-2", Kind: "page", Name: "Members", Text: "our team and staff"},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		res, err := f.Find(ctx, "the team page", index.Filter{Kinds: []string{"page"}}, 3)
		if err != nil {
			fmt.Println(err)
			return
		}
		hit, ok := res.One()
		fmt.Println(hit.Item.ID, ok, store.len())
		if err := f.Remove(ctx, "page-2"); err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// page-2 true 2
	//  false 1
}

// Without a way to delete documents, Delete returns an error that says so.
func ExampleUnsupportedError() {
	ctx := context.Background()
	store := &fake{flavour: pgvector, embedder: langchain.Embeddings(index.Local{})}
	x, err := langchain.New(store, langchain.Config{Model: index.Local{}.Model(), Ledger: &langchain.MapLedger{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := index.New(index.Config{Index: x, Embedder: x.Embedder()})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Put(ctx, index.Item{ID: "a", Name: "Alpha"}))
	err = f.Remove(ctx, "a")
	fmt.Println(errors.Is(err, langchain.ErrUnsupported))
	fmt.Println(err)
	// Output:
	// <nil>
	// true
	// index: delete: langchain: delete is unsupported: it needs Config.Delete, or a store that is a Deleter: langchaingo's interface can't delete
}
