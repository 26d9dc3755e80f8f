package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

var _ journal.Follower = (*Store)(nil)

// A position is a cursor of [Store.Changes]. Transactions commit in another order than they take
// numbers, so no number says what was seen. A snapshot of the server does: it lists the
// transactions that were still open. What comes next are the changes of transactions that seen
// doesn't have and now does, in the order of their numbers. When all of them were returned, now
// becomes seen.
//
// This waits for no open transaction, whoever has it: its changes come when it has committed.
type position struct {
	seen, now string // as pg_snapshot; now is empty if the next look makes one
	last      place  // of what was returned of those in now
}

// A place is that of a change in its order.
type place struct {
	tx           string
	session, seq int64
}

const (
	// nothing is the snapshot that has no transaction.
	nothing = "1:1:"
	// look returns the snapshot of now, and whether there are changes of transactions that aren't
	// yet: they come from another server, by a dump.
	look = `SELECT pg_current_snapshot()::text, EXISTS (SELECT FROM @changes WHERE tx >= pg_snapshot_xmax(pg_current_snapshot()))`
	// adopt makes these changes new ones.
	adopt = "UPDATE @changes SET tx = pg_current_xact_id() WHERE tx >= pg_snapshot_xmax(pg_current_snapshot())"
	// listChanges: after is the number of the last record of the change before, in the same order.
	listChanges = `SELECT c.tx::text, c.session, c.seq, s.name, greatest(s.pruned, coalesce((
			SELECT max(p.seq) FROM @changes p WHERE p.session = c.session AND p.seq < c.seq AND p.tx <= c.tx), 0))
		FROM @changes c JOIN @sessions s ON s.id = c.session
		WHERE c.tx >= pg_snapshot_xmin(?1::text::pg_snapshot) AND NOT pg_visible_in_snapshot(c.tx, ?1::text::pg_snapshot)
			AND pg_visible_in_snapshot(c.tx, ?2::text::pg_snapshot)
			AND (c.tx, c.session, c.seq) > (?3::text::xid8, ?4::bigint, ?5::bigint)
		ORDER BY c.tx, c.session, c.seq LIMIT ?6`
)

// Changes implements [journal.Follower]. It returns at most 200 at once. It needs the right to read
// the table changes, and once, after a dump was restored on another server, that to update it.
func (s *Store) Changes(ctx context.Context, cursor string) ([]journal.Change, string, error) {
	at, err := parse(cursor)
	if err != nil {
		return nil, "", err
	}
	now, err := s.look(ctx)
	if err != nil {
		return nil, "", err
	}
	switch {
	case cursor == journal.Newest:
		return nil, position{seen: now}.String(), nil
	case end(cmp.Or(at.now, at.seen)) > end(now): // of another server, or before one was restored from a backup
		at = position{seen: nothing}
	}
	at.now = cmp.Or(at.now, now)
	if at.seen == at.now {
		return nil, at.String(), nil
	}
	var found []journal.Change
	args := []any{at.seen, at.now, cmp.Or(at.last.tx, "0"), at.last.session, at.last.seq, sqljournal.ChangesAtOnce}
	err = s.db.Query(ctx, s.db.dialect.SQL(listChanges), args, func(scan func(...any) error) error {
		var c journal.Change
		err := scan(&at.last.tx, &at.last.session, &at.last.seq, &c.Session, &c.After)
		c.Seq, c.Cursor = uint64(at.last.seq), at.String()
		found = append(found, c)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	if len(found) < sqljournal.ChangesAtOnce {
		at = position{seen: at.now}
	}
	if len(found) > 0 {
		found[len(found)-1].Cursor = at.String()
	}
	return found, at.String(), nil
}

// look returns the snapshot of now.
func (s *Store) look(ctx context.Context) (now string, err error) {
	for range 2 {
		var foreign bool
		err = s.db.Query(ctx, s.db.dialect.SQL(look), nil, func(scan func(...any) error) error {
			return scan(&now, &foreign)
		})
		if err != nil || !foreign {
			return now, err
		}
		err = s.db.Write(ctx, func(ctx context.Context, tx sqljournal.Tx) error {
			_, err := tx.ExecContext(ctx, s.db.dialect.SQL(adopt))
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return now, nil
}

const cursorPrefix = "postgres:"

var cursorForm = regexp.MustCompile(`^(\d+:\d+:[\d,]*)/(\d+:\d+:[\d,]*)?/(?:(\d+)\.(\d+)\.(\d+))?$`)

// String returns the cursor.
func (p position) String() string {
	last := ""
	if p.last.tx != "" {
		last = fmt.Sprint(p.last.tx, ".", p.last.session, ".", p.last.seq)
	}
	now := p.now
	if now == p.seen {
		now = ""
	}
	return cursorPrefix + p.seen + "/" + now + "/" + last
}

func parse(cursor string) (p position, err error) {
	if cursor == "" || cursor == journal.Newest {
		return position{seen: nothing}, nil
	}
	text, ok := strings.CutPrefix(cursor, cursorPrefix)
	parts := cursorForm.FindStringSubmatch(text)
	if !ok || parts == nil {
		return p, sqljournal.ErrCursor
	}
	p = position{seen: parts[1], now: parts[2], last: place{tx: parts[3]}}
	if parts[3] != "" {
		var errs [2]error
		p.last.session, errs[0] = strconv.ParseInt(parts[4], 10, 64)
		p.last.seq, errs[1] = strconv.ParseInt(parts[5], 10, 64)
		if errors.Join(errs[:]...) != nil {
			return p, sqljournal.ErrCursor
		}
	}
	return p, nil
}

// end returns the number of the first transaction that a snapshot can't have.
func end(snapshot string) uint64 {
	_, text, _ := strings.Cut(snapshot, ":")
	text, _, _ = strings.Cut(text, ":")
	n, _ := strconv.ParseUint(text, 10, 64) // it has the form of one
	return n
}
