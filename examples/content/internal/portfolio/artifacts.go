package portfolio

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The types of artifacts.
const (
	Blog       = "blog"
	SocialPost = "social_post"
	Showcase   = "showcase"
)

// Types and Tones are what an artifact can be, and how it can sound.
var (
	Types = []string{Blog, SocialPost, Showcase}
	Tones = []string{"formal", "casual", "professional", "conversational", "technical", "friendly", "authoritative",
		"humorous"}
)

// The greatest lengths, in characters.
const (
	MaxTitle   = 500
	MaxContent = 100_000
)

// An Artifact is a text with its images.
type Artifact struct {
	ID        string                     `json:"id"`
	User      string                     `json:"-"`
	Type      string                     `json:"type"`
	Title     string                     `json:"title"`
	Content   string                     `json:"content"`
	Status    Status                     `json:"status"`
	Tone      string                     `json:"tone"`
	Tags      []string                   `json:"tags"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
	CreatedAt time.Time                  `json:"createdAt"`
	UpdatedAt time.Time                  `json:"updatedAt"`
}

// A Source is what a piece of research found.
type Source struct {
	Number    int     `json:"number"` // by which a text cites it, from 1; Apply ignores it
	Type      string  `json:"sourceType"`
	Name      string  `json:"sourceName"`
	URL       string  `json:"sourceUrl,omitempty"`
	Excerpt   string  `json:"excerpt"`
	Relevance float64 `json:"relevanceScore"`
}

// A HistoryEntry is one change of an artifact's status.
type HistoryEntry struct {
	From   Status    `json:"from"`
	To     Status    `json:"to"`
	By     Trigger   `json:"by"`
	Tool   string    `json:"tool,omitempty"`
	Effect string    `json:"-"` // the Key of the [Change]
	At     time.Time `json:"at"`
}

// CheckType, CheckTone and CheckLength return an [*Error] if a value isn't valid.
func CheckType(t string) error {
	if !slices.Contains(Types, t) {
		return Errorf(InvalidContentType, "The type %q is unknown; it can be %s.", t, strings.Join(Types, ", "))
	}
	return nil
}

// CheckTone: see [CheckType].
func CheckTone(t string) error {
	if !slices.Contains(Tones, t) {
		return Errorf(InvalidTone, "The tone %q is unknown; it can be %s.", t, strings.Join(Tones, ", "))
	}
	return nil
}

// CheckLength: see [CheckType].
func CheckLength(what, text string, most int) error {
	if n := utf8.RuneCountInString(text); n > most {
		return Errorf(InvalidInput, "The %s has %d characters; it can have at most %d.", what, n, most)
	}
	return nil
}

// Create creates a draft for a.User. ID, Status and times are set; an empty Tone is professional.
func (s *Store) Create(ctx context.Context, a Artifact) (Artifact, error) {
	if a.Tone == "" {
		a.Tone = "professional"
	}
	a.Title = strings.TrimSpace(a.Title)
	if a.Title == "" {
		return a, Errorf(InvalidInput, "The title is empty.")
	}
	if _, err := s.UserByID(ctx, a.User); err != nil {
		return a, err
	}
	if err := errors.Join(CheckType(a.Type), CheckTone(a.Tone), CheckLength("title", a.Title, MaxTitle),
		CheckLength("content", a.Content, MaxContent)); err != nil {
		return a, err
	}
	if a.ID == "" {
		a.ID = newID()
	}
	if a.Tags == nil {
		a.Tags = []string{}
	}
	now := s.now().UTC()
	a.Status, a.CreatedAt, a.UpdatedAt = Draft, now, now
	if a.Metadata == nil {
		a.Metadata = map[string]json.RawMessage{}
	}
	tags, failed := json.Marshal(a.Tags)
	metadata, err := json.Marshal(a.Metadata)
	if err = errors.Join(failed, err); err != nil {
		return a, err
	}
	return a, s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx,
			"INSERT INTO artifacts (id, user_id, type, title, content, status, tone, tags, metadata, created_at, "+
				"updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			a.ID, a.User, a.Type, a.Title, a.Content, a.Status, a.Tone, string(tags), string(metadata), now.UnixMilli(),
			now.UnixMilli())
		if err != nil {
			return err
		}
		return s.keepVersion(ctx, tx, &a, string(ByUser), true)
	})
}

const artifactColumns = "SELECT id, user_id, type, title, content, status, tone, tags, metadata, created_at, " +
	"updated_at FROM artifacts "

// A row is a *sql.Row or *sql.Rows.
type row interface{ Scan(...any) error }

func scanArtifact(r row, a *Artifact) error {
	var tags, metadata string
	var created, updated int64
	if err := r.Scan(&a.ID, &a.User, &a.Type, &a.Title, &a.Content, &a.Status, &a.Tone, &tags, &metadata, &created,
		&updated); err != nil {
		return err
	}
	a.CreatedAt, a.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	return errors.Join(json.Unmarshal([]byte(tags), &a.Tags), json.Unmarshal([]byte(metadata), &a.Metadata))
}

// Artifact returns an artifact of a user.
func (s *Store) Artifact(ctx context.Context, user, id string) (Artifact, error) {
	return one(s.db.QueryRowContext(ctx, artifactColumns+"WHERE id = ? AND user_id = ?", id, user))
}

func one(r *sql.Row) (a Artifact, err error) {
	if err = scanArtifact(r, &a); errors.Is(err, sql.ErrNoRows) {
		return a, notFound()
	}
	return a, err
}

// Artifacts returns the artifacts of a user with one of these statuses (none: all), the latest
// first, at most 200.
func (s *Store) Artifacts(ctx context.Context, user string, statuses ...Status) ([]Artifact, error) {
	all, err := list(ctx, s.db, func(r *sql.Rows, a *Artifact) error { return scanArtifact(r, a) },
		artifactColumns+"WHERE user_id = ? ORDER BY updated_at DESC, id LIMIT 200", user)
	return slices.DeleteFunc(all, func(a Artifact) bool {
		return len(statuses) > 0 && !slices.Contains(statuses, a.Status)
	}), err
}

// Delete deletes an artifact and all that belongs to it, unless somebody works on it.
func (s *Store) Delete(ctx context.Context, user, id string) error {
	return s.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := s.unlocked(ctx, tx, user, id, ""); err != nil {
			return err
		}
		for _, table := range []string{"artifact_research", "status_history", "effects", "section_drafts", "images",
			"pipelines", "versions", "proposals"} {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE artifact_id = ?", id); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM artifacts WHERE id = ?", id)
		return err
	})
}

// Move changes the status of an artifact without a tool: a user publishes, archives or edits it, or
// the system skips a step.
func (s *Store) Move(ctx context.Context, user, id string, to Status, by Trigger) (Artifact, error) {
	a, err := s.Artifact(ctx, user, id)
	if err != nil || a.Status == to {
		return a, err
	}
	if a.Status == Archived && (a.Content == "") != (to == Draft) {
		return a, &Error{Category: InvalidStatus, Status: a.Status,
			Message: "An archived artifact becomes ready again if it has content, and a draft if it hasn't."}
	}
	return s.Apply(ctx, Change{User: user, Artifact: id, By: by, From: a.Status, To: to})
}

// Research returns what was found for an artifact, the most relevant first.
func (s *Store) Research(ctx context.Context, user, id string) ([]Source, error) {
	if _, err := s.Artifact(ctx, user, id); err != nil {
		return nil, err
	}
	return list(ctx, s.db, func(r *sql.Rows, v *Source) error {
		return r.Scan(&v.Number, &v.Type, &v.Name, &v.URL, &v.Excerpt, &v.Relevance)
	}, "SELECT row_number() OVER (ORDER BY id), source_type, source_name, source_url, excerpt, relevance "+
		"FROM artifact_research WHERE artifact_id = ? ORDER BY relevance DESC, id", id)
}

// History returns the changes of an artifact's status, the oldest first.
func (s *Store) History(ctx context.Context, user, id string) ([]HistoryEntry, error) {
	if _, err := s.Artifact(ctx, user, id); err != nil {
		return nil, err
	}
	return list(ctx, s.db, func(r *sql.Rows, h *HistoryEntry) error {
		var at int64
		err := r.Scan(&h.From, &h.To, &h.By, &h.Tool, &h.Effect, &at)
		h.At = time.UnixMilli(at).UTC()
		return err
	}, "SELECT old_status, new_status, trigger, tool, effect, at FROM status_history WHERE artifact_id = ? ORDER BY id",
		id)
}
