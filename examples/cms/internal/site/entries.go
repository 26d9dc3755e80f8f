package site

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// An Entry is one item of a collection, such as a post of a blog.
type Entry struct {
	ID           string         `json:"id"` // ent_…
	CollectionID string         `json:"collectionId"`
	Collection   string         `json:"collection"` // its slug
	Slug         string         `json:"slug"`       // unique on the site
	Title        string         `json:"title"`
	CreatedAt    time.Time      `json:"createdAt"`
	UpdatedAt    time.Time      `json:"updatedAt"`
	Locale       string         `json:"locale,omitempty"`  // of Content; absent in a list
	Content      map[string]any `json:"content,omitempty"` // by slot key; absent in a list
	Missing      []string       `json:"missing,omitempty"` // required slots without a value in that locale
}

// ListEntries is the request of [Site.ListEntries].
type ListEntries struct {
	Collection string `json:"collection"` // id or slug
	Query
}

// UpsertEntry is the request of [Site.UpsertEntry].
type UpsertEntry struct {
	Collection string         `json:"collection"`        // id or slug
	Entry      string         `json:"entry,omitempty"`   // the id or slug of the one to write; a new slug creates it; derived from the title if empty
	Title      string         `json:"title,omitempty"`   // required for a new entry; if empty, an existing title doesn't change
	Locale     string         `json:"locale,omitempty"`  // of Content; "en" if empty
	Content    map[string]any `json:"content,omitempty"` // by slot key, merged into the stored values; null empties a slot
	Key        string         `json:"key,omitempty"`     // idempotency key, at most 200 characters: requests with the same key take effect once
}

// ListEntries lists a collection's entries by slug, without their contents.
func (s *Site) ListEntries(ctx context.Context, in ListEntries) (List[*Entry], error) {
	return view(ctx, s, "listing entries", func(tx *sql.Tx) (List[*Entry], error) {
		c, err := collectionRow(ctx, tx, in.Collection)
		if err != nil {
			return List[*Entry]{}, err
		}
		return list(ctx, tx, in.Query, scanEntry, entryColumns, "collection_entries", "collection_id = ?", "slug", c.ID)
	})
}

// GetEntry returns the entry with this id or slug and its contents in the locale, "en" if that is empty.
func (s *Site) GetEntry(ctx context.Context, entry, locale string) (*Entry, error) {
	return view(ctx, s, "reading an entry", func(tx *sql.Tx) (*Entry, error) {
		return loadEntry(ctx, tx, entry, locale)
	})
}

// An Upserted is an entry that was written.
type Upserted struct {
	Entry
	Created bool `json:"created"` // false if the entry existed before
}

// UpsertEntry writes an entry, and creates it if the collection has none with that slug. A title alone never overwrites:
// if the slug derived from it is taken, the result is an [*Error] with CodeSlugExists.
func (s *Site) UpsertEntry(ctx context.Context, in UpsertEntry) (*Upserted, error) {
	return once(ctx, s, in.Key, "writing an entry", func(tx *sql.Tx) (*Upserted, error) {
		return upsertEntry(ctx, tx, in, newID(entryID), s.stamp())
	})
}

func upsertEntry(ctx context.Context, tx *sql.Tx, in UpsertEntry, newID, now string) (*Upserted, error) {
	c, err := collectionRow(ctx, tx, in.Collection)
	if err != nil {
		return nil, err
	}
	loc, err := localeRow(ctx, tx, in.Locale)
	if err != nil {
		return nil, err
	}
	e, err := entryToWrite(ctx, tx, c, in)
	if err != nil {
		return nil, err
	}
	if err := checkText("the entry's title", e.Title, 1, maxLabel); err != nil {
		return nil, err
	}
	created := e.ID == ""
	switch {
	case created:
		e.ID = newID
		_, err = tx.ExecContext(ctx, "INSERT INTO collection_entries (id, collection_id, slug, title, search, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
			e.ID, c.ID, e.Slug, e.Title, searchText(e.Title, e.Slug), now, now)
	case in.Title == "" && len(in.Content) == 0:
		return nil, invalid("give title or content", "nothing to change")
	default:
		_, err = tx.ExecContext(ctx, "UPDATE collection_entries SET title = ?, search = ?, updated_at = ? WHERE id = ?", e.Title, searchText(e.Title, e.Slug), now, e.ID)
	}
	if err != nil {
		return nil, err
	}
	if created || len(in.Content) > 0 {
		err = putContent(ctx, tx, entryContents, e.ID, loc.code, func(old map[string]any) (map[string]any, error) {
			return applyContent(ctx, tx, fmt.Sprintf("collection %q", c.Slug), c.Elements, old, in.Content, false)
		})
		if err != nil {
			return nil, err
		}
	}
	if e, err = loadEntry(ctx, tx, e.ID, loc.code); err != nil {
		return nil, err
	}
	return &Upserted{Entry: *e, Created: created}, nil
}

