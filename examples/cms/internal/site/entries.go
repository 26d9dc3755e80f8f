package site

import (
	"cmp"
	"context"
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
	Status       string         `json:"status"`    // draft or published
	SortOrder    int            `json:"sortOrder"` // entries with the same are sorted by slug
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
	Collection string `json:"collection"` // id or slug
	// the id or slug of the one to write; a new slug creates it; derived from the title if empty
	Entry string `json:"entry,omitempty"`
	// required for a new entry; if empty, an existing title doesn't change
	Title   string         `json:"title,omitempty"`
	NewSlug string         `json:"newSlug,omitempty"` // changes the slug of an existing entry
	Status  string         `json:"status,omitempty"`  // draft or published; if empty, a new entry is a draft
	Locale  string         `json:"locale,omitempty"`  // of Content; "en" if empty
	Content map[string]any `json:"content,omitempty"` // by slot key, merged into the stored values; null empties a slot
	New     bool           `json:"new,omitempty"`     // fail if the entry exists
}

// ListEntries lists a collection's entries in their order, without their contents.
func (s *Site) ListEntries(ctx context.Context, in ListEntries) (List[*Entry], error) {
	return view(ctx, s, "listing entries", func(tx *txn) (list List[*Entry], err error) {
		c, err := collectionTable.find(tx, in.Collection)
		if err != nil {
			return list, err
		}
		return entryTable.list(tx, in.Query, "collection_id = ?2", "sort_order, slug", c.ID), nil
	})
}

// GetEntry returns the entry with this id or slug and its contents in the locale, "en" if that is
// empty.
func (s *Site) GetEntry(ctx context.Context, entry, locale string) (*Entry, error) {
	return view(ctx, s, "reading an entry", func(tx *txn) (*Entry, error) {
		e, err := findEntry(tx, entry)
		if err != nil {
			return nil, err
		}
		return e.load(tx, locale)
	})
}

// GetEntryIn is GetEntry for an entry of a collection. Several collections may have an entry with
// the same slug.
func (s *Site) GetEntryIn(ctx context.Context, collection, entry, locale string) (*Entry, error) {
	return view(ctx, s, "reading an entry", func(tx *txn) (*Entry, error) {
		_, e, err := loadEntryIn(tx, collection, entry, locale)
		return e, err
	})
}

// An Upserted is an entry that was written.
type Upserted struct {
	Entry
	Created bool `json:"created"` // false if the entry existed before
	// Before has the previous title, slug and values of an entry that existed: of the slots that
	// were written, null if a slot was empty.
	Before *EntryBefore `json:"before,omitempty"`
}

// An EntryBefore is the previous state of what [Site.UpsertEntry] has changed.
type EntryBefore struct {
	Title   string         `json:"title"`
	Slug    string         `json:"slug"`
	Status  string         `json:"status"`
	Content map[string]any `json:"content"`
}

// UpsertEntry writes an entry, and creates it if the collection has none with that slug. A title
// alone never overwrites: if the slug derived from it is taken, the result is an [*Error] with
// CodeSlugExists.
func (s *Site) UpsertEntry(ctx context.Context, in UpsertEntry) (*Upserted, error) {
	return commit(ctx, s, "writing an entry", func(tx *txn) (*Upserted, error) {
		return upsertEntry(tx, in, newID(entryID))
	})
}

