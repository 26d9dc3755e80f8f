package sqlitefile

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"time"
)

// oneTry is how long SQLite itself waits for another process, during which it ignores the context.
const oneTry = 20 * time.Millisecond

// Options configure the connections of a store.
type Options struct {
	// Conns is the largest number of connections. Open connections stay open.
	Conns int
	// Process means that a commit survives only the death of the process (synchronous NORMAL).
	// Otherwise the disk confirms each commit (FULL).
	Process bool
	// LogLimit is the size to which the write-ahead log is truncated after a big transaction, in
	// bytes.
	LogLimit int64
	// Immediate makes transactions of database/sql take SQLite's write lock at their start.
	// Otherwise one that reads first and then writes would fail at once if another one wrote in
	// between.
	Immediate bool
	// ForeignKeys makes SQLite check references between tables, which it doesn't by default.
	ForeignKeys bool
}

// Open returns a pool of connections to a file that [Make] has returned. It makes no connection
// yet.
func Open(abs string, o Options) (*sql.DB, error) {
	synchronous := "full"
	if o.Process {
		synchronous = "normal"
	}
	query := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", oneTry.Milliseconds()), // Retry waits longer
		"synchronous(" + synchronous + ")",
		fmt.Sprintf("journal_size_limit(%d)", o.LogLimit),
	}}
	if o.ForeignKeys {
		query.Add("_pragma", "foreign_keys(1)")
	}
	if o.Immediate {
		query.Set("_txlock", "immediate")
	}
	pool, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(abs)}).EscapedPath()+"?"+query.Encode())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(o.Conns)
	pool.SetMaxIdleConns(o.Conns)
	return pool, nil
}

// WAL switches the file to write-ahead logging, which is permanent.
func WAL(ctx context.Context, pool *sql.DB, timeout time.Duration) error {
	// If two processes create one file together, SQLite reports the conflict at once instead of
	// waiting.
	var mode string
	err := Retry(ctx, timeout, func() error {
		return pool.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
	})
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the file can't use write-ahead logging (mode %s); put it on a local disk", mode)
	}
	return err
}
