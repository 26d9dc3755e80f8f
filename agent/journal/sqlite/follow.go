package sqlite

import (
	"context"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

var _ journal.Follower = (*Store)(nil)

var (
	// changes are those after a number, each with the number of the last record of the one before.
	changes = dialect.SQL(`SELECT c.n, s.name, c.seq, max(s.pruned, coalesce((
			SELECT max(p.seq) FROM @changes p WHERE p.session = c.session AND p.seq < c.seq), 0))
		FROM @changes c JOIN @sessions s ON s.id = c.session WHERE c.n > ?1 ORDER BY c.n LIMIT ?2`)
	// newest is the number of the last change that there ever was.
	newest = dialect.SQL("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = '@changes'), 0)")
)

// Changes implements [journal.Follower]. It returns at most 200 at once. There is one writer at a
// time, so no change has a number below one that was seen before.
func (s *Store) Changes(ctx context.Context, cursor string) (found []journal.Change, next string, err error) {
	var after, last int64
	if cursor != "" && cursor != journal.Newest {
		text, ok := strings.CutPrefix(cursor, cursorPrefix)
		if after, err = strconv.ParseInt(text, 10, 64); !ok || err != nil || after < 0 {
			return nil, "", sqljournal.ErrCursor
		}
	}
	err = s.db.Query(ctx, newest, nil, func(scan func(...any) error) error { return scan(&last) })
	if err != nil {
		return nil, "", err
	}
	if cursor == journal.Newest || after == last {
		return nil, cursorOf(last), nil
	}
	if after > last { // the file was restored from a backup
		after = 0
	}
	err = s.db.Query(ctx, changes, []any{after, sqljournal.ChangesAtOnce}, func(scan func(...any) error) error {
		var c journal.Change
		err := scan(&after, &c.Session, &c.Seq, &c.After)
		c.Cursor = cursorOf(after)
		found = append(found, c)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return found, cursorOf(after), nil
}

const cursorPrefix = "sqlite:"

func cursorOf(n int64) string { return cursorPrefix + strconv.FormatInt(n, 10) }
