package sqlmemory

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/recall"
)

// texts is the memory.Store of one scope.
type texts struct {
	store *Store
	scope recall.Scope
}

// Texts returns the [memory.Store] of a session: what compaction removed from its conversation, to
// be read back by its handle. A scope without a session is a scope of its own, which the tenant's
// conversations share.
//
// It holds up to Config.TextBytes and then deletes the texts whose last Put was longest ago. A Put
// of an existing handle makes it the newest and keeps the stored text. Texts are stored unchanged:
// unlike the notes of package recall they aren't searched for secrets. Calls fail for a scope
// without a tenant, or with a name that is invalid in a [recall.Scope].
//
// The texts of a session aren't deleted automatically: see [Store.Forget].
func (s *Store) Texts(scope recall.Scope) memory.Store { return &texts{s, scope} }

const (
	getText    = `SELECT text FROM pawl_recall_texts WHERE tenant = ? AND session = ? AND handle = ?`
	getTurn    = `SELECT turn FROM pawl_recall_texts WHERE tenant = ? AND session = ? AND handle = ?`
	setTurn    = `UPDATE pawl_recall_texts SET turn = ? WHERE tenant = ? AND session = ? AND handle = ?`
	putText    = `INSERT INTO pawl_recall_texts (tenant, session, handle, turn, size, text) VALUES (?, ?, ?, ?, ?, ?)`
	oldest     = `SELECT turn, size FROM pawl_recall_texts WHERE tenant = ? AND session = ? ORDER BY turn`
	dropOldest = `DELETE FROM pawl_recall_texts WHERE tenant = ? AND session = ? AND turn <= ?`
	getScope   = `SELECT last, bytes FROM pawl_recall_scopes WHERE tenant = ? AND session = ?`
	putScope   = `INSERT OR REPLACE INTO pawl_recall_scopes (tenant, session, last, bytes) VALUES (?, ?, ?, ?)`
)

// Put implements [memory.Store].
func (t *texts) Put(ctx context.Context, handle, text string) error {
	if err := check(t.scope, handle); err != nil {
		return err
	}
	size := int64(len(handle) + len(text))
	if size > t.store.textBytes {
		return fault.Errorf(fault.Permanent,
			"sqlmemory: a text of %d bytes doesn't fit a scope of %d; raise Config.TextBytes", size, t.store.textBytes)
	}
	return callerError("keeping a text", t.store.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		tenant, session := t.scope.Tenant, t.scope.Session
		var last, bytes, turn int64
		if err := tx.QueryRowContext(ctx, getScope, tenant, session).Scan(&last, &bytes); err != nil &&
			!errors.Is(err, sql.ErrNoRows) {
			return err
		}
		err := tx.QueryRowContext(ctx, getTurn, tenant, session, handle).Scan(&turn)
		switch {
		case err == nil && turn == last:
			return nil
		case err == nil:
			_, err = tx.ExecContext(ctx, setTurn, last+1, tenant, session, handle)
		case errors.Is(err, sql.ErrNoRows):
			if bytes, err = t.makeRoom(ctx, tx, bytes, size); err == nil {
				_, err = tx.ExecContext(ctx, putText, tenant, session, handle, last+1, size, []byte(text))
			}
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, putScope, tenant, session, last+1, bytes)
		}
		return err
	}))
}

// makeRoom deletes the oldest texts until another of this size fits, and returns the size of the
// scope including it.
func (t *texts) makeRoom(ctx context.Context, tx *sql.Tx, bytes, size int64) (after int64, err error) {
	if bytes += size; bytes <= t.store.textBytes {
		return bytes, nil
	}
	rows, err := tx.QueryContext(ctx, oldest, t.scope.Tenant, t.scope.Session)
	if err != nil {
		return 0, err
	}
	var upTo int64
	for bytes > t.store.textBytes && rows.Next() {
		var had int64
		if err := rows.Scan(&upTo, &had); err != nil {
			return 0, errors.Join(err, rows.Close())
		}
		bytes -= had
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, dropOldest, t.scope.Tenant, t.scope.Session, upTo)
	return bytes, err
}

// Get implements [memory.Store].
func (t *texts) Get(ctx context.Context, handle string) (string, error) {
	if err := check(t.scope, "any"); err != nil {
		return "", err
	}
	var text []byte
	err := t.store.retry(ctx, func() error {
		return t.store.db.QueryRowContext(ctx, getText, t.scope.Tenant, t.scope.Session, handle).Scan(&text)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return "", fault.Errorf(fault.NotFound, "sqlmemory: there is no text with the handle %.40q", handle)
	}
	return string(text), callerError("reading a text", err)
}

// Forget deletes the texts of a session, or for a scope without a session all texts of its tenant.
// The notes of a session are deleted by [recall.ForgetSession], all other entries of a tenant by
// [recall.ForgetTenant].
func (s *Store) Forget(ctx context.Context, scope recall.Scope) error {
	if err := check(scope, "any"); err != nil {
		return err
	}
	return callerError("forgetting texts", s.transact(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, table := range []string{"pawl_recall_texts", "pawl_recall_scopes"} {
			query, args := "DELETE FROM "+table+" WHERE tenant = ?", []any{scope.Tenant}
			if scope.Session != "" {
				query, args = query+" AND session = ?", append(args, scope.Session)
			}
			if _, err := tx.ExecContext(ctx, query, args...); err != nil {
				return err
			}
		}
		return nil
	}))
}

// check returns an error of class fault.Permanent, because models never set a scope or a handle.
func check(s recall.Scope, handle string) error {
	err := cmp.Or(recall.ID{Tenant: s.Tenant, Kind: "texts", Key: cmp.Or(s.Session, "all")}.Check(),
		recall.ID{Tenant: s.Tenant, Kind: "texts", Key: handle}.Check())
	if err == nil {
		return nil
	}
	return fault.Wrap(fault.Permanent, fmt.Errorf("sqlmemory: the scope or the handle of a text: %w", err))
}
