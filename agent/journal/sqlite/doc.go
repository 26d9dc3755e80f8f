// Package sqlite keeps the sessions of agents in a SQLite file: the embedded [journal.Store], in pure Go.
//
//	store, err := sqlite.Open("site.db")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	a, err := agent.New(agent.Config{Journal: store, …})
//
// # Guarantees
//
//   - What Append has returned nil for survives a power failure; under [Process] it survives the death of the process alone.
//   - A [Store] is safe for concurrent use. Several processes of one machine may have the same file open, and other programs may
//     keep tables of their own in it: Pawl's begin with pawl_. Files on network drives don't lock as they should: don't.
//   - A sequence holds no connection and no lock between two of its elements.
//   - An error is one of package journal's, or leaves open whether the change was made ([journal.Unclear]): the same append
//     again settles it. [ErrBusy], [ErrFull], [ErrReadOnly], [ErrDamaged] and [ErrNewer] say what to do about it first.
//
// # Time
//
// Leases go by the clock of the process that asks. Processes whose clocks differ may think a lease longer or shorter than it is
// by that much; who may write is decided by fences, so that costs patience, never a log.
//
// # Cost
//
// Writers take turns, over all sessions of a file, and each waits for the disk: with the default durability that is what
// an append costs. BenchmarkAppend shows both durabilities, BenchmarkRead10000 what loading a session costs.
package sqlite
