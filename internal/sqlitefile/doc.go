// Package sqlitefile is the part that all stores in SQLite files share: where a file may be and how
// it is created, how connections are opened, how long a call waits for another process, and the
// meaning of SQLite's error codes. Only this package knows the driver. Tables, statements and the
// serialization of writers belong to the stores.
//
// Its errors have no prefix: a store adds its own name.
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
//   - Stores of one process may create and open one file concurrently, whatever their kinds: none
//     releases another's locks.
//   - A wait for another process ends within about 20 ms after the caller's context.
package sqlitefile
