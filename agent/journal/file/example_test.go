package file_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/file"
)

// A program writes to a session and crashes in the middle of an append. The next one is told what
// was cut, and goes on.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	store, err := file.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	lease, err := store.Lease(ctx, "s-1", "worker", time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = store.Append(ctx, journal.Append{
		Session: "s-1", After: 0, Fence: lease.Fence,
		Records: []journal.Record{{Time: time.Unix(0, 0), Kind: "asked", V: 1, Data: []byte(`{"prompt":"hello"}`)}},
		Head:    &journal.HeadUpdate{Status: "running"},
	})
	fmt.Println("append:", err)
	_ = store.Close()

	log, err := os.OpenFile(filepath.Join(dir, "s-s-1.log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, _ = log.WriteString(`{"crc":"1baa7ace","n":3,"at":"2026-0`) // the power fails
	_ = log.Close()

	store, err = file.OpenWith(dir, file.Config{OnRepair: func(r file.Repair) {
		fmt.Printf("session %q: cut %d bytes: %s\n", r.Session, r.Bytes, r.Problem)
	}})

	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	for r, err := range store.Read(ctx, "s-1", 0) {
		fmt.Println(r.Seq, r.Kind, string(r.Data), err)
	}
	_, err = store.Lease(ctx, "s-1", "another", time.Minute)
	var held *journal.HeldError
	fmt.Println("held:", errors.As(err, &held) && held.Owner == "worker")
	// Output:
	// append: <nil>
	// session "s-1": cut 36 bytes: the line isn't complete
	// 1 asked {"prompt":"hello"} <nil>
	// held: true
}