func upsertEntry(tx *txn, in UpsertEntry, newID string) (*Upserted, error) {
	c, err := collectionTable.find(tx, in.Collection)
	if err != nil {
		return nil, err
	}
	loc, err := findLocale(tx, in.Locale)
	if err != nil {
		return nil, err
	}
	e, err := entryToWrite(tx, c, in)
	if err != nil {
		return nil, err
	}
	created, before := e.ID == "", &EntryBefore{Title: e.Title, Slug: e.Slug, Status: e.Status,
		Content: map[string]any{}}
	e.Title, e.Status = cmp.Or(in.Title, e.Title), cmp.Or(in.Status, e.Status, Draft)
	if err := cmp.Or(inField("title", checkText("the entry's title", e.Title, 1, maxLabel)),
		oneOf("status", e.Status, Draft, Published)); err != nil {
		return nil, err
	}
	if in.NewSlug != "" && in.NewSlug != e.Slug {
		if e.Slug, err = slugFrom(in.NewSlug, ""); err != nil {
			return nil, err
		}
		if err := entrySlugFree(tx, c, e.Slug); err != nil {
			return nil, err
		}
	}
	row := record{"slug": e.Slug, "title": e.Title, "status": e.Status, "search": searchText(e.Title, e.Slug),
		"updated_at": tx.now}
	switch {
	case created:
		e.ID = newID
		row["id"], row["collection_id"], row["created_at"] = e.ID, c.ID, tx.now
		tx.insert("collection_entries", row)
	case in.Title == "" && in.NewSlug == "" && in.Status == "" && len(in.Content) == 0:
		return nil, invalid("give title, newSlug, status or content", "nothing to change")
	default:
		tx.update("collection_entries", e.ID, row)
	}
	if created || len(in.Content) > 0 {
		before.Content, err = entryContents.change(tx, e.ID, loc.Code, fmt.Sprintf("collection %q", c.Slug), c.Elements,
			in.Content, false)
		if err != nil {
			return nil, err
		}
	}
	if _, e, err = loadEntryIn(tx, c.ID, e.ID, loc.Code); err != nil {
		return nil, err
	}
	if created {
		before = nil
	}
	return &Upserted{Entry: *e, Created: created, Before: before}, nil
}

// entryToWrite returns the entry of a request; a new one has no id yet.
func entryToWrite(tx *txn, c *Collection, in UpsertEntry) (*Entry, error) {
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
	e, err := entryTable.find(tx, slug, c.ID)
	switch {
	case err != nil && isID(entryID, slug):
		return nil, err
	case err != nil:
		return &Entry{Slug: slug, Title: in.Title}, nil
	case e.CollectionID != c.ID:
		return nil, invalid("name its own collection "+strconv.Quote(e.Collection),
			"entry %q isn't in the collection %q", e.Slug, c.Slug)
	case in.Entry == "" || in.New:
		return e, entrySlugFree(tx, c, e.Slug)
	}
	return e, nil
}

// entrySlugFree returns an error if an entry of the collection has the slug.
func entrySlugFree(tx *txn, c *Collection, slug string) error {
	o := ownerOf(tx, "collection_entries WHERE collection_id = ?2", "title", "slug", slug, "", c.ID)
	if o == nil {
		return nil
	}
	return &Error{Code: CodeSlugExists,
		Message:  fmt.Sprintf("an entry with the address %q exists in %s: %s (id %s)", slug, c.Slug, o.name, o.id),
		Hint:     fmt.Sprintf("use another slug such as %q, or name the entry %q to change it", o.free, slug),
		Expected: "a slug that no other entry of the collection has",
		Actual:   fmt.Sprintf("%q belongs to entry %s", slug, o.id)}
}

// DeleteEntry removes an entry with its contents, and returns what [Site.Restore] needs to undo it.
func (s *Site) DeleteEntry(ctx context.Context, entry string) (*Removed, error) {
	return commit(ctx, s, "deleting an entry", func(tx *txn) (*Removed, error) {
		e, err := findEntry(tx, entry)
		if err != nil {
			return nil, err
		}
		r := &Removed{Kind: KindEntry, ID: e.ID, Name: e.Title, Key: e.Slug, LinkedFrom: linkedFrom(tx, e.ID)}
		return r.take(tx, "entry_contents", "entry_id").take(tx, "collection_entries", "id"), nil
	})
}

// An EntryOrder is the place of an entry in its collection.
type EntryOrder struct {
	ID        string `json:"id"`
	SortOrder int    `json:"sortOrder"` // 0 to 9999
}

