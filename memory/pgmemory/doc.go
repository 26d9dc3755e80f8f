// Package pgmemory keeps working memory in a PostgreSQL database: a [recall.Store] for services
// with several machines.
//
//	store, err := pgmemory.Open(ctx, pgmemory.Config{DSN: os.Getenv("DATABASE_URL")})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	m, err := recall.New(recall.Config{Store: store, Scope: recall.OfCall("acme")})
//
// [Store.Texts] is the [memory.Store] of a session in the same database: it keeps what compaction
// removes from the conversation.
//
// It needs PostgreSQL 13 or later with a database in UTF-8. Its tables begin with recall, in the
// schema pawl, which it shares with package agent/journal/postgres, or in another of the host's
// choice.
//
// # Guarantees
//
// A write that returned nil survives a power failure of the server, if the server's setting fsync
// is on, as it is by default. A [Store] is safe for concurrent use, by any number of processes:
// versions and limits apply across them. The changes of one tenant are made one after another;
// those of different tenants don't wait for each other.
//
// After an error of a connection, or when a call's context ends, it is open whether a write was
// made: read the entry, and write again if it is as before. A writer that repeats its Put gets a
// [*recall.ConflictError] if the first one was made.
//
// # Connections
//
// A store has its own pool of at most 4 connections, or uses the host's (Config.Pool). It keeps
// nothing on a connection but prepared statements, so a pooler in transaction mode will do: add
// default_query_exec_mode=exec to the DSN, or set the pool's ConnConfig.DefaultQueryExecMode to
// pgx.QueryExecModeExec, and set synchronous_commit in the server's settings.
package pgmemory
