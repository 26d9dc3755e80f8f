package sqljournal

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// A row is a session in the table of sessions. One that doesn't exist has id 0, and only its name
// is set.
type row struct {
	journal.Head
	id  int64
	now time.Time // the store's time, if the row was locked
}

func (r *row) exists() bool { return r.id != 0 }

// errDamaged says that a row can't be read. It harms its session alone.
var errDamaged = journal.Unusable("its row in the table of sessions is damaged; restore it from a backup")

// scanRow reads the columns of Dialect.statements. The databases see to it that they have the right
// types. If what one says is damaged, scanRow returns the rest with an error that names the
// session.
func scanRow(scan func(...any) error) (*row, error) {
	var (
		r                             row
		openText, labels              string
		info                          blob
		id, seq, pruned, inbox, fence number
		until, due                    instant
		created, updated, now         instant
	)
	if err := scan(&id, &r.Session, &r.Status, &openText, &r.Kind, &r.Title, &labels, &r.Parent, &info, &due, &seq,
		&pruned, &inbox, &fence, &r.Owner, &until, &created, &updated, &now); err != nil {
		return nil, err
	}
	r.id, r.Seq, r.Pruned, r.Inbox, r.Fence = int64(id), uint64(seq), uint64(pruned), int(inbox), uint64(fence)
	r.Until, r.Created, r.Updated, r.now = time.Time(until), time.Time(created), time.Time(updated), time.Time(now)
	r.Due = time.Time(due)
	if len(info) > 0 {
		r.Info = info
	}
	var openErr, labelsErr, numbers error
	r.Open, openErr = decodeOpen(openText)
	r.Labels, labelsErr = decodeLabels(labels)
	if seq < 0 || pruned < 0 || pruned > seq {
		numbers = fmt.Errorf("pruned is %d, and the number of the last record is %d", pruned, seq)
	}
	if damage := cmp.Or(openErr, labelsErr, numbers); damage != nil {
		return &r, fmt.Errorf("journal: session %q: %w: %w", r.Session, errDamaged, damage)
	}
	return &r, nil
}

// find returns a session without locking it.
func (s *Store) find(ctx context.Context, name string) (*row, error) {
	r := &row{Head: journal.Head{Session: name}}
	err := s.db.Query(ctx, s.q.find, []any{name}, func(scan func(...any) error) (err error) {
		r, err = scanRow(scan)
		return err
	})
	return r, err
}

// lock returns a session and locks its row, so that it can be changed.
func (s *Store) lock(ctx context.Context, tx Tx, name string) (*row, error) {
	return s.lockBy(ctx, tx, s.q.lock, name)
}

// lockBy is lock with a statement of its own. A session that the statement leaves out is as one
// that doesn't exist.
func (s *Store) lockBy(ctx context.Context, tx Tx, statement, name string) (*row, error) {
	r, err := scanRow(tx.QueryRowContext(ctx, statement, name).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		r, err = &row{Head: journal.Head{Session: name}}, nil
	}
	if r != nil && r.now.UnixNano() <= 0 { // also of a damaged one
		r.now = time.Now().Round(0).UTC()
	}
	return r, err
}

// save updates the row, or inserts it if it doesn't exist.
func (s *Store) save(ctx context.Context, tx Tx, r *row) error {
	text, err := EncodeOpen(r.Open)
	if err != nil {
		return err
	}
	labels, err := EncodeLabels(r.Labels)
	if err != nil {
		return err
	}
	var idle *int64
	if r.Owner == "" {
		idle = Nanos(r.Updated)
	}
	args := []any{r.id, r.Status, text, len(r.Open), int64(r.Seq), int64(r.Pruned), r.Inbox, int64(r.Fence), r.Owner,
		Nanos(r.Until), r.Updated.UnixNano(), r.Kind, r.Title, labels, r.Parent,
		Nanos(r.Due), idle, Blob(r.Info)}
	if r.exists() {
		_, err = tx.ExecContext(ctx, s.q.update, args...)
		return err
	}
	r.Created = r.now
	args[0] = r.Session
	args = append(args, r.Created.UnixNano())
	var id number
	err = tx.QueryRowContext(ctx, s.q.insert, args...).Scan(&id)
	r.id = int64(id)
	return err
}

// touch sets Updated to now. It never goes back.
func (r *row) touch() {
	if r.now.After(r.Updated) {
		r.Updated = r.now
	}
}

// writable reports whether fence may append: it is the newest, and wasn't released.
func (r *row) writable(fence uint64) bool {
	return fence == r.Fence && (fence == 0 || r.Owner != "")
}

func (r *row) conflict(after, fence uint64) error {
	return &journal.ConflictError{Session: r.Session, After: after, HaveSeq: r.Seq,
		Fence: fence, HaveFence: r.Fence, Owner: r.Owner, Until: r.Until}
}
