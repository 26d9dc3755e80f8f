package durable

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite"
)

// The tables of the bare statements: as few as a run needs to go on after a crash.
const (
	makeRuns  = "CREATE TABLE IF NOT EXISTS runs (name text PRIMARY KEY, prompt text NOT NULL, status text NOT NULL)"
	makeCalls = "CREATE TABLE IF NOT EXISTS calls (run text, n integer, result text NOT NULL, PRIMARY KEY (run, n))"
	beginRun  = "INSERT INTO runs (name, prompt, status) VALUES ($1, $2, 'running')"
	keepCall  = "INSERT INTO calls (run, n, result) VALUES ($1, $2, $3)"
	endRun    = "UPDATE runs SET status = 'completed' WHERE name = $1"
)

// statements does runs with a statement, which is its own transaction, for the begin, for each call
// and for the end.
func statements(exec func(ctx context.Context, statement string, args ...any) error,
	m *made) func(context.Context, []string) error {
	return func(ctx context.Context, names []string) error {
		return each(names, func(name string) error {
			if err := exec(ctx, beginRun, name, prompt); err != nil {
				return err
			}
			for n := range calls {
				if err := exec(ctx, keepCall, name, n, string(m.call(n))); err != nil {
					return err
				}
			}
			return exec(ctx, endRun, name)
		})
	}
}

// bareOnPostgres is the work as bare statements in PostgreSQL.
func bareOnPostgres(dsn string, m *made) func(context.Context) (doer, error) {
	return func(ctx context.Context) (doer, error) {
		pool, err := newPool(ctx, dsn)
		if err != nil {
			return doer{}, err
		}
		exec := func(ctx context.Context, statement string, args ...any) error {
			_, err := pool.Exec(ctx, statement, args...)
			return err
		}
		for _, statement := range []string{makeRuns, makeCalls} {
			if err := exec(ctx, statement); err != nil {
				pool.Close()
				return doer{}, err
			}
		}
		return doer{do: statements(exec, m), close: func() error { pool.Close(); return nil }}, nil
	}
}

// newPool returns a pool with a connection for each run in progress.
func newPool(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	cfg.MaxConns = parallel
	return pgxpool.NewWithConfig(ctx, cfg)
}

// bareOnSQLite is the work as bare statements in a SQLite file, on one connection that prepares
// them once. synchronous is SQLite's setting.
func bareOnSQLite(path, synchronous string, m *made) func(context.Context) (doer, error) {
	return func(ctx context.Context) (doer, error) {
		db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(wal)&_pragma=synchronous("+synchronous+")")
		if err != nil {
			return doer{}, err
		}
		db.SetMaxOpenConns(1)
		prepared := make(map[string]*sql.Stmt)
		for _, statement := range []string{makeRuns, makeCalls, beginRun, keepCall, endRun} {
			stmt, err := db.PrepareContext(ctx, statement)
			if err == nil && (statement == makeRuns || statement == makeCalls) {
				_, err = stmt.ExecContext(ctx)
			}
			if err != nil {
				db.Close()
				return doer{}, err
			}
			prepared[statement] = stmt
		}
		exec := func(ctx context.Context, statement string, args ...any) error {
			_, err := prepared[statement].ExecContext(ctx, args...)
			return err
		}
		return doer{do: statements(exec, m), close: db.Close}, nil
	}
}
