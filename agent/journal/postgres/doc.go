// Package postgres keeps the sessions of agents in a PostgreSQL database: the [journal.Store] for
// services with several machines.
//
//	store, err := postgres.Open(ctx, postgres.Config{DSN: os.Getenv("DATABASE_URL")})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	a, err := agent.New(agent.Config{Journal: store, …})
//
// It needs PostgreSQL 13 or later with a database in UTF-8, and creates its tables in a schema of
// its own.
//
// # Guarantees
//
//   - An append that returned nil survives a power failure of the server, if the server's setting
//     fsync is on, as it is by default; under [Process] a crash of the server may lose the newest
//     appends.
//   - A [Store] is safe for concurrent use, by any number of processes.
//   - Leases and allowances use the server's clock, so the clocks of the processes don't matter.
//   - A sequence holds no connection between two of its elements.
//   - An error is one of package journal's, or leaves open whether the change was made
//     ([journal.Unclear]): a lost connection, a terminated backend, a lost answer. The same append
//     again settles that. Deadlocks, serialization failures and two concurrent first appends are
//     retried within the call.
//
// # Limits
//
// [Store.Allowances] lets all processes share the limits of a [ratelimit.Allowance]:
//
//	allowance := ratelimit.NewAllowance(ratelimit.AllowanceConfig{
//		PerDay: 200, Store: store.Allowances("runs"),
//	})
//
// # Connections
//
// A store has its own pool of at most Config.MaxConns connections, and prepares its statements once
// on each. With a connection pooler in transaction mode, add default_query_exec_mode=exec to the
// DSN (otherwise calls fail), and set synchronous_commit in the server's settings.
//
// From the first run on there is one more connection, which waits for the server's notices
// (LISTEN): each post to a session says its name, so that a Stop or Cancel reaches the process that
// drives the run at once. A notice has the names of the schema and the session, and nothing else.
// Behind a pooler in transaction mode notices don't arrive; then the inboxes of the sessions whose
// runs are in progress are read twice a second, and the store tries every 10 minutes whether that
// has changed. It tries every 10 s whether notices still arrive, so one that is lost without an
// error is made up for within 15 s. With Config.Pool it uses the host's pool instead. It names its
// schema in each statement, so it needs no search_path, keeps nothing on a connection but prepared
// statements, in pgx's cache, and changes no setting. Behind a pooler in transaction mode the
// pool's ConnConfig.DefaultQueryExecMode is pgx.QueryExecModeExec.
//
// # Cost
//
// A plain append is one statement, and so one round trip; BenchmarkAppend shows how long that
// takes.
package postgres
