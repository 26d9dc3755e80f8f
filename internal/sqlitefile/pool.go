package sqlitefile

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"time"
)

// oneTry is how long SQLite itself waits for another process, which it does without regard to a context.
const oneTry = 20 * time.Millisecond

// Options are what the connections of a store are told.
type Options struct {
	// Conns is how many there may be. What has been opened stays open.
	Conns int
	// Process lets a commit survive the process alone (synchronous NORMAL). Otherwise the disk confirms each (FULL).
	Process bool
	// LogLimit is how many bytes of the write-ahead log are left once a big transaction is through.
	LogLimit int64
	// Immediate gives the transactions of database/sql SQLite's write lock from their start. One that begins to read and then writes
	// would fail at once if another was faster.
	Immediate bool
}

// Open returns the connections to a file that [Make] has returned. None is made yet.
func Open(abs string, o Options) (*sql.DB, error) {
	synchronous := "full"
	if o.Process {
		synchronous = "normal"
	}
	query := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", oneTry.Milliseconds()), // who waits longer does so in Retry
		"synchronous(" + synchronous + ")",
		fmt.Sprintf("journal_size_limit(%d)", o.LogLimit),
	}}
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

// WAL sets the file to write-ahead logging, which it keeps.
func WAL(ctx context.Context, pool *sql.DB, timeout time.Duration) error {
	// Two processes that make one file together collide here, and SQLite reports that at once instead of waiting.
	var mode string
	err := Retry(ctx, timeout, func() error { return pool.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode) })
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the file can't use write-ahead logging (mode %s); put it on a local disk", mode)
	}
	return err
}
