// Package postgres keeps the sessions of agents in a PostgreSQL database: the [journal.Store] for services with several machines.
//
//	store, err := postgres.Open(ctx, postgres.Config{DSN: os.Getenv("DATABASE_URL")})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	a, err := agent.New(agent.Config{Journal: store, …})
//
// It needs PostgreSQL 13 or later, with a database in UTF-8, and makes its tables in a schema of its own.
//
// # Guarantees
//
//   - What Append has returned nil for survives a power failure of the server, as far as the server's own settings go
//     (fsync must be on, as it is by default); under [Process] the newest appends may be lost with the server.
//   - A [Store] is safe for concurrent use, by any number of processes.
//   - Leases go by the server's clock, so the clocks of the processes don't matter.
//   - A sequence holds no connection between two of its elements.
//   - An error is one of package journal's, or leaves open whether the change was made ([journal.Unclear]): a connection that was
//     cut, a backend that was terminated, an answer that was lost. The same append again settles it. Deadlocks,
//     serialization failures and two first appends that meet are tried again within the call.
//
// # Connections
//
// A store has a pool of its own, of at most Config.MaxConns connections, and prepares its statements once on each. Behind a
// pooler that hands connections on between transactions, add default_query_exec_mode=exec to the DSN, and see to
// synchronous_commit in the server's settings.
//
// # Cost
//
// A plain append is one statement, and so one round trip; BenchmarkAppend shows what that comes to.
package postgres
