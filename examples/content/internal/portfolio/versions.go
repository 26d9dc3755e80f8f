package portfolio

import (
	"context"
	"database/sql"
	"errors"
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
	var at int64
	err := r.Scan(&v.Number, &v.Author, &v.Title, &v.Content, &v.Length, &at)
	v.At = time.UnixMilli(at).UTC()
	return err
}

// Versions returns the versions of an artifact without their texts, the newest first.
func (s *Store) Versions(ctx context.Context, user, id string) ([]Version, error) {
	if _, err := s.Artifact(ctx, user, id); err != nil {
		return nil, err
	}
	return list(ctx, s.db, func(r *sql.Rows, v *Version) error {
		err := scanVersion(r, v)
		v.Content = ""
		return err
	}, versionColumns+"ORDER BY v.number DESC", user, id)
}

// Version returns one version of an artifact with its text.
func (s *Store) Version(ctx context.Context, user, id string, number int) (v Version, err error) {
	err = scanVersion(s.db.QueryRowContext(ctx, versionColumns+"AND v.number = ?", user, id, number), &v)
	if errors.Is(err, sql.ErrNoRows) {
		return v, Errorf(ArtifactNotFound, "This artifact has no version %d.", number)
	}
	return v, err
}

// Restore gives an artifact the title and the text of a version. That is a new version, so nothing
// is lost by it. A published artifact becomes ready, as after any edit.
func (s *Store) Restore(ctx context.Context, user, id string, number int) (a Artifact, err error) {
	v, err := s.Version(ctx, user, id, number)
	if err != nil {
		return a, err
	}
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		a, err = s.edit(ctx, tx, Change{User: user, Artifact: id, Title: &v.Title, Content: &v.Content,
			Author: "version"})
		return err
	})
	return a, err
}

// Retitle changes the title of an artifact. A published one becomes ready, as after any edit.
func (s *Store) Retitle(ctx context.Context, user, id, title string) (a Artifact, err error) {
	if title = strings.TrimSpace(title); title == "" {
		return a, Errorf(InvalidInput, "The title is empty.")
	}
	err = s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		a, err = s.edit(ctx, tx, Change{User: user, Artifact: id, Title: &title})
		return err
	})
	return a, err
}

// edit makes a change of the owner in whatever status the artifact is.
func (s *Store) edit(ctx context.Context, tx *sql.Tx, c Change) (Artifact, error) {
	a, err := s.unlocked(ctx, tx, c.User, c.Artifact, c.Holder)
	if err != nil {
		return a, err
	}
	c.By, c.From, c.To = ByUser, a.Status, a.Status
	if a.Status == Published {
		c.To = Ready
	}
	return s.apply(ctx, tx, &c)
}

// keepVersion records the title and the text of an artifact if they are new. What a person changes
// within ten minutes is one version, unless it is to be one apart.
func (s *Store) keepVersion(ctx context.Context, tx *sql.Tx, a *Artifact, author string, apart bool) error {
	var last Version
	err := scanVersion(tx.QueryRowContext(ctx, versionColumns+"ORDER BY v.number DESC", a.User, a.ID), &last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if last.Title == a.Title && last.Content == a.Content || last.Number == 0 && a.Content == "" {
		return nil
	}
	number, at := last.Number+1, a.UpdatedAt
	if !apart && author == string(ByUser) && last.Author == author && a.UpdatedAt.Sub(last.At) < oneVersion {
		number, at = last.Number, last.At
	}
	if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO versions VALUES (?, ?, ?, ?, ?, ?)", a.ID, number, author,
		a.Title, a.Content, at.UnixMilli()); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM versions WHERE artifact_id = ? AND number <= ?", a.ID, number-MaxVersions)
	return err
}
