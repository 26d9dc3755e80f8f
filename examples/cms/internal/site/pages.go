package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	maxMetaBytes = 16 << 10 // of a page's meta, as JSON
	maxSections  = 100      // sections of a page
	maxSortOrder = 9999
)

// A Page is a page of the site, with its sections in order and their contents in one locale.
type Page struct {
	ID   string `json:"id"` // pg_…
	Slug string `json:"slug"`
	Name string `json:"name"`
	// what it is about, and other words for it; Find searches it
	Description string         `json:"description,omitempty"`
	Status      string         `json:"status"`   // draft or published
	Indexing    bool           `json:"indexing"` // whether search engines may list it
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
	Status      string         `json:"status"`
	Indexing    bool           `json:"indexing"`
	Meta        map[string]any `json:"meta,omitempty"`
}

// A PageSummary is a page in a list.
type PageSummary struct {
	ID          string    `json:"id"`
	Slug        string    `json:"slug"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Status      string    `json:"status"`
	Indexing    bool      `json:"indexing"`
	Sections    int       `json:"sections"` // number of sections
	UpdatedAt   time.Time `json:"updatedAt"`
}

// CreatePage is the request of [Site.CreatePage].
type CreatePage struct {
	Name        string         `json:"name"`                  // 1 to 100 characters
	Slug        string         `json:"slug,omitempty"`        // derived from the name if empty
	Description string         `json:"description,omitempty"` // at most 1,000 characters
	Status      string         `json:"status,omitempty"`      // draft or published; draft if empty
	Indexing    *bool          `json:"indexing,omitempty"`    // true if absent
	Meta        map[string]any `json:"meta,omitempty"`        // at most 16 KiB as JSON
	Locale      string         `json:"locale,omitempty"`      // of the sections' contents; "en" if empty
	Sections    []NewSection   `json:"sections,omitempty"`    // in order; either all are added or none
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
	Status      *string        `json:"status,omitempty"` // draft or published
	Indexing    *bool          `json:"indexing,omitempty"`
	Meta        map[string]any `json:"meta,omitempty"` // merged into the stored values; null removes a key
}

// ListPages lists the pages by slug.
func (s *Site) ListPages(ctx context.Context, q Query) (List[PageSummary], error) {
	return view(ctx, s, "listing pages", func(tx *txn) (List[PageSummary], error) {
		return pageSummaryTable.list(tx, q, "true", "slug"), nil
	})
}

// GetPage returns the page with this id or slug, and its sections with their contents in the locale
// ("en" if empty). Values without a slot in the current definition are left out.
func (s *Site) GetPage(ctx context.Context, page, locale string) (*Page, error) {
	return view(ctx, s, "reading a page", func(tx *txn) (*Page, error) { return loadPage(tx, page, locale) })
}

// CreatePage adds a page and returns it. If the slug is taken, also if it was derived from the
// name, the error is an [*Error] with CodeSlugExists that names a free slug.
func (s *Site) CreatePage(ctx context.Context, in CreatePage) (*Page, error) {
	return commit(ctx, s, "creating a page", func(tx *txn) (*Page, error) {
		id, err := createPage(tx, in)
		if err != nil {
			return nil, err
		}
		return loadPage(tx, id, in.Locale)
	})
}

// createPage adds a page with its sections and returns its id.
func createPage(tx *txn, in CreatePage) (id string, err error) {
	if len(in.Sections) > maxSections {
		return "", invalid("use fewer", "the page has %d sections, the limit is %d", len(in.Sections), maxSections)
	}
	p := &Page{ID: newID(pageID), Slug: in.Slug, Name: in.Name, Description: in.Description,
		Status: cmp.Or(in.Status, Draft), Indexing: true, Meta: in.Meta}
	set(&p.Indexing, in.Indexing)
	if err := p.insert(tx, tx.now, tx.now); err != nil {
		return "", err
	}
	for i, sec := range in.Sections {
		if _, err := addSection(tx,
			AddSection{Page: p.ID, Section: sec.Section, Content: sec.Content, Locale: in.Locale}); err != nil {
			return "", atSection(err, i)
		}
	}
	return p.ID, nil
}

// atSection adds to an error which section it is about.
func atSection(err error, i int) error {
	var e *Error
	if errors.As(err, &e) {
		e.Message = fmt.Sprintf("sections[%d]: %s", i, e.Message)
	}
	return err
}

// row checks a page and returns the columns that can change. Its slug is derived from its name if
// it is empty; meta is merged into its own.
func (p *Page) row(tx *txn, meta map[string]any, updated string) (record, error) {
	err := cmp.Or(checkNames("page", p.Name, p.Description), oneOf("status", p.Status, Draft, Published))
	if err != nil {
		return nil, err
	}
	if p.Slug, err = slugFrom(p.Slug, p.Name); err != nil {
		return nil, err
	}
	if err := pageSlugFree(tx, p); err != nil {
		return nil, err
	}
	stored, err := storedMeta(p.Meta, meta)
	return record{"slug": p.Slug, "name": p.Name, "description": p.Description, "status": p.Status,
		"indexing": p.Indexing, "meta": stored,
		"search": searchText(p.Name, p.Slug, p.Description), "updated_at": updated}, err
}

// insert checks and stores a new page, without its sections.
func (p Page) insert(tx *txn, created, updated string) error {
	row, err := p.row(tx, p.Meta, updated)
	if err != nil {
		return err
	}
	row["id"], row["site_id"], row["environment_id"], row["created_at"] = p.ID, siteID, environmentID, created
	tx.insert("pages", row)
	return nil
}

// UpdatePage changes the fields that the request names and returns the page. Two updates of
// different fields, or of different keys of Meta, never undo each other, even from different
// processes.
func (s *Site) UpdatePage(ctx context.Context, in UpdatePage) (*Page, error) {
	return commit(ctx, s, "updating a page", func(tx *txn) (*Page, error) {
		if in.Name == nil && in.NewSlug == nil && in.Description == nil && in.Status == nil && in.Indexing == nil &&
			len(in.Meta) == 0 {
			return nil, invalid("give name, newSlug, description, status, indexing or meta", "nothing to change")
		}
		p, err := pageTable.find(tx, in.Page)
		if err != nil {
			return nil, err
		}
		if in.NewSlug != nil && *in.NewSlug == "" {
			return nil, invalid("leave newSlug out to keep the slug", "the new slug is empty")
		}
		before := &PageBefore{Slug: p.Slug, Name: p.Name, Description: p.Description, Status: p.Status,
			Indexing: p.Indexing, Meta: p.Meta}
		set(&p.Name, in.Name)
		set(&p.Slug, in.NewSlug)
		set(&p.Description, in.Description)
		set(&p.Status, in.Status)
		set(&p.Indexing, in.Indexing)
		row, err := p.row(tx, in.Meta, tx.now)
		if err != nil {
			return nil, err
		}
		tx.update("pages", p.ID, row)
		p, err = loadPage(tx, p.ID, "")
		if err == nil {
			p.Before = before
		}
		return p, err
	})
}

// ClonePage is the request of [Site.ClonePage].
type ClonePage struct {
	Source  string `json:"source"`         // id or slug of the page to copy
	NewSlug string `json:"newSlug"`        // derived from the name if empty
	Name    string `json:"name,omitempty"` // the source's name with "(copy)" if empty
}

// ClonePage copies a page with its sections and their contents in every locale, and returns the
// copy.
func (s *Site) ClonePage(ctx context.Context, in ClonePage) (*Page, error) {
	return commit(ctx, s, "copying a page", func(tx *txn) (*Page, error) {
		p, err := pageTable.find(tx, in.Source)
		if err != nil {
			return nil, err
		}
		d := &Deleted{Page: *p, Sections: deletedSections(tx, "page_id", p.ID)}
		d.Page.ID, d.Page.Slug, d.Page.Status = newID(pageID), in.NewSlug, Draft
		d.Page.Name = cmp.Or(in.Name, shorten(p.Name, maxName-len(" (copy)"))+" (copy)")
		for i := range d.Sections {
			d.Sections[i].ID = newID(sectionID)
		}
		if err := d.insert(tx, tx.now, tx.now); err != nil {
			return nil, err
		}
		return loadPage(tx, d.Page.ID, "")
	})
}

// set applies an optional change of a field.
func set[T any](field *T, to *T) {
	if to != nil {
		*field = *to
	}
}

var (
	pageTable = table[*Page]{what: "page", prefix: pageID, from: "pages", where: "id = ?1 OR slug = ?1",
		names:   "SELECT slug FROM pages ORDER BY slug LIMIT 200",
		columns: "id, slug, name, description, status, indexing, meta, created_at, updated_at",
		scan: func(scan scanner) (*Page, error) {
			var p Page
			return &p, scan(&p.ID, &p.Slug, &p.Name, &p.Description, &p.Status, &p.Indexing, object{&p.Meta},
				at{&p.CreatedAt}, at{&p.UpdatedAt})
		}}
	pageSummaryTable = table[PageSummary]{from: "pages",
		columns: "id, slug, name, description, status, indexing, updated_at, " +
			"(SELECT count(*) FROM page_sections WHERE page_id = pages.id)",
		scan: func(scan scanner) (p PageSummary, err error) {
			err = scan(&p.ID, &p.Slug, &p.Name, &p.Description, &p.Status, &p.Indexing,
				at{&p.UpdatedAt}, &p.Sections)
			return p, err
		}}
)

// loadPage returns a page with its sections.
func loadPage(tx *txn, ref, locale string) (*Page, error) {
	loc, err := findLocale(tx, locale)
	if err != nil {
		return nil, err
	}
	p, err := pageTable.find(tx, ref)
	if err != nil {
		return nil, err
	}
	p.Locale = loc.Code
	p.Sections, err = loadSections(tx, p.ID, loc.Code)
	return p, err
}

// pageSlugFree returns an error if another page has the page's slug.
func pageSlugFree(tx *txn, p *Page) error {
	o := ownerOf(tx, "pages WHERE true", "name", "slug", p.Slug, p.ID)
	if o == nil {
		return nil
	}
	return &Error{Code: CodeSlugExists,
		Message:  fmt.Sprintf("a page with the address %q exists: %s (id %s)", p.Slug, o.name, o.id),
		Hint:     fmt.Sprintf("use another slug such as %q, or update that page", o.free),
		Expected: "a slug that no other page has", Actual: fmt.Sprintf("%q belongs to page %s", p.Slug, o.id)}
}

func checkNames(what, name, description string) error {
	return cmp.Or(inField("name", checkText("the "+what+"'s name", name, 1, maxName)),
		inField("description", checkText("the "+what+"'s description", description, 0, maxDescription)))
}

// storedMeta merges change into old and returns the JSON to store.
func storedMeta(old, change map[string]any) (string, error) {
	change, err := normalize("meta", change, maxMetaBytes)
	if err != nil {
		return "", err
	}
	merged, err := encodeObject(merge(old, change))
	if err == nil && len(merged) > maxMetaBytes {
		return "", invalid("remove keys by giving them null",
			"the page's meta would have %d bytes as JSON, the limit is %d", len(merged), maxMetaBytes)
	}
	return merged, err
}
