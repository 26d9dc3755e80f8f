package sqljournal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/ratelimit"
)

// maxAllowanceKey is the most bytes that a key of an allowance has: an index has a row for each.
const maxAllowanceKey = 512

// allowances is a [ratelimit.AllowanceStore] in the table allowances, of which it has the rows with
// its name.
type allowances struct {
	db      Database
	name    string
	invalid error // what is wrong with name

	find, clock, insert, update, clear string
}

// NewAllowances returns the states of allowances in db, whose tables exist, under a name. With an
// invalid name each Update fails.
func NewAllowances(db Database, d Dialect, name string) ratelimit.AllowanceStore {
	now, skip := d.Now, ""
	if now == "" {
		now = "0"
	}
	if d.Lock != "" {
		skip = d.Lock + " SKIP LOCKED"
	}
	a := &allowances{
		db: db, name: name,
		find:   d.SQL("SELECT state, " + now + " FROM @allowances WHERE name = ?1 AND key = ?2" + d.Lock),
		clock:  d.SQL("SELECT " + now),
		insert: d.SQL("INSERT INTO @allowances (name, key, state, idle) VALUES (?1, ?2, ?3, ?4)"),
		update: d.SQL("UPDATE @allowances SET state = ?3, idle = ?4 WHERE name = ?1 AND key = ?2"),
		clear: d.SQL(`WITH old AS MATERIALIZED (SELECT name, key FROM @allowances WHERE idle <= ?1 ORDER BY idle LIMIT 2` +
			skip + `) DELETE FROM @allowances WHERE (name, key) IN (SELECT name, key FROM old)`),
	}
	var invalid *journal.InvalidError
	if errors.As(journal.ValidateSession(name), &invalid) {
		a.invalid = &journal.InvalidError{Field: "name of allowances", Problem: invalid.Problem}
	}
	return a
}

// Update implements [ratelimit.AllowanceStore].
func (a *allowances) Update(ctx context.Context, key string, change ratelimit.AllowanceChange) error {
	if a.invalid != nil {
		return a.invalid
	}
	if len(key) > maxAllowanceKey {
		return ratelimit.ErrAllowanceKey
	}
	var refused error // of change
	err := a.db.Write(ctx, func(ctx context.Context, tx Tx) error {
		refused = nil
		state, now, known, err := a.lock(ctx, tx, key)
		if err != nil {
			return err
		}
		if state, refused = change(state, now); refused != nil {
			return refused
		}
		return a.save(ctx, tx, key, state, now, known)
	})
	if refused != nil {
		return refused
	}
	return err
}

// lock returns the state of a key, whose row it locks, the time, and whether there is a row.
func (a *allowances) lock(ctx context.Context, tx Tx, key string) (
	state ratelimit.AllowanceState, now time.Time, known bool, err error) {
	var (
		text string
		at   instant
	)
	err = tx.QueryRowContext(ctx, a.find, a.name, []byte(key)).Scan(&text, &at)
	known = !errors.Is(err, sql.ErrNoRows)
	if !known {
		err = tx.QueryRowContext(ctx, a.clock).Scan(&at)
	}
	if err == nil && known {
		if err = json.Unmarshal([]byte(text), &state); err != nil {
			err = fmt.Errorf("the state of an allowance of %q is damaged: %w", a.name, err)
		}
	}
	if now = time.Time(at); now.UnixNano() <= 0 {
		now = time.Now()
	}
	return state, now, known, err
}

// save stores the state of a key. A new key removes two whose states count no more, so that the
// table has about as many rows as keys in use. Another transaction that inserts the same key first
// makes this one fail, and Write runs it again.
func (a *allowances) save(ctx context.Context, tx Tx, key string, state ratelimit.AllowanceState, now time.Time,
	known bool) error {
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	statement, idle := a.update, state.Idle/int64(time.Hour)+1
	if !known {
		statement = a.insert
		if _, err := tx.ExecContext(ctx, a.clear, now.UnixNano()/int64(time.Hour)); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, statement, a.name, []byte(key), string(text), idle)
	return err
}