// OrderEntries sets the places of entries of a collection, all of them or none.
func (s *Site) OrderEntries(ctx context.Context, collection string, order []EntryOrder) error {
	return s.write(ctx, "ordering entries", func(tx *txn) error {
		c, err := collectionTable.find(tx, collection)
		if err != nil {
			return err
		}
		for _, o := range order {
			if o.SortOrder < 0 || o.SortOrder > maxSortOrder {
				return invalid(fmt.Sprintf("use 0 to %d", maxSortOrder), "sortOrder %d isn't allowed", o.SortOrder)
			}
			if !value[bool](tx, "SELECT count(*) > 0 FROM collection_entries WHERE id = ? AND collection_id = ?", o.ID,
				c.ID) {
				return notFound("list its entries and use their ids", "collection %q has no entry with the id %q",
					c.Slug, shorten(o.ID, 80))
			}
			tx.update("collection_entries", o.ID, record{"sort_order": o.SortOrder, "updated_at": tx.now})
		}
		return nil
	})
}

// entryTable finds an entry by its id, or by its slug in the collection ?2.
var entryTable = table[*Entry]{what: "entry", prefix: entryID, from: "collection_entries",
	where: "id = ?1 OR collection_id = ?2 AND slug = ?1",
	names: "SELECT slug FROM collection_entries WHERE collection_id = ?2 ORDER BY slug LIMIT 200",
	columns: "id, collection_id, (SELECT d.slug FROM collection_definitions d WHERE d.id = collection_id), slug, " +
		"title, status, sort_order, created_at, updated_at",
	scan: func(scan scanner) (*Entry, error) {
		var e Entry
		return &e, scan(&e.ID, &e.CollectionID, &e.Collection, &e.Slug, &e.Title, &e.Status, &e.SortOrder,
			at{&e.CreatedAt}, at{&e.UpdatedAt})
	}}

// findEntry returns the entry with this id, or with this slug if only one collection has it,
// without its contents.
func findEntry(tx *txn, ref string) (*Entry, error) {
	same := collect(tx, entryTable.scan, "SELECT "+entryTable.columns+" FROM collection_entries WHERE slug = ? LIMIT 2",
		ref)
	if len(same) > 1 {
		return nil, invalid(fmt.Sprintf("use the id, such as %s for the one in %q", same[0].ID, same[0].Collection),
			"several collections have an entry %q", ref)
	}
	anywhere := entryTable
	anywhere.where, anywhere.names = "id = ?1 OR slug = ?1",
		"SELECT slug FROM collection_entries ORDER BY slug LIMIT 200"
	return anywhere.find(tx, ref)
}

// loadEntryIn returns a collection, and the entry in it with this slug or id, with its contents in
// a locale.
func loadEntryIn(tx *txn, collection, entry, locale string) (*Collection, *Entry, error) {
	c, err := collectionTable.find(tx, collection)
	if err != nil {
		return nil, nil, err
	}
	e, err := entryTable.find(tx, entry, c.ID)
	if err != nil {
		return nil, nil, err
	}
	if e.CollectionID != c.ID {
		return nil, nil, notFound("name its own collection "+strconv.Quote(e.Collection),
			"entry %q isn't in the collection %q", e.Slug, c.Slug)
	}
	e, err = e.load(tx, locale)
	return c, e, err
}

// load returns the entry with its contents in a locale.
func (e *Entry) load(tx *txn, locale string) (*Entry, error) {
	loc, err := findLocale(tx, locale)
	if err != nil {
		return nil, err
	}
	c, err := collectionTable.find(tx, e.CollectionID)
	if err != nil {
		return nil, err
	}
	content := entryContents.get(tx, e.ID, loc.Code)
	e.Locale, e.Content, e.Missing = loc.Code, known(c.Elements, content), missingSlots(c.Elements, content)
	return e, nil
}
