// Package sqlitefile is what the stores in SQLite files share: where a file may be and how it is made, how connections are opened, how
// long one waits for another process, and what SQLite's codes mean. The driver is known here alone. Tables, statements and who
// writes when are each store's own.
//
// Its errors have no prefix: a store puts its own name before them.
//
//	abs, err := sqlitefile.Make("memory.db", "for a store in memory take …")
//	if err != nil {
//		return err
//	}
//	pool, err := sqlitefile.Open(abs, sqlitefile.Options{Conns: 4, LogLimit: 8 << 20})
//	if err != nil {
//		return err
//	}
//	err = sqlitefile.WAL(ctx, pool, 15*time.Second)
//	…
//	err = sqlitefile.Retry(ctx, 15*time.Second, func() error { return pool.QueryRowContext(ctx, query).Scan(&n) })
//
// # Guarantees
//
//   - Stores of one process may make and open one file at the same time, of whatever kind they are: none takes another's locks away.
//   - A wait for another process ends with the caller's context, within some 20 ms.
package sqlitefile
