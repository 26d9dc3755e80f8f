// Package journal is the contract between a run and the store of its facts, and a [Store] in
// memory.
//
// A session is a log of records, numbered from 1 without gaps. Beside the log it has a [Head] (what
// a list of sessions shows), a lease (who may write) and an inbox (what other processes ask of the
// writer). The package knows nothing about agents: the host decides what a record, a status or an
// item means.
//
// Three rules make a log safe to build on:
//   - An [Append] names the number that it follows and the fencing token (fence) of its writer's
//     lease. It is refused with a [*ConflictError] if another writer has appended, or if the lease
//     has passed on. It is stored as a whole or not at all, together with its head and the items it
//     took from the inbox.
//   - An error that isn't one of this package's leaves open whether the append was stored
//     ([Unclear]). The same append again settles that, and is never stored twice.
//   - An item stays in the inbox until an append says that it was taken, so a crash between the two
//     loses nothing.
//
// One writer with a lease, and what a second one gets:
//
//	store := &journal.MapStore{}
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
// A host that writes from one process only may work without leases and append with fence 0, as long
// as the session is never leased. Such a writer is protected by the numbers alone. Two writers that
// append the same record at the same time, equal to the nanosecond and to the byte, are taken for
// one that retries; and a writer that has appended no record yet begins its session again if
// another process deletes it. Where there may be two writers, take the lease.
//
// To write a store, implement [Store], check requests with the Validate methods and functions, and
// run the suite in package journaltest.
package journal
