// Package sessions keeps the runs of an agent in a SQLite file, so that they survive the process: it is a [journal.Store].
//
// A run that waits for a person, or whose process died, goes on in another process that opens the same file:
//
//	store, err := sessions.Open(ctx, "site.runs.db")
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	a, err := agent.New(agent.Config{Journal: store, …})
//
// # Guarantees
//
//   - A [Store] is safe for concurrent use, and several processes may have the same file open. A call waits up to 15 s for
//     another process.
//   - What Append has returned without an error survives a power failure.
//   - Reading holds no lock and no connection between two records: the store may be used from the body of the loop.
package sessions
