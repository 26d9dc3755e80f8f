package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/internal/sqljournal"
)

// Pool lets tests look at a store's connections.
func Pool(s *Store) *sql.DB { return s.db.pool }

// Versions is the version of the tables.
func Versions() int { return len(migrations) }

// WithMigrations adds versions to come until the function it returns is called.
func WithMigrations(more ...[]string) func() {
	now := migrations
	migrations = append(now[:len(now):len(now)], more...)
	return func() { migrations = now }
}

var (
	ErrPrepared = errPrepared
	ErrReadOnly = errReadOnly
)

// Polls reports whether the inboxes are polled, because notices don't arrive.
func Polls(s *Store) bool {
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	return !s.listener.heard
}

// ProbeNever has a store try once alone whether notices arrive.
func ProbeNever(s *Store) { s.listener.every = 24 * time.Hour }

// WithVersion has the tables made of a version until the function it returns is called.
func WithVersion(version int) func() {
	now := migrations
	migrations = now[:version]
	return func() { migrations = now }
}

// An Explained store has the server explain each statement that looks into the queue, and counts
// the rows of tables and indexes that it has read for it, and the statements.
type Explained struct {
	*sqljournal.Store
	Rows, Statements *atomic.Int64
}

// Explain returns s as one that counts.
func Explain(s *Store) Explained {
	db := &explaining{database: s.db}
	return Explained{sqljournal.New(db, s.db.dialect), &db.rows, &db.statements}
}

// WithClock returns s with an expression for the time.
func WithClock(s *Store, now string) *sqljournal.Store {
	d := s.db.dialect
	d.Now = now
	return sqljournal.New(s.db, d)
}

type explaining struct {
	*database
	rows, statements atomic.Int64
}

func (e *explaining) Query(ctx context.Context, query string, args []any,
	each func(scan func(...any) error) error) error {
	e.statements.Add(1)
	if err := e.explain(sqljournal.Of(e.pool).QueryRowContext, ctx, query, args); err != nil {
		return err
	}
	return e.database.Query(ctx, query, args, each)
}

func (e *explaining) Write(ctx context.Context, fn func(context.Context, sqljournal.Tx) error) error {
	return e.database.Write(ctx, func(ctx context.Context, tx sqljournal.Tx) error {
		return fn(ctx, explainingTx{tx, e})
	})
}

type explainingTx struct {
	sqljournal.Tx
	e *explaining
}

func (t explainingTx) QueryRowContext(ctx context.Context, query string, args ...any) sqljournal.Row {
	if err := t.e.explain(t.Tx.QueryRowContext, ctx, query, args); err != nil {
		return t.Tx.QueryRowContext(ctx, "EXPLAIN failed")
	}
	return t.Tx.QueryRowContext(ctx, query, args...)
}

// A node is one of a plan as the server explains it.
type node struct {
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Recheck  float64 `json:"Rows Removed by Index Recheck"`
	Plans    []node
}

// read returns the rows that a plan has read.
func (n *node) read() float64 {
	sum := 0.0
	if n.Relation != "" {
		sum = (n.Rows + n.Filtered + n.Recheck) * n.Loops
	}
	for i := range n.Plans {
		sum += n.Plans[i].read()
	}
	return sum
}

func (e *explaining) explain(row func(context.Context, string, ...any) sqljournal.Row, ctx context.Context,
	query string, args []any) error {
	if !strings.HasPrefix(query, "WITH RECURSIVE") {
		return nil
	}
	var text string
	if err := row(ctx, "EXPLAIN (ANALYZE, FORMAT JSON) "+query, args...).Scan(&text); err != nil {
		return err
	}
	var plans []struct{ Plan node }
	err := json.Unmarshal([]byte(text), &plans)
	for i := range plans {
		e.rows.Add(int64(plans[i].Plan.read()))
	}
	return err
}
