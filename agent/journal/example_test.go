package journal_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// Two workers, one session: the lease decides who writes, and the fence stops the one that has lost
// it.
func Example() {
	ctx := context.Background()
	store := &journal.MapStore{}

	first, err := store.Lease(ctx, "s-1", "worker-1", 30*time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	started := journal.Append{
		Session: "s-1", After: 0, Fence: first.Fence,
		Records: []journal.Record{{Time: time.Unix(0, 0), Kind: "started", V: 1, Data: []byte(`{"prompt":"hello"}`)}},
		Head:    &journal.HeadUpdate{Status: "running"},
	}
	fmt.Println("append:", store.Append(ctx, started))
	fmt.Println("the same again:", store.Append(ctx, started)) // as after a lost connection

	_, err = store.Lease(ctx, "s-1", "worker-2", 30*time.Second)
	var held *journal.HeldError
	fmt.Println("held:", errors.As(err, &held), held.Owner)

	_ = store.Release(ctx, first)
	second, err := store.Lease(ctx, "s-1", "worker-2", 30*time.Second)
	fmt.Println("taken over:", err, second.Fence > first.Fence)

	err = store.Append(ctx, journal.Append{
		Session: "s-1", After: 1, Fence: first.Fence,
		Records: []journal.Record{{Kind: "late", V: 1}},
	})
	var conflict *journal.ConflictError
	fmt.Println("conflict:", errors.As(err, &conflict), conflict.Stale(), conflict.Owner)
	// Output:
	// append: <nil>
	// the same again: <nil>
	// held: true worker-1
	// taken over: <nil> true
	// conflict: true true worker-2
}

// A fork is a read and an append: the session up to record 2 continues under another name.
func ExampleStore_fork() {
	ctx := context.Background()
	store := &journal.MapStore{}
	for i, kind := range []string{"asked", "answered", "asked", "failed"} {
		err := store.Append(ctx,
			journal.Append{Session: "s-1", After: uint64(i), Records: []journal.Record{{Kind: kind, V: 1}}})
		if err != nil {
			fmt.Println(err)
			return
		}
	}

	fork := journal.Append{Session: "s-1/retry", Head: &journal.HeadUpdate{Status: "forked"}}
	for r, err := range store.Read(ctx, "s-1", 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if r.Seq > 2 {
			break
		}
		fork.Records = append(fork.Records, r)
	}
	if err := store.Append(ctx, fork); err != nil {
		fmt.Println(err)
		return
	}

	for h, err := range store.Heads(ctx, journal.Filter{Prefix: "s-1"}) {
		fmt.Println(h.Session, h.Seq, h.Status, err)
	}
	// Output:
	// s-1 4  <nil>
	// s-1/retry 2 forked <nil>
}

// Another process answers a question. The answer stays in the inbox until the writer has appended
// its result.
func ExampleStore_inbox() {
	ctx := context.Background()
	store := &journal.MapStore{}
	_ = store.Append(ctx, journal.Append{
		Session: "s-1", Records: []journal.Record{{Kind: "paused", V: 1}},
		Head: &journal.HeadUpdate{Status: "paused",
			Open: []journal.Open{{ID: "p-1", Kind: "approval", Title: "Delete the page?"}}},
	})

	fmt.Println(store.Post(ctx, "s-1", journal.Item{ID: "p-1", Kind: "decision", Data: []byte("approve, says Ann")}))
	fmt.Println(store.Post(ctx, "s-1", journal.Item{ID: "p-1", Kind: "decision", Data: []byte("reject, says Bob")}))

	items, _ := store.Take(ctx, "s-1", 0)
	for _, it := range items {
		fmt.Printf("%s: %s\n", it.ID, it.Data)
	}
	fmt.Println(store.Append(ctx, journal.Append{
		Session: "s-1", After: 1, Taken: []string{"p-1"},
		Records: []journal.Record{{Kind: "decided", V: 1, Data: items[0].Data}},
		Head:    &journal.HeadUpdate{Status: "running"},
	}))
	items, _ = store.Take(ctx, "s-1", 0)
	fmt.Println(len(items))
	// Output:
	// <nil>
	// journal: session "s-1": item "p-1" is in the inbox already
	// p-1: approve, says Ann
	// <nil>
	// 0
}

// A host reads what was appended to all sessions, and stores how far it has come.
func ExampleFollow() {
	ctx := context.Background()
	store := &journal.MapStore{}
	add := func(session, kind, status string, after uint64) {
		_ = store.Append(ctx, journal.Append{Session: session, After: after,
			Records: []journal.Record{{Kind: kind, V: 1}}, Head: &journal.HeadUpdate{Status: status}})
	}
	add("s-1", "started", "running", 0)
	add("s-2", "started", "running", 0)
	add("s-1", "ended", "completed", 1)

	cursor, left := "", 2 // the cursor that was stored last; empty for all that there is
	for range 2 {         // the second time as after a crash
		for change, err := range journal.Follow(ctx, store, cursor) {
			if err != nil {
				fmt.Println(err)
				return
			}
			for r, err := range store.Read(ctx, change.Session, change.After) {
				fmt.Println(change.Session, r.Seq, r.Kind, err)
				if r.Seq == change.Seq {
					break
				}
			}
			cursor = change.Cursor // which a host stores
			if left--; left <= 0 {
				break
			}
		}
	}
	// Output:
	// s-1 1 started <nil>
	// s-2 1 started <nil>
	// s-1 2 ended <nil>
}
