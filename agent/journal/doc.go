// Package journal is the contract between a run and the place where its facts are kept, and a [Store] in memory.
//
// A session is a log of records, numbered from 1 without gaps, and beside it a [Head] (what a list of sessions shows), a
// lease (who may write) and an inbox (what other processes want from the writer). The package knows nothing of agents:
// what a record, a status or an item means is the host's business.
//
// Three rules make a log safe to build on:
//   - An [Append] names the number it follows and the fence it holds. It is refused with a [*ConflictError] when another
//     has written, or when the lease has passed on; it is kept whole or not at all, with its head and what it took
//     from the inbox.
//   - An error that is none of this package's leaves open whether the append was kept ([Unclear]). The same append
//     again settles it, and never stands twice.
//   - What is posted to an inbox stays there until an append says that it was taken: a crash between the two loses nothing.
//
// One writer with a lease, and what a second one meets:
//
//	store := journal.NewMemory()
//	lease, err := store.Lease(ctx, "s-1", "worker-1", 30*time.Second)
//	if err != nil {
//		return err // a *HeldError names who has it, and until when
//	}
//	defer store.Release(ctx, lease)
//	err = store.Append(ctx, journal.Append{
//		Session: "s-1", After: 0, Fence: lease.Fence,
//		Records: []journal.Record{{Time: time.Now(), Kind: "started", V: 1, Data: data}},
//		Head:    &journal.HeadUpdate{Status: "running"},
//	})
//	for r, err := range store.Read(ctx, "s-1", 0) { … }
//
// Who writes from one process only may leave leases out and append under fence 0, as long as nobody ever leases the
// session. Such a writer is guarded by the numbers alone: two of them that append the same record at the same time, to
// the nanosecond and to the byte, are taken for one that tries again. Where there may be two, take the lease.
//
// A store of one's own implements [Store], checks what it is handed with the Validate methods and functions, and proves
// itself with the suite in package journaltest.
package journal