// entryToWrite returns the entry of a request, with its new title; a new one has no id yet.
func entryToWrite(ctx context.Context, tx *sql.Tx, c *Collection, in UpsertEntry) (*Entry, error) {
	if in.Entry == "" && in.Title == "" {
		return nil, invalid("give entry (an id or a slug), or a title for a new entry", "no entry was named")
	}
	slug := in.Entry
	if !isID(entryID, slug) {
		var err error
		if slug, err = slugFrom(slug, in.Title); err != nil {
			return nil, err
		}
	}
	e, err := entryRow(ctx, tx, slug)
	var refused *Error
	switch {
	case errors.As(err, &refused) && isID(entryID, slug):
		return nil, err
	case errors.As(err, &refused):
		return &Entry{Slug: slug, Title: in.Title}, nil
	case err != nil:
		return nil, err
	}
	if e.CollectionID != c.ID || in.Entry == "" {
		free, err := freeSlug(ctx, tx, "SELECT count(*) FROM collection_entries WHERE slug = ?", e.Slug)
		if err != nil {
			return nil, err
		}
		hint := fmt.Sprintf("use another slug such as %q", free)
		if e.CollectionID == c.ID {
			hint += fmt.Sprintf(", or name the entry %q to change it", e.Slug)
		}
		return nil, &Error{Code: CodeSlugExists, Message: fmt.Sprintf("slug %q exists already (entry %q, id %s, collection %q)", e.Slug, e.Title, e.ID, e.Collection), Hint: hint}
	}
	if in.Title != "" {
		e.Title = in.Title
	}
	return e, nil
}

// entryColumns are the columns that scanEntry reads.
const entryColumns = `id, collection_id, (SELECT d.slug FROM collection_definitions d WHERE d.id = collection_id), slug, title, created_at, updated_at`

func scanEntry(scan func(...any) error) (*Entry, error) {
	var e Entry
	var created, updated string
	err := scan(&e.ID, &e.CollectionID, &e.Collection, &e.Slug, &e.Title, &created, &updated)
	e.CreatedAt, e.UpdatedAt = parseTime(created), parseTime(updated)
	return &e, err
}

// entryRow returns the entry with this id or slug, without its contents.
func entryRow(ctx context.Context, tx *sql.Tx, ref string) (*Entry, error) {
	e, err := scanEntry(tx.QueryRowContext(ctx, "SELECT "+entryColumns+" FROM collection_entries WHERE id = ? OR slug = ?", ref, ref).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, missing(ctx, tx, "entry", entryID, ref, "SELECT slug FROM collection_entries ORDER BY slug LIMIT 200")
	}
	return e, err
}

func loadEntry(ctx context.Context, tx *sql.Tx, ref, locale string) (*Entry, error) {
	loc, err := localeRow(ctx, tx, locale)
	if err != nil {
		return nil, err
	}
	e, err := entryRow(ctx, tx, ref)
	if err != nil {
		return nil, err
	}
	c, err := collectionRow(ctx, tx, e.CollectionID)
	if err != nil {
		return nil, err
	}
	content, err := getContent(ctx, tx, entryContents, e.ID, loc.code)
	if err != nil {
		return nil, err
	}
	e.Locale, e.Content, e.Missing = loc.code, known(c.Elements, content), missingSlots(c.Elements, content)
	return e, nil
}
