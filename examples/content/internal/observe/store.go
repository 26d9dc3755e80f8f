package observe

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/pawlkit/pawl/internal/sqlitefile"
)

const schema = `
CREATE TABLE IF NOT EXISTS tool_calls (
	id INTEGER PRIMARY KEY, trace TEXT NOT NULL, session TEXT NOT NULL, run TEXT NOT NULL, user TEXT NOT NULL,
	tool TEXT NOT NULL, category TEXT NOT NULL, at INTEGER NOT NULL, ms INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS tool_calls_of_traces ON tool_calls (trace);
CREATE INDEX IF NOT EXISTS tool_calls_by_time ON tool_calls (at);`

// busy is how long a call waits for another process that writes.
const busy = 15 * time.Second

// A Config configures an [Observer].
type Config struct {
	Salt   string           // of the hashes of user ids
	Logger *slog.Logger     // gets the alerts; nil: nothing is logged
	Now    func() time.Time // nil: time.Now
}

// An Observer keeps what has happened. It is safe for concurrent use.
type Observer struct {
	cfg     Config
	db      *sql.DB
	metrics *metrics

	mu      sync.Mutex
	begun   map[string]time.Time // tool calls in progress, by session and id
	retried map[string]bool      // pipelines that are tried again
	rates   rates
	alerts  map[string]*Alert // those that are on, by rule
	past    []Alert           // those that are over, newest first
}

// OpenWith opens the file of the portfolio, and makes the table if need be.
func OpenWith(path string, cfg Config) (*Observer, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	abs, err := sqlitefile.Make(path, "name a file in a temporary folder instead")
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	db, err := sqlitefile.Open(abs, sqlitefile.Options{Conns: 2, LogLimit: 8 << 20, Immediate: true, Process: true})
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	o := &Observer{cfg: cfg, db: db, metrics: newMetrics(), begun: map[string]time.Time{}, rates: rates{},
		retried: map[string]bool{}, alerts: map[string]*Alert{}}
	ctx := context.Background()
	err = sqlitefile.WAL(ctx, db, busy)
	if err == nil {
		err = o.exec(ctx, schema)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("observe: opening %s: %w", abs, err), db.Close())
	}
	return o, nil
}

// Close closes the file.
func (o *Observer) Close() error { return o.db.Close() }

// exec runs a statement, again as long as another process writes.
func (o *Observer) exec(ctx context.Context, query string, args ...any) error {
	return sqlitefile.Retry(ctx, busy, func() error {
		_, err := o.db.ExecContext(ctx, query, args...)
		return err
	})
}

// A toolCall is a row.
type toolCall struct {
	trace, session, run, user, tool, category string
	at                                        time.Time
	took                                      time.Duration
}

func (o *Observer) keep(ctx context.Context, c toolCall) error {
	return o.exec(ctx,
		"INSERT INTO tool_calls (trace, session, run, user, tool, category, at, ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		c.trace, c.session, c.run, c.user, c.tool, c.category, c.at.UnixMilli(), c.took.Milliseconds())
}

// query returns what scan makes of each row.
func query[T any](ctx context.Context, db *sql.DB, scan func(*sql.Rows) (T, error), text string, args ...any) (all []T,
	err error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("observe: %w", err)
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
