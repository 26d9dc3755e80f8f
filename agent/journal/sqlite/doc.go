// Package sqlite keeps the sessions of agents in a SQLite file: the embedded [journal.Store], in
// pure Go.
//
//	store, err := sqlite.Open("site.db", sqlite.Config{})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	a, err := agent.New(agent.Config{Journal: store, …})
//
// # Guarantees
//
//   - An append that returned nil survives a power failure; under [Process] it survives only the
//     death of the process.
//   - A [Store] is safe for concurrent use. Several processes of one machine may have the same file
//     open, and other programs may keep tables of their own in it: Pawl's begin with pawl_. The
//     file must not be on a network drive, where locks don't work.
//   - SQLite keeps no checksums of its pages. What a disk changes by itself is noticed only if a page
//     or a record can't be read any more.
//   - A sequence holds no connection and no lock between two of its elements.
//   - An error is one of package journal's, or leaves open whether the change was made
//     ([journal.Unclear]); then the same append again settles that. [ErrBusy],
//     [ErrDamaged], [ErrNewer], a full disk, a file that is read-only or was replaced say what to do
//     first.
//   - A file that is deleted or replaced while it is open is noticed when a lease is next taken or
//     renewed.
//
// # Limits
//
// [Store.Allowances] lets the processes that have the file open share the limits of a
// [ratelimit.Allowance]:
//
//	allowance := ratelimit.NewAllowance(ratelimit.AllowanceConfig{
//		PerDay: 200, Store: store.Allowances("runs"),
//	})
//
// # Time
//
// Leases and allowances use the clock of the calling process. If clocks differ, a lease may end
// earlier or later by that much for another process. The fence decides who may write, so that can
// cause waiting, but never damages a log.
//
// # Cost
//
// All sessions of a file share one writer, and with the default durability each append and each
// lease waits for the disk. BenchmarkAppend shows both durabilities, BenchmarkRead10000 the time
// to load a session.
package sqlite
