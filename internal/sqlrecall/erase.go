package sqlrecall

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/erase"
)

const (
	allEntries = "SELECT tenant, kind, key, value FROM @recall ORDER BY tenant, kind, key"
	allTexts   = "SELECT tenant, session, handle, text FROM @recall_texts ORDER BY tenant, session, handle"
	setEntry   = "UPDATE @recall SET value = ?4, version = (SELECT last + 1 FROM @recall_tenants WHERE tenant = ?1) " +
		"WHERE tenant = ?1 AND kind = ?2 AND key = ?3 AND value = ?5"
	setText = "UPDATE @recall_texts SET text = ?4, size = ?5 " +
		"WHERE tenant = ?1 AND session = ?2 AND handle = ?3 AND text = ?6"
	addTenant = "UPDATE @recall_tenants SET bytes = bytes + ?2, last = last + 1 WHERE tenant = ?1"
	addScope  = "UPDATE @recall_scopes SET bytes = bytes + ?3 WHERE tenant = ?1 AND session = ?2"
)

// A changed row has another value. Its place is of a tenant, a kind or a session, and a key or a
// handle.
type changed struct {
	place    [3]string
	was, now []byte
}

// Erase replaces the words that match finds in the entries and texts of all tenants, and returns in
// how many, and the names of those that have such words in them. Each is replaced by itself.
func (s *Store) Erase(ctx context.Context, match func(text string) []string, with string) (n int, names []string,
	err error) {
	if match == nil || with == "" || len(match(with)) > 0 {
		return 0, nil, fault.Errorf(fault.Permanent,
			"%s: Erase needs a function match, and a text in place of what it finds that isn't empty and has no such words",
			s.cfg.Package)
	}
	entries, names, err := s.matching(ctx, allEntries, "kind %q, key %q", match, with, (*erase.Walk).Free)
	if err != nil {
		return 0, nil, err
	}
	texts, more, err := s.matching(ctx, allTexts, "session %q, handle %q", match, with,
		func(w *erase.Walk, text []byte) []byte { return []byte(w.String(string(text))) })
	if names = append(names, more...); err != nil {
		return 0, nil, err
	}
	for _, e := range entries {
		done, err := s.replace(ctx, e, setEntry, addTenant, []any{e.place[0]}, nil)
		if err != nil {
			return n, names, err
		}
		n += done
	}
	for _, e := range texts {
		done, err := s.replace(ctx, e, setText, addScope, []any{e.place[0], e.place[1]},
			[]any{len(e.place[2]) + len(e.now)})
		if err != nil {
			return n, names, err
		}
		n += done
	}
	return n, names, nil
}

// matching returns the rows of a table in which something is to be replaced, and the names of those
// that have words in their place, whose last two parts are written as named says.
func (s *Store) matching(ctx context.Context, query, named string, match func(string) []string, with string,
	walk func(*erase.Walk, []byte) []byte) (list []changed, names []string, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, db *sql.DB) error {
		list, names = nil, nil
		rows, err := db.QueryContext(ctx, s.sql(query))
		if err != nil {
			return err
		}
		for rows.Next() {
			var c changed
			if err := rows.Scan(&c.place[0], &c.place[1], &c.place[2], &c.was); err != nil {
				return errors.Join(err, rows.Close())
			}
			var words, members []string
			w := erase.Found(match, &words, &members)
			for _, name := range c.place {
				w.Name("", name)
			}
			if len(members) > 0 {
				names = append(names, fmt.Sprintf("tenant %q, "+named, c.place[0], c.place[1], c.place[2]))
			}
			if walk(w, c.was); len(words) == 0 {
				continue
			}
			if c.now = walk(erase.Replaced(words, with, match), c.was); string(c.now) != string(c.was) {
				list = append(list, c)
			}
		}
		return errors.Join(rows.Err(), rows.Close())
	})
	return list, names, s.callerError("reading what is to be erased", err)
}

// replace stores a row, unless it was changed meanwhile, and counts its bytes.
func (s *Store) replace(ctx context.Context, c changed, set, add string, of, more []any) (n int, err error) {
	err = s.change(ctx, c.place[0], func(ctx context.Context, tx *sql.Tx) error {
		args := []any{c.place[0], c.place[1], c.place[2], c.now}
		result, err := tx.ExecContext(ctx, s.sql(set), append(append(args, more...), c.was)...)
		if err != nil {
			return err
		}
		done, err := result.RowsAffected()
		if n = int(done); err != nil || n == 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, s.sql(add), append(of, len(c.now)-len(c.was))...)
		return err
	})
	return n, s.callerError("erasing", err)
}
