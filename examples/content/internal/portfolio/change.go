package portfolio

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"
)

// A Change changes an artifact in one transaction.
type Change struct {
	User, Artifact string
	Holder         string // of the lock; empty: none
	By             Trigger
	Tool           string

	// From is the status that the artifact must have, and To the one that it gets. The same one
	// changes no status.
	From, To Status
	Seen     *time.Time // the UpdatedAt of the artifact that it is made from; nil: not compared
	Title    *string
	Tone     *string
	Content  *string
	Tags     []string       // nil: as they are
	Metadata map[string]any // is merged; nil removes a field
	Sources  []Source       // are added; those that are there already stay as they are
	Images   []Image
	// Author is that of the version that this makes; empty: the tool, or By.
	Author string
	// Apart says that the version doesn't join that of the same person from the last ten minutes.
	Apart bool

	// Key makes the change take effect once, and possible to undo. Output is the answer that a
	// repetition gets.
	Key    string
	Output any
	// Begins says that another change with the same Key completes this one.
	Begins bool
}

// An Image belongs to an artifact.
type Image struct {
	ID, Type string
	Data     []byte
}

// The states of effects.
const (
	begun  = "begun"
	done   = "done"
	undone = "undone"
)

// Done returns the Output of a change with this key that took effect and wasn't undone, and whether
// there is one.
func (s *Store) Done(ctx context.Context, key string) (output json.RawMessage, ok bool, err error) {
	var text string
	err = s.db.QueryRowContext(ctx, "SELECT output FROM effects WHERE key = ? AND state = ?", key, done).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return json.RawMessage(text), err == nil, err
}

// Apply makes a change and returns the artifact after it. A change whose Key took effect before
// changes nothing. If the artifact's status isn't From, the error is an [*Error] of the category
// InvalidStatus, and for an artifact that somebody else has locked, or that has changed since Seen,
// Conflict.
func (s *Store) Apply(ctx context.Context, c Change) (a Artifact, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		a, err = s.apply(ctx, tx, &c)
		return err
	})
	return a, err
}

func (s *Store) apply(ctx context.Context, tx *sql.Tx, c *Change) (Artifact, error) {
	a, err := s.unlocked(ctx, tx, c.User, c.Artifact, c.Holder)
	if err != nil {
		return a, err
	}
	state := ""
	if c.Key != "" {
		err := tx.QueryRowContext(ctx, "SELECT state FROM effects WHERE key = ?", c.Key).Scan(&state)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return a, err
		}
		if state == done || (state == begun && c.Begins) {
			return a, nil
		}
	}
	if a.Status != c.From {
		return a, &Error{Category: InvalidStatus, Status: a.Status,
			Message: fmt.Sprintf("The artifact has the status %s, and not %s; look at it again.", a.Status, c.From)}
	}
	if c.Seen != nil && c.Seen.UnixMilli() != a.UpdatedAt.UnixMilli() {
		return a, Errorf(Conflict,
			"The artifact has changed since you opened it; keep a copy of your text, look at the new version, "+
				"and add to that.")
	}
	if c.To != c.From {
		if _, ok := Legal(c.From, c.To, c.By, c.Tool); !ok {
			return a, &Error{Category: InvalidStatus, Status: a.Status,
				Message: fmt.Sprintf("An artifact can't go from %s to %s that way.", c.From, c.To)}
		}
	}
	if c.Key != "" {
		if err := s.keep(ctx, tx, c, &a, state); err != nil {
			return a, err
		}
	}
	return a, s.change(ctx, tx, c, &a)
}

// keep records what was before a change with a key.
func (s *Store) keep(ctx context.Context, tx *sql.Tx, c *Change, a *Artifact, state string) error {
	output, err := json.Marshal(c.Output)
	if err != nil {
		return err
	}
	next := done
	if c.Begins {
		next = begun
	}
	if state == begun {
		_, err = tx.ExecContext(ctx, "UPDATE effects SET state = ?, output = ?, at = ? WHERE key = ?", next,
			string(output), s.now().UnixMilli(), c.Key)
		return err
	}
	old, err := json.Marshal(a.Metadata)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO effects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", c.Key, a.ID,
		c.Tool, next, a.Status, a.Content, string(old), string(output), s.now().UnixMilli())
	return err
}

// change writes the artifact, the history and what comes with them.
func (s *Store) change(ctx context.Context, tx *sql.Tx, c *Change, a *Artifact) error {
	for _, set := range []struct{ to, from *string }{{&a.Title, c.Title}, {&a.Tone, c.Tone}, {&a.Content, c.Content}} {
		if set.from != nil {
			*set.to = *set.from
		}
	}
	if err := errors.Join(CheckLength("title", a.Title, MaxTitle), CheckLength("content", a.Content, MaxContent),
		CheckTone(a.Tone)); err != nil {
		return err
	}
	if c.Tags != nil {
		a.Tags = c.Tags
	}
	a.Metadata = maps.Clone(a.Metadata)
	for k, v := range c.Metadata {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if a.Metadata[k] = text; v == nil {
			delete(a.Metadata, k)
		}
	}
	for _, v := range c.Sources {
		if _, err := tx.ExecContext(ctx,
			"INSERT OR IGNORE INTO artifact_research (artifact_id, effect, source_type, source_name, source_url, "+
				"excerpt, relevance) VALUES (?, ?, ?, ?, ?, ?, ?)",
			a.ID, c.Key, v.Type, v.Name, v.URL, v.Excerpt, v.Relevance); err != nil {
			return err
		}
	}
	if err := putImages(ctx, tx, a.ID, c.Images); err != nil {
		return err
	}
	return s.put(ctx, tx, a, c)
}

