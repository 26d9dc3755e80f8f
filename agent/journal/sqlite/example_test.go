package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
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

	store, err := sqlite.OpenWith(path, sqlite.Config{})
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

	again, err := sqlite.OpenWith(path, sqlite.Config{})
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
