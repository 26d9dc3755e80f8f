package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/ratelimit"
)

// One process writes and ends; another one reads on.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sqlite")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "runs.db")

	store, err := sqlite.Open(path, sqlite.Config{})
	if err != nil {
		log.Fatal(err)
	}
	lease, err := store.Lease(ctx, "s-1", "worker-1", 30*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	err = store.Append(ctx, journal.Append{
		Session: "s-1", Fence: lease.Fence,
		Records: []journal.Record{{Time: time.Now(), Kind: "started", V: 1, Data: []byte(`{}`)}},
		Head:    &journal.HeadUpdate{Status: "running"},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Close(); err != nil {
		log.Fatal(err)
	}

	again, err := sqlite.Open(path, sqlite.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer again.Close()
	for r, err := range again.Read(ctx, "s-1", 0) {
		fmt.Println(r.Seq, r.Kind, err)
	}
	// Output:
	// 1 started <nil>
}

// Two processes share a limit, here as two stores of one file.
func ExampleStore_Allowances() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sqlite")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, process := range []string{"one", "two"} {
		store, err := sqlite.Open(filepath.Join(dir, "runs.db"), sqlite.Config{})
		if err != nil {
			log.Fatal(err)
		}
		defer store.Close()
		allowance := ratelimit.NewAllowance(ratelimit.AllowanceConfig{
			Windows: []ratelimit.AllowanceWindow{{Max: 3, Per: time.Hour}},
			Store:   store.Allowances("runs"),
		})
		for range 2 {
			_, err := allowance.Take(ctx, "ann")
			var refused *ratelimit.AllowanceError
			fmt.Println(process, "refused:", errors.As(err, &refused))
		}
	}
	// Output:
	// one refused: false
	// one refused: false
	// two refused: false
	// two refused: true
}
