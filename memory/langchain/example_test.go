package langchain_test

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/schema"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/langchain"
)

// A store that another program has filled, here one in memory.
func Example() {
	ctx := context.Background()
	store := &fake{}
	_, err := store.AddDocuments(ctx, []schema.Document{
		{PageContent: "Opening hours of the office", Metadata: map[string]any{"source": "hours.md"}},
		{PageContent: "How to reset a password", Metadata: map[string]any{"source": "password.md"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := langchain.New(store, langchain.Config{
		Item: func(d schema.Document) (index.Item, bool) {
			source, ok := d.Metadata["source"].(string)
			return index.Item{ID: source, Name: d.PageContent}, ok
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := s.Find(ctx, "pasword reset", index.Filter{}, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, h := range res.Hits {
		fmt.Println(h.Item.ID)
	}
	// Output:
	// password.md
}

// A Finder whose vectors are those of a langchaingo embedder.
func ExampleEmbedder() {
	ctx := context.Background()
	model := local{} // for example embeddings.NewEmbedder(llm)
	e, err := langchain.Embedder(ctx, model, langchain.EmbedderConfig{Model: "text-embedding-3-small"})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := index.New(index.Config{Embedder: e, Low: .2, High: .7})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := f.Put(ctx, index.Item{ID: "page-2", Name: "Members", Text: "our team and staff"}); err != nil {
		fmt.Println(err)
		return
	}
	res, err := f.Find(ctx, "the team", index.Filter{}, 1)
	fmt.Println(res.Hits[0].Item.ID, err)
	// Output:
	// page-2 <nil>
}
