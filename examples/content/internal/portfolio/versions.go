package portfolio

import (
	"context"
	"strings"
	"time"
)

const (
	// MaxVersions is how many versions of an artifact are kept; the oldest go first.
	MaxVersions = 200
	// oneVersion is how long the changes of a person belong to one version. An editor saves often.
	oneVersion = 10 * time.Minute
)

// A Version is the title and the text that an artifact had at some time.
type Version struct {
	Number int `json:"number"` // from 1
	// Author is a [Trigger], the name of a tool, "proposal" for an accepted one, or "version" for a
	// restored one.
	Author string `json:"author"`
	Title  string `json:"title"`
	// Content is the text; Versions leaves it out.
	Content string    `json:"content,omitempty"`
	Length  int       `json:"length"` // of the content, in characters
	At      time.Time `json:"at"`
}

const versionColumns = "SELECT v.number, v.author, v.title, v.content, length(v.content), v.at FROM versions v " +
	"JOIN artifacts a ON a.id = v.artifact_id WHERE a.user_id = ? AND a.id = ? "

func scanVersion(r row, v *Version) error {
	return r.Scan(&v.Number, &v.Author, &v.Title, &v.Content, &v.Length, (*unix)(&v.At))
}

// Versions returns the versions of an artifact without their texts, the newest first.
func (s *Store) Versions(ctx context.Context, user, id string) ([]Version, error) {
	if _, err := s.Artifact(ctx, user, id); err != nil {
		return nil, err
	}
	all, err := list(ctx, s, scanVersion, versionColumns+"ORDER BY v.number DESC", user, id)
	for i := range all {
		all[i].Content = ""
	}
	return all, err
}

// Version returns one version of an artifact with its text.
func (s *Store) Version(ctx context.Context, user, id string, number int) (Version, error) {
	return get(ctx, s.db, scanVersion, notFound(), versionColumns+"AND v.number = ?", user, id, number)
}

// Restore gives an artifact the title and the text of a version. That is a new version, so nothing
// is lost by it. A published artifact becomes ready, as after any edit.
func (s *Store) Restore(ctx context.Context, user, id string, number int) (a Artifact, err error) {
	v, err := s.Version(ctx, user, id, number)
	if err != nil {
		return a, err
	}
	return s.Edit(ctx, Change{User: user, Artifact: id, Title: &v.Title, Content: &v.Content, Author: "version"})
}

// Retitle changes the title of an artifact. A published one becomes ready, as after any edit.
func (s *Store) Retitle(ctx context.Context, user, id, title string) (a Artifact, err error) {
	if title = strings.TrimSpace(title); title == "" {
		return a, Errorf(InvalidInput, "The title is empty.")
	}
	return s.Edit(ctx, Change{User: user, Artifact: id, Title: &title})
}

// Edit makes a change of the owner in whatever status the artifact is. A published one becomes
// ready.
func (s *Store) Edit(ctx context.Context, c Change) (a Artifact, err error) {
	err = s.write(ctx, func(t *tx) { a = t.edit(c) })
	return a, err
}

func (t *tx) edit(c Change) Artifact {
	a := t.unlocked(c.User, c.Artifact, c.Holder)
	c.By, c.From, c.To = ByUser, a.Status, a.Status
	if a.Status == Published {
		c.To = Ready
	}
	return t.apply(&c)
}

// keepVersion records the title and the text of an artifact if they are new. What a person changes
// within ten minutes is one version, unless it is to be one apart.
func (t *tx) keepVersion(a *Artifact, author string, apart bool) {
	last := read(t, scanVersion, nil, versionColumns+"ORDER BY v.number DESC", a.User, a.ID)
	if last.Title == a.Title && last.Content == a.Content || last.Number == 0 && a.Content == "" {
		return
	}
	number, at := last.Number+1, a.UpdatedAt
	if !apart && author == string(ByUser) && last.Author == author && a.UpdatedAt.Sub(last.At) < oneVersion {
		number, at = last.Number, last.At
	}
	t.exec("INSERT OR REPLACE INTO versions VALUES (?, ?, ?, ?, ?, ?)", a.ID, number, author, a.Title, a.Content,
		unix(at))
	t.exec("DELETE FROM versions WHERE artifact_id = ? AND number <= ?", a.ID, number-MaxVersions)
}
