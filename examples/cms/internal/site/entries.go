package site

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// An Entry is one item of a collection, such as a post of a blog.
type Entry struct {
	ID           string         `json:"id"` // ent_…
	CollectionID string         `json:"collectionId"`
	Collection   string         `json:"collection"` // its slug
	Slug         string         `json:"slug"`       // unique in the collection
	Title        string         `json:"title"`
	SortOrder    int            `json:"sortOrder"` // entries with the same are sorted by slug
	CreatedAt    time.Time      `json:"createdAt"`
	UpdatedAt    time.Time      `json:"updatedAt"`
	Locale       string         `json:"locale,omitempty"`  // of Content; absent in a list
	Content      map[string]any `json:"content,omitempty"` // by slot key; absent in a list
	Missing      []string       `json:"missing,omitempty"` // required slots without a value in that locale
	titleBefore  string
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
	NewSlug    string         `json:"newSlug,omitempty"` // changes the slug of an existing entry
	Locale     string         `json:"locale,omitempty"`  // of Content; "en" if empty
	Content    map[string]any `json:"content,omitempty"` // by slot key, merged into the stored values; null empties a slot
	New        bool           `json:"new,omitempty"`     // fail if the entry exists
	Key        string         `json:"key,omitempty"`     // idempotency key, at most 200 characters: requests with the same key take effect once
}

// ListEntries lists a collection's entries in their order, without their contents.
func (s *Site) ListEntries(ctx context.Context, in ListEntries) (List[*Entry], error) {
	return view(ctx, s, "listing entries", func(tx *sql.Tx) (List[*Entry], error) {
		c, err := collectionRow(ctx, tx, in.Collection)
		if err != nil {
			return List[*Entry]{}, err
		}
		return list(ctx, tx, in.Query, scanEntry, entryColumns, "collection_entries", "collection_id = ?", "sort_order, slug", c.ID)
	})
}

// GetEntry returns the entry with this id or slug and its contents in the locale, "en" if that is empty.
func (s *Site) GetEntry(ctx context.Context, entry, locale string) (*Entry, error) {
	return view(ctx, s, "reading an entry", func(tx *sql.Tx) (*Entry, error) {
		return loadEntry(ctx, tx, entry, locale)
	})
}

// GetEntryIn is GetEntry for an entry of a collection. Several collections may have an entry with the same slug.
func (s *Site) GetEntryIn(ctx context.Context, collection, entry, locale string) (*Entry, error) {
	return view(ctx, s, "reading an entry", func(tx *sql.Tx) (*Entry, error) {
		c, err := collectionRow(ctx, tx, collection)
		if err != nil {
			return nil, err
		}
		e, err := entryIn(ctx, tx, c.ID, entry)
		if err != nil {
			return nil, err
		}
		if e.CollectionID != c.ID {
			return nil, notFound("name its own collection "+strconv.Quote(e.Collection), "entry %q isn't in the collection %q", e.Slug, c.Slug)
		}
		return loadEntry(ctx, tx, e.ID, locale)
	})
}

// An Upserted is an entry that was written.
type Upserted struct {
	Entry
	Created bool `json:"created"` // false if the entry existed before
	// Before has the previous title, slug and values of an entry that existed: of the slots that were written, null if a slot was empty.
	Before *EntryBefore `json:"before,omitempty"`
}

// An EntryBefore is the previous state of what [Site.UpsertEntry] has changed.
type EntryBefore struct {
	Title   string         `json:"title"`
	Slug    string         `json:"slug"`
	Content map[string]any `json:"content"`
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
	before := &EntryBefore{Title: e.Title, Slug: e.Slug, Content: map[string]any{}}
	if !created {
		before.Title = e.titleBefore
	}
	if in.NewSlug != "" && in.NewSlug != e.Slug {
		if e.Slug, err = slugFrom(in.NewSlug, ""); err != nil {
			return nil, err
		}
		if err := entrySlugFree(ctx, tx, c, e.Slug); err != nil {
			return nil, err
		}
	}
	switch {
	case created:
		e.ID = newID
		_, err = tx.ExecContext(ctx, "INSERT INTO collection_entries (id, collection_id, slug, title, search, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
			e.ID, c.ID, e.Slug, e.Title, searchText(e.Title, e.Slug), now, now)
	case in.Title == "" && in.NewSlug == "" && len(in.Content) == 0:
		return nil, invalid("give title, newSlug or content", "nothing to change")
	default:
		_, err = tx.ExecContext(ctx, "UPDATE collection_entries SET title = ?, slug = ?, search = ?, updated_at = ? WHERE id = ?", e.Title, e.Slug, searchText(e.Title, e.Slug), now, e.ID)
	}
	if err != nil {
		return nil, err
	}
	if created || len(in.Content) > 0 {
		err = putContent(ctx, tx, entryContents, e.ID, loc.Code, func(old map[string]any) (map[string]any, error) {
			for key := range in.Content {
				before.Content[key] = old[key]
			}
			return applyContent(ctx, tx, fmt.Sprintf("collection %q", c.Slug), c.Elements, old, in.Content, false)
		})
		if err != nil {
			return nil, err
		}
	}
	if e, err = loadEntry(ctx, tx, e.ID, loc.Code); err != nil {
		return nil, err
	}
	if created {
		before = nil
	}
	return &Upserted{Entry: *e, Created: created, Before: before}, nil
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
	e, err := entryIn(ctx, tx, c.ID, slug)
	var refused *Error
	switch {
	case errors.As(err, &refused) && isID(entryID, slug):
		return nil, err
	case errors.As(err, &refused):
		return &Entry{Slug: slug, Title: in.Title}, nil
	case err != nil:
		return nil, err
	}
	if e.CollectionID != c.ID {
		return nil, invalid("name its own collection "+strconv.Quote(e.Collection), "entry %q isn't in the collection %q", e.Slug, c.Slug)
	}
	if in.Entry == "" || in.New {
		return nil, entrySlugFree(ctx, tx, c, e.Slug)
	}
	e.titleBefore = e.Title
	if in.Title != "" {
		e.Title = in.Title
	}
	return e, nil
}

