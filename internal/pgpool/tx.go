package pgpool

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// maxTries is how often a transaction is tried that fails because of others.
const maxTries = 10

// Transaction runs fn in one transaction. Under READ COMMITTED each statement sees what was
// committed before it, and so the newest version of a row that it has locked.
func Transaction(ctx context.Context, pool *sql.DB, fn func(context.Context, *sql.Tx) error) error {
	tx, err := pool.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	if err := fn(ctx, tx); err != nil {
		_ = tx.Rollback() // a connection that can't roll back is closed, which does the same
		return err
	}
	return tx.Commit()
}

// Retry runs try again if it failed because of another transaction, until ctx ends.
func Retry(ctx context.Context, try func(context.Context) error) error {
	for n := 1; ; n++ {
		err := try(ctx)
		if err == nil || !retryable(err) || n == maxTries {
			return err
		}
		timer := time.NewTimer(rand.N(time.Duration(n) * 5 * time.Millisecond))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// State returns the server's SQLSTATE for err, empty if it has none.
func State(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// retryable reports whether the transaction failed because of another one, so that a retry may
// succeed.
func retryable(err error) bool {
	switch State(err) {
	case "40001", "40P01", // serialization failure, deadlock
		"23505": // two transactions created the same row at once: the second sees it on the retry
		return true
	}
	return false
}

// Errors are a store's own errors for those of the server.
type Errors struct {
	Full     error // the server's disk is full
	ReadOnly error // it accepts no changes
	Prepared error // a pooler mixes up prepared statements
}

// Remedy is the text of Errors.Prepared.
const Remedy = "a connection pooler mixes up prepared statements; add default_query_exec_mode=exec to the DSN, or set " +
	"max_prepared_statements of PgBouncer 1.21 or later"

// Class wraps err in the error of e that fits it, or returns err unchanged if none does.
func (e Errors) Class(err error) error {
	var is error
	switch State(err) {
	case "53100":
		is = e.Full
	case "25006":
		is = e.ReadOnly
	case "26000", "42P05":
		is = e.Prepared
	default:
		return err
	}
	return fmt.Errorf("%w: %w", is, err)
}
