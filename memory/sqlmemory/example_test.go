package sqlmemory_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/memory/sqlmemory"
)

// What is kept is there after the file was closed, and a writer that read an older state is told
// so.
func Example() {
	dir, err := os.MkdirTemp("", "memory")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx, path := context.Background(), filepath.Join(dir, "memory.db")
	id := recall.ID{Tenant: "acme", Kind: "fact", Key: "deploy.command"}
	for _, text := range []string{"make deploy", "make ship"} {
		store, err := sqlmemory.Open(path, sqlmemory.Config{})
		if err != nil {
			fmt.Println(err)
			return
		}
		version, err := store.Put(ctx, recall.Entry{ID: id, Value: []byte(text)})
		fmt.Println(version, err)
		if e, err := store.Get(ctx, id); err == nil {
			fmt.Println(e.Version, string(e.Value))
		}
		if err := store.Close(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// 1 <nil>
	// 1 make deploy
	// 0 recall: fact "deploy.command" has version 1, not 0; read it again
	// 1 make deploy
}

// What compaction took out of a conversation is read back by its handle, by this session alone.
func ExampleStore_Texts() {
	dir, err := os.MkdirTemp("", "memory")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := sqlmemory.Open(filepath.Join(dir, "memory.db"), sqlmemory.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	ctx, mine := context.Background(), recall.Scope{Tenant: "acme", Session: "s-1"}
	handle := memory.HandleOf("a long result")
	fmt.Println(store.Texts(mine).Put(ctx, handle, "a long result"))
	fmt.Println(store.Texts(mine).Get(ctx, handle))
	_, err = store.Texts(recall.Scope{Tenant: "acme", Session: "s-2"}).Get(ctx, handle)
	fmt.Println(fault.Of(err))
	fmt.Println(store.Forget(ctx, mine))
	// Output:
	// <nil>
	// a long result <nil>
	// not_found
	// <nil>
}