func putImages(ctx context.Context, tx *sql.Tx, artifact string, all []Image) error {
	for _, i := range all {
		if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO images VALUES (?, ?, ?, ?)", i.ID, artifact, i.Type,
			i.Data); err != nil {
			return err
		}
	}
	return nil
}

// put writes an artifact with the new status of a change.
func (s *Store) put(ctx context.Context, tx *sql.Tx, a *Artifact, c *Change) error {
	metadata, err := json.Marshal(a.Metadata)
	if err != nil {
		return err
	}
	tags, err := json.Marshal(a.Tags)
	if err != nil {
		return err
	}
	now, from := s.now().UTC().Truncate(time.Millisecond), a.Status
	if earliest := a.UpdatedAt.Add(time.Millisecond); now.Before(earliest) {
		now = earliest // each change has a time of its own, so that Change.Seen can tell them apart
	}
	a.Status, a.UpdatedAt = c.To, now
	if _, err := tx.ExecContext(ctx,
		"UPDATE artifacts SET title = ?, tone = ?, tags = ?, content = ?, metadata = ?, status = ?, updated_at = ? "+
			"WHERE id = ?",
		a.Title, a.Tone, string(tags), a.Content, string(metadata), a.Status, now.UnixMilli(), a.ID); err != nil {
		return err
	}
	author := cmp.Or(c.Author, string(c.By))
	if c.By == ByTool {
		author = cmp.Or(c.Author, c.Tool)
	}
	if err := s.keepVersion(ctx, tx, a, author, c.Apart); err != nil || from == a.Status {
		return err
	}
	_, err = tx.ExecContext(ctx,
		"INSERT INTO status_history (artifact_id, old_status, new_status, trigger, tool, effect, at) VALUES (?, ?, "+
			"?, ?, ?, ?, ?)",
		a.ID, from, a.Status, c.By, c.Tool, c.Key, now.UnixMilli())
	return err
}

// Undo puts back what was before the change with this key, and reports whether there was something
// to put back. If the artifact has changed since in another way, the error is an [*Error] of the
// category Conflict. An empty user stands for the owner, whoever that is.
func (s *Store) Undo(ctx context.Context, user, key, holder string) (was bool, err error) {
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		was, err = s.undo(ctx, tx, user, key, holder)
		return err
	})
	return was, err
}

func (s *Store) undo(ctx context.Context, tx *sql.Tx, user, key, holder string) (bool, error) {
	var artifact, tool, state, content, metadata string
	var status Status
	err := tx.QueryRowContext(ctx,
		"SELECT artifact_id, tool, state, old_status, old_content, old_metadata FROM effects WHERE key = ?", key).
		Scan(&artifact, &tool, &state, &status, &content, &metadata)
	if errors.Is(err, sql.ErrNoRows) || state == undone {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if user == "" {
		if err := tx.QueryRowContext(ctx, "SELECT user_id FROM artifacts WHERE id = ?", artifact).Scan(&user); err !=
			nil {
			return false, err
		}
	}
	a, err := s.unlocked(ctx, tx, user, artifact, holder)
	if err != nil {
		return false, err
	}
	var later int
	if err := tx.QueryRowContext(ctx,
		`SELECT count(*) FROM effects WHERE artifact_id = ? AND state <> 'undone' AND rowid > (SELECT rowid FROM effects WHERE key = ?)`, artifact, key).Scan(&later); err != nil {
		return false, err
	}
	if _, legal := Legal(a.Status, status, ByRestore, tool); later > 0 || (a.Status != status && !legal) {
		return false, Errorf(Conflict, "The artifact has changed since; undo the later changes first.")
	}
	a.Content, a.Metadata = content, nil
	if err := json.Unmarshal([]byte(metadata), &a.Metadata); err != nil {
		return false, err
	}
	for _, q := range []string{"UPDATE effects SET state = 'undone' WHERE key = ?",
		"DELETE FROM artifact_research WHERE effect = ?"} {
		if _, err := tx.ExecContext(ctx, q, key); err != nil {
			return false, err
		}
	}
	return true, s.put(ctx, tx, &a, &Change{To: status, By: ByRestore, Tool: tool, Key: key})
}

// RollBackAbandoned undoes changes that were begun and that nobody completes: no process has the
// artifact locked any more. It returns how many.
func (s *Store) RollBackAbandoned(ctx context.Context) (n int, err error) {
	left, err := list(ctx, s.db, func(r *sql.Rows, v *[2]string) error { return r.Scan(&v[0], &v[1]) },
		"SELECT e.key, a.user_id FROM effects e JOIN artifacts a ON a.id = e.artifact_id WHERE e.state = 'begun' AND "+
			"a.locked_until < ?", s.now().UnixMilli())
	for _, v := range left {
		was, failed := s.Undo(ctx, v[1], v[0], "")
		if err = errors.Join(err, failed); was {
			n++
		}
	}
	return n, err
}
