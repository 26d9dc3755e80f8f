package sessions

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// A row is a session in run_sessions. One that isn't there is zero but for its name.
type row struct {
	journal.Head
	known bool
}

const sessionColumns = `name, status, open, seq, pruned, fence, owner, until, updated,
	(SELECT count(*) FROM run_items i WHERE i.session = name AND NOT i.taken)`

// scanHead reads sessionColumns.
func scanHead(scan func(...any) error) (journal.Head, error) {
	var h journal.Head
	var open string
	var until, updated sql.NullInt64
	if err := scan(&h.Session, &h.Status, &open, &h.Seq, &h.Pruned, &h.Fence, &h.Owner, &until, &updated, &h.Inbox); err != nil {
		return h, err
	}
	h.Until, h.Updated = instant(until), instant(updated)
	return h, json.Unmarshal([]byte(open), &h.Open)
}

func load(ctx context.Context, tx *sql.Tx, name string) (*row, error) {
	h, err := scanHead(tx.QueryRowContext(ctx, "SELECT "+sessionColumns+" FROM run_sessions WHERE name = ?", name).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return &row{Head: journal.Head{Session: name}}, nil
	}
	return &row{Head: h, known: true}, err
}

// save writes the row, the inbox apart.
func (s *row) save(ctx context.Context, tx *sql.Tx) error {
	open, err := json.Marshal(s.Open)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO run_sessions (name, status, open, seq, pruned, fence, owner, until, updated)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
		ON CONFLICT (name) DO UPDATE SET status = ?2, open = ?3, seq = ?4, pruned = ?5, fence = ?6, owner = ?7, until = ?8, updated = ?9`,
		s.Session, s.Status, string(open), int64(s.Seq), int64(s.Pruned), int64(s.Fence), s.Owner, nanos(s.Until), nanos(s.Updated))
	return err
}

// writable reports whether fence may append: it is the newest, and wasn't released.
func (s *row) writable(fence uint64) bool {
	return fence == s.Fence && (fence == 0 || s.Owner != "")
}

func (s *row) conflict(after, fence uint64) error {
	return &journal.ConflictError{Session: s.Session, After: after, HaveSeq: s.Seq, Fence: fence, HaveFence: s.Fence, Owner: s.Owner, Until: s.Until}
}

// Append implements [journal.Store].
func (s *Store) Append(ctx context.Context, a journal.Append) error {
	if err := a.Validate(); err != nil {
		return err
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		at, err := load(ctx, tx, a.Session)
		if err != nil {
			return err
		}
		if !at.writable(a.Fence) {
			return at.conflict(a.After, a.Fence)
		}
		if same, err := at.has(ctx, tx, a); err != nil || same {
			return err
		}
		if a.After != at.Seq {
			return at.conflict(a.After, a.Fence)
		}
		for _, r := range a.Records {
			at.Seq++
			if _, err := tx.ExecContext(ctx, "INSERT INTO run_records (session, seq, fence, time, kind, v, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
				a.Session, int64(at.Seq), int64(a.Fence), nanos(r.Time), r.Kind, r.V, blob(r.Data)); err != nil {
				return err
			}
		}
		for _, id := range a.Taken {
			if _, err := tx.ExecContext(ctx, `INSERT INTO run_items (session, id, kind, data, taken) VALUES (?, ?, '', x'', 1)
				ON CONFLICT (session, id) DO UPDATE SET kind = '', time = NULL, data = x'', taken = 1`, a.Session, id); err != nil {
				return err
			}
		}
		if a.Head != nil {
			at.Status, at.Open = a.Head.Status, nil
			for _, o := range a.Head.Open {
				o.Expires = o.Expires.UTC()
				at.Open = append(at.Open, o)
			}
		}
		at.Updated = time.Now()
		return at.save(ctx, tx)
	})
}

// has reports whether the very records of a stand where a would put them, under the same fence.
func (s *row) has(ctx context.Context, tx *sql.Tx, a journal.Append) (bool, error) {
	n := uint64(len(a.Records))
	if n == 0 || a.After < s.Pruned || a.After+n > s.Seq {
		return false, nil
	}
	stand, fences, err := records(ctx, tx, a.Session, a.After, int(n))
	if err != nil || len(stand) != len(a.Records) {
		return false, err
	}
	for i, r := range stand {
		if fences[i] != a.Fence || !r.Equal(a.Records[i]) {
			return false, nil
		}
	}
	return true, nil
}

// records returns up to limit records after a number, and the fences under which they were appended.
func records(ctx context.Context, tx *sql.Tx, session string, after uint64, limit int) (list []journal.Record, fences []uint64, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT seq, fence, time, kind, v, data FROM run_records WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?",
		session, int64(after), limit)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var r journal.Record
		var fence uint64
		var at sql.NullInt64
		var data sql.RawBytes
		if err := rows.Scan(&r.Seq, &fence, &at, &r.Kind, &r.V, &data); err != nil {
			return nil, nil, err
		}
		r.Time, r.Data = instant(at), bytes.Clone(data)
		list, fences = append(list, r), append(fences, fence)
	}
	return list, fences, rows.Err()
}
