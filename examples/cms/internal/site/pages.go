package site

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	maxMetaBytes = 16 << 10 // of a page's meta, as JSON
	maxSections  = 100      // sections of a page
	maxSortOrder = 9999
)

// A Page is a page of the site, with its sections in order and their contents in one locale.
type Page struct {
	ID          string         `json:"id"` // pg_…
	Slug        string         `json:"slug"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"` // what it is about, and other words for it; Find searches it
	Indexing    bool           `json:"indexing"`              // whether search engines may list it
	Meta        map[string]any `json:"meta,omitempty"`
	CreatedAt   time.Time      `json:"createdAt"`
	UpdatedAt   time.Time      `json:"updatedAt"`
	Locale      string         `json:"locale,omitempty"` // of the contents
	Sections    []Section      `json:"sections"`
	// Before is the previous state of the page, after UpdatePage has changed it.
	Before *PageBefore `json:"before,omitempty"`
}

// A PageBefore is the previous state of the fields that [Site.UpdatePage] can change.
type PageBefore struct {
	Slug        string         `json:"slug"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Indexing    bool           `json:"indexing"`
	Meta        map[string]any `json:"meta,omitempty"`
}

// A PageSummary is a page in a list.
type PageSummary struct {
	ID          string    `json:"id"`
	Slug        string    `json:"slug"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Indexing    bool      `json:"indexing"`
	Sections    int       `json:"sections"` // number of sections
	UpdatedAt   time.Time `json:"updatedAt"`
}

// CreatePage is the request of [Site.CreatePage].
type CreatePage struct {
	Name        string         `json:"name"`                  // 1 to 100 characters
	Slug        string         `json:"slug,omitempty"`        // derived from the name if empty
	Description string         `json:"description,omitempty"` // at most 1,000 characters
	Indexing    *bool          `json:"indexing,omitempty"`    // true if absent
	Meta        map[string]any `json:"meta,omitempty"`        // at most 16 KiB as JSON
	Locale      string         `json:"locale,omitempty"`      // of the sections' contents; "en" if empty
	Sections    []NewSection   `json:"sections,omitempty"`    // in order; either all are added or none
	Key         string         `json:"key,omitempty"`         // idempotency key, at most 200 characters; none if empty
}

// A NewSection is a section of a page that is being created.
type NewSection struct {
	Section string         `json:"section"`           // the definition's key or id
	Content map[string]any `json:"content,omitempty"` // by slot key
}

// UpdatePage is the request of [Site.UpdatePage]. Absent fields don't change.
type UpdatePage struct {
	Page        string         `json:"page"` // id or slug
	Name        *string        `json:"name,omitempty"`
	NewSlug     *string        `json:"newSlug,omitempty"` // changes the page's address
	Description *string        `json:"description,omitempty"`
	Indexing    *bool          `json:"indexing,omitempty"`
	Meta        map[string]any `json:"meta,omitempty"` // merged into the stored values; null removes a key
}

// ListPages lists the pages by slug.
func (s *Site) ListPages(ctx context.Context, q Query) (List[PageSummary], error) {
	return view(ctx, s, "listing pages", func(tx *sql.Tx) (List[PageSummary], error) {
		return list(ctx, tx, q, func(scan func(...any) error) (p PageSummary, err error) {
			var updated string
			err = scan(&p.ID, &p.Slug, &p.Name, &p.Description, &p.Indexing, &updated, &p.Sections)
			p.UpdatedAt = parseTime(updated)
			return p, err
		}, "id, slug, name, description, indexing, updated_at, (SELECT count(*) FROM page_sections WHERE page_id = pages.id)", "pages", "true", "slug")
	})
}

// GetPage returns the page with this id or slug, and its sections with their contents in the locale ("en" if empty). Values without a
// slot in the current definition are left out.
func (s *Site) GetPage(ctx context.Context, page, locale string) (*Page, error) {
	return view(ctx, s, "reading a page", func(tx *sql.Tx) (*Page, error) {
		return loadPage(ctx, tx, page, locale)
	})
}

// CreatePage adds a page and returns it. If the slug is taken, also if it was derived from the name, the error is an [*Error] with
// CodeSlugExists that names a free slug.
//
// Requests with the same key create one page: while the page of a key exists, it is returned in its current state, and the rest of the
// request is ignored. A page that was deleted and restored has lost its key.
func (s *Site) CreatePage(ctx context.Context, in CreatePage) (*Page, error) {
	return commit(ctx, s, "creating a page", func(tx *sql.Tx) (*Page, error) {
		return createPage(ctx, tx, in, s.stamp())
	})
}

