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
	output, err = get(ctx, s.db, scalar[json.RawMessage], nil,
		"SELECT CAST(output AS BLOB) FROM effects WHERE key = ? AND state = ?", key, done)
	return output, len(output) > 0, err
}

// Apply makes a change and returns the artifact after it. A change whose Key took effect before
// changes nothing. If the artifact's status isn't From, the error is an [*Error] of the category
// InvalidStatus, and for an artifact that somebody else has locked, or that has changed since Seen,
// Conflict.
func (s *Store) Apply(ctx context.Context, c Change) (a Artifact, err error) {
	err = s.write(ctx, func(t *tx) { a = t.apply(&c) })
	return a, err
}

func (t *tx) apply(c *Change) Artifact {
	a, state := t.unlocked(c.User, c.Artifact, c.Holder), ""
	if c.Key != "" {
		state = read(t, scalar[string], nil, "SELECT state FROM effects WHERE key = ?", c.Key)
	}
	switch {
	case state == done || state == begun && c.Begins:
		return a
	case a.Status != c.From:
		t.fail(&Error{Category: InvalidStatus, Status: a.Status,
			Message: fmt.Sprintf("The artifact has the status %s, and not %s; look at it again.", a.Status, c.From)})
	case c.Seen != nil && c.Seen.UnixMilli() != a.UpdatedAt.UnixMilli():
		t.fail(Errorf(Conflict, "The article has changed since you opened it; keep a copy of your text, look at the "+
			"new version, and add to that."))
	case c.To != c.From && !Legal(c.From, c.To, c.By, c.Tool):
		t.fail(&Error{Category: InvalidStatus, Status: a.Status,
			Message: fmt.Sprintf("An article can't go from %s to %s that way.", c.From, c.To)})
	}
	if t.err == nil {
		t.keep(c, &a, state)
		t.change(c, &a)
	}
	return a
}

// keep records what was before a change with a key.
func (t *tx) keep(c *Change, a *Artifact, state string) {
	next := done
	if c.Begins {
		next = begun
	}
	switch {
	case c.Key == "":
	case state == begun:
		t.exec("UPDATE effects SET state = ?, output = ?, at = ? WHERE key = ?", next, asJSON{c.Output}, unix(t.now),
			c.Key)
	default:
		t.exec("INSERT OR REPLACE INTO effects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", c.Key, a.ID, c.Tool, next, a.Status,
			a.Content, asJSON{a.Metadata}, asJSON{c.Output}, unix(t.now))
	}
}

// change writes the artifact, the history and what comes with them.
func (t *tx) change(c *Change, a *Artifact) {
	for _, set := range []struct{ to, from *string }{{&a.Title, c.Title}, {&a.Tone, c.Tone}, {&a.Content, c.Content}} {
		if set.from != nil {
			*set.to = *set.from
		}
	}
	t.fail(errors.Join(CheckLength("title", a.Title, MaxTitle), CheckLength("content", a.Content, MaxContent),
		CheckTone(a.Tone)))
	if c.Tags != nil {
		a.Tags = c.Tags
	}
	a.Metadata = maps.Clone(a.Metadata)
	for k, v := range c.Metadata {
		text, err := json.Marshal(v)
		t.fail(err)
		if a.Metadata[k] = text; v == nil {
			delete(a.Metadata, k)
		}
	}
	for _, v := range c.Sources {
		t.exec("INSERT OR IGNORE INTO artifact_research (artifact_id, effect, source_type, source_name, source_url, "+
			"excerpt, relevance) VALUES (?, ?, ?, ?, ?, ?, ?)", a.ID, c.Key, v.Type, v.Name, v.URL, v.Excerpt,
			v.Relevance)
	}
	t.putImages(a.ID, c.Images)
	t.put(a, c)
}

func (t *tx) putImages(artifact string, all []Image) {
	for _, i := range all {
		t.exec("INSERT OR REPLACE INTO images VALUES (?, ?, ?, ?)", i.ID, artifact, i.Type, i.Data)
	}
}

// put writes an artifact with the new status of a change.
func (t *tx) put(a *Artifact, c *Change) {
	from, now := a.Status, t.now
	if earliest := a.UpdatedAt.Add(time.Millisecond); now.Before(earliest) {
		now = earliest // each change has a time of its own, so that Change.Seen can tell them apart
	}
	a.Status, a.UpdatedAt = c.To, now
	t.exec("UPDATE artifacts SET title = ?, tone = ?, tags = ?, content = ?, metadata = ?, status = ?, updated_at = ? "+
		"WHERE id = ?", a.Title, a.Tone, asJSON{a.Tags}, a.Content, asJSON{a.Metadata}, a.Status, unix(now), a.ID)
	author := c.Author
	if c.By == ByTool {
		author = cmp.Or(author, c.Tool)
	}
	t.keepVersion(a, cmp.Or(author, string(c.By)), c.Apart)
	if from != a.Status {
		t.exec("INSERT INTO status_history (artifact_id, old_status, new_status, trigger, tool, effect, at) VALUES "+
			"(?, ?, ?, ?, ?, ?, ?)", a.ID, from, a.Status, c.By, c.Tool, c.Key, unix(now))
	}
}

// Undo puts back what was before the change with this key, and reports whether there was something
// to put back. If the artifact has changed since in another way, the error is an [*Error] of the
// category Conflict. An empty user stands for the owner, whoever that is.
func (s *Store) Undo(ctx context.Context, user, key, holder string) (was bool, err error) {
	err = s.write(ctx, func(t *tx) { was = t.undo(user, key, holder) })
	return was && err == nil, err
}

func (t *tx) undo(user, key, holder string) bool {
	var owner, tool string
	var before Artifact
	t.fail(t.QueryRowContext(t.ctx, "SELECT e.artifact_id, a.user_id, e.tool, e.old_status, e.old_content, "+
		"e.old_metadata FROM effects e JOIN artifacts a ON a.id = e.artifact_id WHERE e.key = ? AND e.state <> 'undone'",
		key).Scan(&before.ID, &owner, &tool, &before.Status, &before.Content, asJSON{&before.Metadata}))
	if errors.Is(t.err, sql.ErrNoRows) {
		t.err = nil
		return false
	}
	a := t.unlocked(cmp.Or(user, owner), before.ID, holder)
	later := read(t, scalar[int], nil, "SELECT count(*) FROM effects WHERE artifact_id = ? AND state <> 'undone' AND "+
		"rowid > (SELECT rowid FROM effects WHERE key = ?)", before.ID, key)
	if later > 0 || a.Status != before.Status && !Legal(a.Status, before.Status, ByRestore, tool) {
		t.fail(Errorf(Conflict, "The article has changed since; undo the later changes first."))
	}
	a.Content, a.Metadata = before.Content, before.Metadata
	t.exec("UPDATE effects SET state = 'undone' WHERE key = ?", key)
	t.exec("DELETE FROM artifact_research WHERE effect = ?", key)
	t.put(&a, &Change{To: before.Status, By: ByRestore, Tool: tool, Key: key})
	return true
}

// RollBackAbandoned undoes changes that were begun and that nobody completes: no process has the
// artifact locked any more. It returns how many.
func (s *Store) RollBackAbandoned(ctx context.Context) (n int, err error) {
	left, err := list(ctx, s, scalar[string], "SELECT e.key FROM effects e JOIN artifacts a ON a.id = e.artifact_id "+
		"WHERE e.state = 'begun' AND a.locked_until < ?", unix(s.now()))
	for _, key := range left {
		was, failed := s.Undo(ctx, "", key, "")
		if err = errors.Join(err, failed); was {
			n++
		}
	}
	return n, err
}