// entrySlugFree returns an error if an entry of the collection has the slug.
func entrySlugFree(ctx context.Context, tx *sql.Tx, c *Collection, slug string) error {
	var id, title string
	err := tx.QueryRowContext(ctx, "SELECT id, title FROM collection_entries WHERE collection_id = ? AND slug = ?", c.ID, slug).Scan(&id, &title)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	free, err := freeSlug(ctx, tx, "SELECT count(*) FROM collection_entries WHERE collection_id = ? AND slug = ?", slug, c.ID)
	if err != nil {
		return err
	}
	return &Error{Code: CodeSlugExists, Message: fmt.Sprintf("slug %q exists already (entry %q, id %s, collection %q)", slug, title, id, c.Slug),
		Hint:     fmt.Sprintf("use another slug such as %q, or name the entry %q to change it", free, slug),
		Expected: "a slug that no other entry of the collection has", Actual: fmt.Sprintf("%q belongs to entry %s", slug, id)}
}

// DeleteEntry removes an entry with its contents, and returns what [Site.Restore] needs to undo it.
func (s *Site) DeleteEntry(ctx context.Context, entry string) (*Removed, error) {
	return commit(ctx, s, "deleting an entry", func(tx *sql.Tx) (*Removed, error) {
		e, err := entryRow(ctx, tx, entry)
		if err != nil {
			return nil, err
		}
		r := &Removed{Kind: KindEntry, ID: e.ID, Name: e.Title, Key: e.Slug}
		if r.LinkedFrom, err = linkedFrom(ctx, tx, e.ID); err != nil {
			return nil, err
		}
		return r, errors.Join(r.take(ctx, tx, "entry_contents", "entry_id"), r.take(ctx, tx, "collection_entries", "id"))
	})
}

// An EntryOrder is the place of an entry in its collection.
type EntryOrder struct {
	ID        string `json:"id"`
	SortOrder int    `json:"sortOrder"` // 0 to 9999
}

// OrderEntries sets the places of entries of a collection, all of them or none.
func (s *Site) OrderEntries(ctx context.Context, collection string, order []EntryOrder) error {
	return s.write(ctx, "ordering entries", func(tx *sql.Tx) error {
		c, err := collectionRow(ctx, tx, collection)
		if err != nil {
			return err
		}
		for _, o := range order {
			if o.SortOrder < 0 || o.SortOrder > maxSortOrder {
				return invalid(fmt.Sprintf("use 0 to %d", maxSortOrder), "sortOrder %d isn't allowed", o.SortOrder)
			}
			done, err := tx.ExecContext(ctx, "UPDATE collection_entries SET sort_order = ?, updated_at = ? WHERE id = ? AND collection_id = ?", o.SortOrder, s.stamp(), o.ID, c.ID)
			if err != nil {
				return err
			}
			if n, err := done.RowsAffected(); err != nil {
				return err
			} else if n == 0 {
				return notFound("list its entries and use their ids", "collection %q has no entry with the id %q", c.Slug, shorten(o.ID, 80))
			}
		}
		return nil
	})
}

// entryColumns are the columns that scanEntry reads.
const entryColumns = `id, collection_id, (SELECT d.slug FROM collection_definitions d WHERE d.id = collection_id), slug, title, sort_order, created_at, updated_at`

func scanEntry(scan func(...any) error) (*Entry, error) {
	var e Entry
	var created, updated string
	err := scan(&e.ID, &e.CollectionID, &e.Collection, &e.Slug, &e.Title, &e.SortOrder, &created, &updated)
	e.CreatedAt, e.UpdatedAt = parseTime(created), parseTime(updated)
	return &e, err
}

// entryRow returns the entry with this id, or with this slug if only one collection has it, without its contents.
func entryRow(ctx context.Context, tx *sql.Tx, ref string) (*Entry, error) {
	found, err := collect(ctx, tx, scanEntry, "SELECT "+entryColumns+" FROM collection_entries WHERE id = ?1 OR slug = ?1 LIMIT 2", ref)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, missing(ctx, tx, "entry", entryID, ref, "SELECT slug FROM collection_entries ORDER BY slug LIMIT 200")
	case len(found) > 1:
		return nil, invalid(fmt.Sprintf("use the id, such as %s for the one in %q", found[0].ID, found[0].Collection), "several collections have an entry %q", ref)
	}
	return found[0], nil
}

// entryIn returns the entry of a collection with this slug, or any entry with this id.
func entryIn(ctx context.Context, tx *sql.Tx, collection, ref string) (*Entry, error) {
	e, err := scanEntry(tx.QueryRowContext(ctx, "SELECT "+entryColumns+" FROM collection_entries WHERE id = ?1 OR collection_id = ?2 AND slug = ?1", ref, collection).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, missing(ctx, tx, "entry", entryID, ref, "SELECT slug FROM collection_entries WHERE collection_id = ? ORDER BY slug LIMIT 200", collection)
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
	content, err := getContent(ctx, tx, entryContents, e.ID, loc.Code)
	if err != nil {
		return nil, err
	}
	e.Locale, e.Content, e.Missing = loc.Code, known(c.Elements, content), missingSlots(c.Elements, content)
	return e, nil
}
