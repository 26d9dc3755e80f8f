package sqlrecall

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

// Texts returns the [memory.Store] of a scope.
func (s *Store) Texts(scope recall.Scope) memory.Store { return &texts{s, scope} }

const (
	getText    = "SELECT text FROM @recall_texts WHERE tenant = ?1 AND session = ?2 AND handle = ?3"
	getTurn    = "SELECT turn FROM @recall_texts WHERE tenant = ?1 AND session = ?2 AND handle = ?3"
	setTurn    = "UPDATE @recall_texts SET turn = ?4 WHERE tenant = ?1 AND session = ?2 AND handle = ?3"
	putText    = "INSERT INTO @recall_texts (tenant, session, handle, turn, size, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
	oldest     = "SELECT turn, size FROM @recall_texts WHERE tenant = ?1 AND session = ?2 ORDER BY turn"
	dropOldest = "DELETE FROM @recall_texts WHERE tenant = ?1 AND session = ?2 AND turn <= ?3"
	getScope   = "SELECT last, bytes FROM @recall_scopes WHERE tenant = ?1 AND session = ?2"
	putScope   = "INSERT INTO @recall_scopes (tenant, session, last, bytes) VALUES (?1, ?2, ?3, ?4) " +
		"ON CONFLICT (tenant, session) DO UPDATE SET last = ?3, bytes = ?4"
)

// Put implements [memory.Store].
func (t *texts) Put(ctx context.Context, handle, text string) error {
	s := t.store
	if err := s.check(t.scope, handle); err != nil {
		return err
	}
	size := int64(len(handle) + len(text))
	if size > s.cfg.TextBytes {
		return fault.Errorf(fault.Permanent, "%s: a text of %d bytes doesn't fit a scope of %d; raise Config.TextBytes",
			s.cfg.Package, size, s.cfg.TextBytes)
	}
	tenant, session := t.scope.Tenant, t.scope.Session
	return s.callerError("keeping a text", s.change(ctx, tenant, func(ctx context.Context, tx *sql.Tx) error {
		var last, bytes, turn int64
		err := tx.QueryRowContext(ctx, s.sql(getScope), tenant, session).Scan(&last, &bytes)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		err = tx.QueryRowContext(ctx, s.sql(getTurn), tenant, session, handle).Scan(&turn)
		switch {
		case err == nil && turn == last:
			return nil
		case err == nil:
			_, err = tx.ExecContext(ctx, s.sql(setTurn), tenant, session, handle, last+1)
		case errors.Is(err, sql.ErrNoRows):
			if bytes, err = t.makeRoom(ctx, tx, bytes, size); err == nil {
				_, err = tx.ExecContext(ctx, s.sql(putText), tenant, session, handle, last+1, size, []byte(text))
			}
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, s.sql(putScope), tenant, session, last+1, bytes)
		}
		return err
	}))
}

// makeRoom deletes the oldest texts until another of this size fits, and returns the size of the
// scope including it.
func (t *texts) makeRoom(ctx context.Context, tx *sql.Tx, bytes, size int64) (after int64, err error) {
	if bytes += size; bytes <= t.store.cfg.TextBytes {
		return bytes, nil
	}
	rows, err := tx.QueryContext(ctx, t.store.sql(oldest), t.scope.Tenant, t.scope.Session)
	if err != nil {
		return 0, err
	}
	var upTo int64
	for bytes > t.store.cfg.TextBytes && rows.Next() {
		var had int64
		if err := rows.Scan(&upTo, &had); err != nil {
			return 0, errors.Join(err, rows.Close())
		}
		bytes -= had
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, t.store.sql(dropOldest), t.scope.Tenant, t.scope.Session, upTo)
	return bytes, err
}

// Get implements [memory.Store].
func (t *texts) Get(ctx context.Context, handle string) (string, error) {
	if err := t.store.check(t.scope, "any"); err != nil {
		return "", err
	}
	var text []byte
	err := sql.ErrNoRows
	if t.store.check(t.scope, handle) == nil { // a model may make up any
		err = t.store.db.Read(ctx, func(ctx context.Context, db *sql.DB) error {
			return db.QueryRowContext(ctx, t.store.sql(getText), t.scope.Tenant, t.scope.Session, handle).Scan(&text)
		})
	}
	if errors.Is(err, sql.ErrNoRows) {
		return "", fault.Errorf(fault.NotFound, "%s: there is no text with the handle %.40q", t.store.cfg.Package, handle)
	}
	return string(text), t.store.callerError("reading a text", err)
}

// Forget deletes the texts of a session, or for a scope without a session all texts of its tenant.
func (s *Store) Forget(ctx context.Context, scope recall.Scope) error {
	if err := s.check(scope, "any"); err != nil {
		return err
	}
	return s.callerError("forgetting texts", s.change(ctx, scope.Tenant, func(ctx context.Context, tx *sql.Tx) error {
		for _, table := range []string{"@recall_texts", "@recall_scopes"} {
			query, args := "DELETE FROM "+table+" WHERE tenant = ?1", []any{scope.Tenant}
			if scope.Session != "" {
				query, args = query+" AND session = ?2", append(args, scope.Session)
			}
			if _, err := tx.ExecContext(ctx, s.sql(query), args...); err != nil {
				return err
			}
		}
		return nil
	}))
}

// check returns an error of class fault.Permanent, because models never set a scope, and a handle
// is made from its text.
func (s *Store) check(scope recall.Scope, handle string) error {
	err := cmp.Or(recall.ID{Tenant: scope.Tenant, Kind: "texts", Key: cmp.Or(scope.Session, "all")}.Check(),
		recall.ID{Tenant: scope.Tenant, Kind: "texts", Key: handle}.Check())
	if err == nil {
		return nil
	}
	return fault.Wrap(fault.Permanent,
		fmt.Errorf("%s: the scope or the handle of a text: %w", s.cfg.Package, err))
}