func createPage(ctx context.Context, tx *sql.Tx, in CreatePage, now string) (*Page, error) {
	if err := checkText("the key", in.Key, 0, maxLabel); err != nil {
		return nil, err
	}
	made, err := pageByKey(ctx, tx, in.Key)
	if err != nil {
		return nil, err
	}
	if made != "" {
		return loadPage(ctx, tx, made, in.Locale)
	}
	if err := checkNames("page", in.Name, in.Description); err != nil {
		return nil, err
	}
	slug, err := slugFrom(in.Slug, in.Name)
	if err != nil {
		return nil, err
	}
	if err := pageSlugFree(ctx, tx, slug, ""); err != nil {
		return nil, err
	}
	meta, err := storedMeta(nil, in.Meta)
	if err != nil {
		return nil, err
	}
	if len(in.Sections) > maxSections {
		return nil, invalid("use fewer", "the page has %d sections, the limit is %d", len(in.Sections), maxSections)
	}
	id, indexing := newID(pageID), in.Indexing == nil || *in.Indexing
	if err := insertPage(ctx, tx, Page{ID: id, Slug: slug, Name: in.Name, Description: in.Description, Indexing: indexing}, meta, now, now); err != nil {
		return nil, err
	}
	if in.Key != "" {
		if _, err := tx.ExecContext(ctx, "UPDATE pages SET created_by_key = ? WHERE id = ?", in.Key, id); err != nil {
			return nil, err
		}
	}
	for i, sec := range in.Sections {
		if _, err := addSection(ctx, tx, AddSection{Page: id, Section: sec.Section, Content: sec.Content, Locale: in.Locale}); err != nil {
			return nil, atSection(err, i)
		}
	}
	return loadPage(ctx, tx, id, in.Locale)
}

// pageByKey returns the id of the page that was created with a key, or "" if there is none.
func pageByKey(ctx context.Context, tx *sql.Tx, key string) (id string, err error) {
	err = tx.QueryRowContext(ctx, "SELECT id FROM pages WHERE created_by_key = ?", key).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

// atSection adds to an error which section it is about.
func atSection(err error, i int) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	located := *e
	located.Message = fmt.Sprintf("sections[%d]: %s", i, e.Message)
	return &located
}

func insertPage(ctx context.Context, tx *sql.Tx, p Page, meta, created, updated string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO pages (id, site_id, environment_id, slug, name, description, indexing, meta, search, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		p.ID, siteID, environmentID, p.Slug, p.Name, p.Description, p.Indexing, meta, searchText(p.Name, p.Slug, p.Description), created, updated)
	return err
}

// UpdatePage changes the fields that the request names and returns the page. Two updates of different fields, or of different keys of
// Meta, never undo each other, even from different processes.
func (s *Site) UpdatePage(ctx context.Context, in UpdatePage) (*Page, error) {
	return commit(ctx, s, "updating a page", func(tx *sql.Tx) (*Page, error) {
		return updatePage(ctx, tx, in, s.stamp())
	})
}

func updatePage(ctx context.Context, tx *sql.Tx, in UpdatePage, now string) (*Page, error) {
	if in.Name == nil && in.NewSlug == nil && in.Description == nil && in.Indexing == nil && len(in.Meta) == 0 {
		return nil, invalid("give name, newSlug, description, indexing or meta", "nothing to change")
	}
	p, err := pageRow(ctx, tx, in.Page)
	if err != nil {
		return nil, err
	}
	before := &PageBefore{Slug: p.Slug, Name: p.Name, Description: p.Description, Indexing: p.Indexing, Meta: p.Meta}
	if in.Name != nil {
		p.Name = *in.Name
	}
	if in.Description != nil {
		p.Description = *in.Description
	}
	if in.Indexing != nil {
		p.Indexing = *in.Indexing
	}
	if err := checkNames("page", p.Name, p.Description); err != nil {
		return nil, err
	}
	if in.NewSlug != nil && *in.NewSlug != p.Slug {
		if *in.NewSlug == "" {
			return nil, invalid("leave newSlug out to keep the slug", "the new slug is empty")
		}
		if p.Slug, err = slugFrom(*in.NewSlug, ""); err != nil {
			return nil, err
		}
		if err := pageSlugFree(ctx, tx, p.Slug, p.ID); err != nil {
			return nil, err
		}
	}
	meta, err := storedMeta(p.Meta, in.Meta)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE pages SET slug = ?, name = ?, description = ?, indexing = ?, meta = ?, search = ?, updated_at = ? WHERE id = ?",
		p.Slug, p.Name, p.Description, p.Indexing, meta, searchText(p.Name, p.Slug, p.Description), now, p.ID); err != nil {
		return nil, err
	}
	p, err = loadPage(ctx, tx, p.ID, "")
	if err == nil {
		p.Before = before
	}
	return p, err
}

// pageColumns are the columns that scanPage reads.
const pageColumns = "id, slug, name, description, indexing, meta, created_at, updated_at"

