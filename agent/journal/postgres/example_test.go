package postgres_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
)

// It has no output, because it needs a server.
func Example() {
	ctx := context.Background()
	store, err := postgres.Open(ctx, postgres.Config{DSN: os.Getenv("DATABASE_URL")})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	lease, err := store.Lease(ctx, "s-1", "worker-1", 30*time.Second)
	if err != nil {
		log.Fatal(err) // a *journal.HeldError names who has it, and until when
	}
	err = store.Append(ctx, journal.Append{
		Session: "s-1", Fence: lease.Fence,
		Records: []journal.Record{{Time: time.Now(), Kind: "started", V: 1, Data: []byte(`{}`)}},
		Head:    &journal.HeadUpdate{Status: "running"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for r, err := range store.Read(ctx, "s-1", 0) {
		fmt.Println(r.Seq, r.Kind, err)
	}
}

// A store on the pool that the host has for its own tables. It has no output, because it needs a
// server.
func ExampleConfig_pool() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close() // after the store
	store, err := postgres.Open(ctx, postgres.Config{Pool: pool, Schema: "agents"})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	for head, err := range store.Heads(ctx, journal.Filter{Newest: true, Limit: 20}) {
		fmt.Println(head.Session, head.Status, err)
	}
}
