package pgmemory_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/pgmemory"
	"github.com/pawlkit/pawl/memory/recall"
)

// A memory beside the host's own tables, on its pool. It has no output, because it needs a server.
func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close() // after the store
	store, err := pgmemory.Open(ctx, pgmemory.Config{Pool: pool, Schema: "agents", TextBytes: 8 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	id := recall.ID{Tenant: "acme", Kind: "fact", Key: "deploy.command"}
	version, err := store.Put(ctx, recall.Entry{ID: id, Value: []byte("make deploy")})
	fmt.Println(version, err)

	texts := store.Texts(recall.Scope{Tenant: "acme", Session: "s-1"})
	handle := memory.HandleOf("a long result")
	fmt.Println(texts.Put(ctx, handle, "a long result"))
	fmt.Println(store.Forget(ctx, recall.Scope{Tenant: "acme", Session: "s-1"}))
}
