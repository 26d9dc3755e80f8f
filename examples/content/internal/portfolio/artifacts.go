package portfolio

import (
	"context"
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

	lockedBy    string
	lockedUntil time.Time
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
	return a, s.write(ctx, func(t *tx) {
		t.exec("INSERT INTO artifacts (id, user_id, type, title, content, status, tone, tags, metadata, created_at, "+
			"updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", a.ID, a.User, a.Type, a.Title, a.Content, a.Status,
			a.Tone, asJSON{a.Tags}, asJSON{a.Metadata}, unix(now), unix(now))
		t.keepVersion(&a, string(ByUser), true)
	})
}

const artifactColumns = "SELECT id, user_id, type, title, content, status, tone, tags, metadata, created_at, " +
	"updated_at, locked_by, locked_until FROM artifacts "

func scanArtifact(r row, a *Artifact) error {
	return r.Scan(&a.ID, &a.User, &a.Type, &a.Title, &a.Content, &a.Status, &a.Tone, asJSON{&a.Tags},
		asJSON{&a.Metadata}, (*unix)(&a.CreatedAt), (*unix)(&a.UpdatedAt), &a.lockedBy, (*unix)(&a.lockedUntil))
}

// Artifact returns an artifact of a user. One that doesn't exist and one of somebody else are the
// same [*Error], of the category ArtifactNotFound.
func (s *Store) Artifact(ctx context.Context, user, id string) (Artifact, error) {
	return get(ctx, s.db, scanArtifact, notFound(), artifactColumns+"WHERE id = ? AND user_id = ?", id, user)
}

// Artifacts returns the artifacts of a user with one of these statuses (none: all), the latest
// first, at most 200.
func (s *Store) Artifacts(ctx context.Context, user string, statuses ...Status) ([]Artifact, error) {
	all, err := list(ctx, s, scanArtifact, artifactColumns+"WHERE user_id = ? ORDER BY updated_at DESC, id LIMIT 200",
		user)
	return slices.DeleteFunc(all, func(a Artifact) bool {
		return len(statuses) > 0 && !slices.Contains(statuses, a.Status)
	}), err
}

// Lock locks an artifact for a holder, or renews the holder's lock. It lasts for ttl, in case the
// process dies. If somebody else holds it, the error is an [*Error] of the category Conflict.
func (s *Store) Lock(ctx context.Context, user, id, holder string, ttl time.Duration) error {
	return s.write(ctx, func(t *tx) {
		t.unlocked(user, id, holder)
		t.exec("UPDATE artifacts SET locked_by = ?, locked_until = ? WHERE id = ?", holder, unix(t.now.Add(ttl)), id)
	})
}

// Unlock ends the lock of a holder. Without one it does nothing.
func (s *Store) Unlock(ctx context.Context, id, holder string) error {
	return s.exec(ctx, "UPDATE artifacts SET locked_by = '', locked_until = 0 WHERE id = ? AND locked_by = ?", id,
		holder)
}

// unlocked returns an artifact of a user that nobody but holder has locked.
func (t *tx) unlocked(user, id, holder string) Artifact {
	a := read(t, scanArtifact, notFound(), artifactColumns+"WHERE id = ? AND user_id = ?", id, user)
	if a.lockedBy != "" && a.lockedBy != holder && !a.lockedUntil.Before(t.now) {
		t.fail(Errorf(Conflict, "This article is being worked on. Wait until that has ended, or stop it."))
	}
	return a
}

// Delete deletes an artifact and all that belongs to it, unless somebody works on it.
func (s *Store) Delete(ctx context.Context, user, id string) error {
	return s.write(ctx, func(t *tx) {
		t.unlocked(user, id, "")
		t.exec("DELETE FROM artifacts WHERE id = ?", id) // the rest refers to it
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
			Message: "An archived article becomes ready again if it has content, and a draft if it hasn't."}
	}
	return s.Apply(ctx, Change{User: user, Artifact: id, By: by, From: a.Status, To: to})
}

// Research returns what was found for an artifact, the most relevant first.
func (s *Store) Research(ctx context.Context, user, id string) ([]Source, error) {
	if _, err := s.Artifact(ctx, user, id); err != nil {
		return nil, err
	}
	return list(ctx, s, func(r row, v *Source) error {
		return r.Scan(&v.Number, &v.Type, &v.Name, &v.URL, &v.Excerpt, &v.Relevance)
	}, "SELECT row_number() OVER (ORDER BY id), source_type, source_name, source_url, excerpt, relevance "+
		"FROM artifact_research WHERE artifact_id = ? ORDER BY relevance DESC, id", id)
}

// History returns the changes of an artifact's status, the oldest first.
func (s *Store) History(ctx context.Context, user, id string) ([]HistoryEntry, error) {
	if _, err := s.Artifact(ctx, user, id); err != nil {
		return nil, err
	}
	return list(ctx, s, func(r row, h *HistoryEntry) error {
		return r.Scan(&h.From, &h.To, &h.By, &h.Tool, &h.Effect, (*unix)(&h.At))
	}, "SELECT old_status, new_status, trigger, tool, effect, at FROM status_history WHERE artifact_id = ? ORDER BY id",
		id)
}