func scanPage(scan func(...any) error) (*Page, error) {
	var p Page
	var meta, created, updated string
	if err := scan(&p.ID, &p.Slug, &p.Name, &p.Description, &p.Indexing, &meta, &created, &updated); err != nil {
		return nil, err
	}
	p.CreatedAt, p.UpdatedAt = parseTime(created), parseTime(updated)
	var err error
	p.Meta, err = decodeObject(meta)
	return &p, err
}

// pageRow returns the page with this id or slug, without its sections.
func pageRow(ctx context.Context, tx *sql.Tx, ref string) (*Page, error) {
	p, err := scanPage(tx.QueryRowContext(ctx, "SELECT "+pageColumns+" FROM pages WHERE id = ? OR slug = ?", ref, ref).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, missing(ctx, tx, "page", pageID, ref, "SELECT slug FROM pages ORDER BY slug LIMIT 200")
	}
	return p, err
}

// missing returns the error for a reference that doesn't exist. prefix is the prefix of its ids, if it has any; names is the query for the
// possible values.
func missing(ctx context.Context, tx *sql.Tx, what, prefix, ref, names string, args ...any) error {
	if ref == "" {
		return invalid("give its id or its slug", "no %s was named", what)
	}
	ref = shorten(ref, 80)
	if prefix != "" && isID(prefix, ref) {
		return notFound("it may have been deleted; look it up by its name", "no %s has the id %q", what, ref)
	}
	could, err := collect(ctx, tx, one[string], names, args...)
	if err != nil {
		return err
	}
	return notFound(didYouMean(ref, could), "there is no %s %q", what, ref)
}

// loadPage returns a page with its sections.
func loadPage(ctx context.Context, tx *sql.Tx, ref, locale string) (*Page, error) {
	loc, err := localeRow(ctx, tx, locale)
	if err != nil {
		return nil, err
	}
	p, err := pageRow(ctx, tx, ref)
	if err != nil {
		return nil, err
	}
	p.Locale = loc.Code
	p.Sections, err = loadSections(ctx, tx, p.ID, loc.Code)
	return p, err
}

// pageSlugFree returns an error if another page has the slug.
func pageSlugFree(ctx context.Context, tx *sql.Tx, slug, except string) error {
	var id, name string
	err := tx.QueryRowContext(ctx, "SELECT id, name FROM pages WHERE slug = ? AND id <> ?", slug, except).Scan(&id, &name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	free, err := freeSlug(ctx, tx, "SELECT count(*) FROM pages WHERE slug = ?", slug)
	if err != nil {
		return err
	}
	return &Error{Code: CodeSlugExists, Message: fmt.Sprintf("slug %q exists already (page %q, id %s)", slug, name, id),
		Hint:     fmt.Sprintf("use another slug such as %q, or update that page", free),
		Expected: "a slug that no other page has", Actual: fmt.Sprintf("%q belongs to page %s", slug, id)}
}

// freeSlug returns slug with the first free number appended; taken is the query that counts the rows with a slug, its last argument.
func freeSlug(ctx context.Context, tx *sql.Tx, taken, slug string, before ...any) (string, error) {
	for n := 2; ; n++ {
		suffix := fmt.Sprintf("-%d", n)
		free := slug[:min(len(slug), maxSlug-len(suffix))] + suffix
		var count int
		if err := tx.QueryRowContext(ctx, taken, append(slices.Clone(before), free)...).Scan(&count); err != nil || count == 0 {
			return free, err
		}
	}
}

func checkNames(what, name, description string) error {
	if err := checkText("the "+what+"'s name", name, 1, maxName); err != nil {
		return err
	}
	return checkText("the "+what+"'s description", description, 0, maxDescription)
}

// storedMeta merges change into old and returns the JSON to store.
func storedMeta(old, change map[string]any) (string, error) {
	change, err := normalize("meta", change, maxMetaBytes)
	if err != nil {
		return "", err
	}
	merged, err := encodeObject(merge(old, change))
	if err == nil && len(merged) > maxMetaBytes {
		return "", invalid("remove keys by giving them null", "the page's meta would have %d bytes as JSON, the limit is %d", len(merged), maxMetaBytes)
	}
	return merged, err
}

// localeRow returns the locale with this code, or the default locale if code is empty. An inactive locale can be written and previewed, so
// that a translation can be prepared.
func localeRow(ctx context.Context, tx *sql.Tx, code string) (l Locale, err error) {
	if code == "" {
		code = DefaultLocale
	}
	err = tx.QueryRowContext(ctx, "SELECT code, name, status FROM locales WHERE code = ?", code).Scan(&l.Code, &l.Name, &l.Status)
	if errors.Is(err, sql.ErrNoRows) {
		return l, missing(ctx, tx, "locale", "", code, "SELECT code FROM locales ORDER BY code LIMIT 200")
	}
	return l, err
}
