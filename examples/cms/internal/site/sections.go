package site

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The states of sections and definitions.
const (
	Published   = "published"
	Unpublished = "unpublished"
)

// A Section is a part of a page, with contents that match its definition.
type Section struct {
	ID        string         `json:"id"`        // sec_…
	PageID    string         `json:"pageId"`    // the id of its page
	Section   string         `json:"section"`   // the definition's key
	Name      string         `json:"name"`      // the definition's name
	SortOrder int            `json:"sortOrder"` // its place on the page, from 0
	Status    string         `json:"status"`
	Variant   string         `json:"variant,omitempty"` // of the template; empty: the definition's default
	Content   map[string]any `json:"content"`           // by slot key, in the page's locale
	Missing   []string       `json:"missing,omitempty"` // required slots without a value in that locale
	// Before has the previous values of the slots that SyncContents has written; null if a slot was empty.
	Before map[string]any `json:"before,omitempty"`
	def    *SectionDef
}

// AddSection is the request of [Site.AddSection].
type AddSection struct {
	Page      string         `json:"page"`                // id or slug
	Section   string         `json:"section"`             // the definition's key or id
	SortOrder *int           `json:"sortOrder,omitempty"` // its place from 0; the last if absent
	Content   map[string]any `json:"content,omitempty"`   // by slot key; may follow later
	Locale    string         `json:"locale,omitempty"`    // of Content; "en" if empty
	Key       string         `json:"key,omitempty"`       // idempotency key, at most 200 characters: requests with the same key take effect once
}

// UpdateSection is the request of [Site.UpdateSection]. Absent fields don't change.
type UpdateSection struct {
	SectionID string  `json:"sectionId"`
	SortOrder *int    `json:"sortOrder,omitempty"` // its new place from 0
	Status    *string `json:"status,omitempty"`    // published or unpublished
	Variant   *string `json:"variant,omitempty"`   // of the template; empty: the definition's default
}

// AddSection adds a section to a page and returns it. The sections at its place and after it move down.
func (s *Site) AddSection(ctx context.Context, in AddSection) (*Section, error) {
	return once(ctx, s, in.Key, "adding a section", func(tx *sql.Tx) (*Section, error) {
		at, err := addSection(ctx, tx, in)
		if err != nil {
			return nil, err
		}
		return s.touched(ctx, tx, at, in.Locale)
	})
}

func addSection(ctx context.Context, tx *sql.Tx, in AddSection) (at placed, err error) {
	p, err := pageRow(ctx, tx, in.Page)
	if err != nil {
		return at, err
	}
	def, err := sectionDefRow(ctx, tx, in.Section)
	if err != nil {
		return at, err
	}
	if def.Status != Published {
		return at, conflict("publish the definition first, or use another", "section %q is unpublished", def.Key)
	}
	var count int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM page_sections WHERE page_id = ?", p.ID).Scan(&count); err != nil {
		return at, err
	}
	if count >= maxSections {
		return at, conflict("remove one first", "page %q has %d sections already, which is the limit", p.Slug, maxSections)
	}
	at = placed{id: newID(sectionID), page: p.ID, def: def}
	if at.order, err = makeRoom(ctx, tx, p.ID, in.SortOrder); err != nil {
		return at, err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO page_sections (id, page_id, section_def_id, sort_order, status) VALUES (?, ?, ?, ?, ?)", at.id, p.ID, def.ID, at.order, Published); err != nil {
		return at, err
	}
	loc, err := localeRow(ctx, tx, in.Locale)
	if err != nil || len(in.Content) == 0 {
		return at, err
	}
	return at, putContent(ctx, tx, pageContents, at.id, loc.Code, func(old map[string]any) (map[string]any, error) {
		return applyContent(ctx, tx, fmt.Sprintf("section %q", def.Key), def.Elements, old, in.Content, false)
	})
}

// UpdateSection moves, publishes or unpublishes a section, and returns it with its contents in the default locale.
func (s *Site) UpdateSection(ctx context.Context, in UpdateSection) (*Section, error) {
	return commit(ctx, s, "updating a section", func(tx *sql.Tx) (*Section, error) {
		if in.SortOrder == nil && in.Status == nil && in.Variant == nil {
			return nil, invalid("give sortOrder, status or variant", "nothing to change")
		}
		at, err := sectionRow(ctx, tx, in.SectionID)
		if err != nil {
			return nil, err
		}
		if in.Status != nil {
			if err := oneOf("status", *in.Status, Published, Unpublished); err != nil {
				return nil, err
			}
			if _, err := tx.ExecContext(ctx, "UPDATE page_sections SET status = ? WHERE id = ?", *in.Status, at.id); err != nil {
				return nil, err
			}
		}
		if in.Variant != nil {
			if *in.Variant != "" {
				if _, err := templateKey(*in.Variant); err != nil {
					return nil, err
				}
			}
			if _, err := tx.ExecContext(ctx, "UPDATE page_sections SET variant = nullif(?, '') WHERE id = ?", *in.Variant, at.id); err != nil {
				return nil, err
			}
		}
		if in.SortOrder != nil {
			if err := moveSection(ctx, tx, at, in.SortOrder); err != nil {
				return nil, err
			}
		}
		return s.touched(ctx, tx, at, "")
	})
}

// RemoveSection removes a section and its contents in every locale from its page, and returns what was removed.
func (s *Site) RemoveSection(ctx context.Context, id string) (*DeletedSection, error) {
	return commit(ctx, s, "removing a section", func(tx *sql.Tx) (*DeletedSection, error) {
		at, err := sectionRow(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		all, err := deletedSections(ctx, tx, at.page)
		if err != nil {
			return nil, err
		}
		removed := &all[slices.IndexFunc(all, func(d DeletedSection) bool { return d.ID == at.id })]
		if _, err := tx.ExecContext(ctx, "DELETE FROM page_sections WHERE id = ?", at.id); err != nil {
			return nil, err
		}
		if err := closeGap(ctx, tx, at.page, at.order); err != nil {
			return nil, err
		}
		return removed, s.touch(ctx, tx, at.page)
	})
}

// touch sets the modification time of a page.
func (s *Site) touch(ctx context.Context, tx *sql.Tx, page string) error {
	_, err := tx.ExecContext(ctx, "UPDATE pages SET updated_at = ? WHERE id = ?", s.stamp(), page)
	return err
}

// touched sets the modification time of a section's page and returns the section.
func (s *Site) touched(ctx context.Context, tx *sql.Tx, at placed, locale string) (*Section, error) {
	if err := s.touch(ctx, tx, at.page); err != nil {
		return nil, err
	}
	p, err := loadPage(ctx, tx, at.page, locale)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.Sections, func(sec Section) bool { return sec.ID == at.id })
	return &p.Sections[i], nil
}

// loadSections returns a page's sections in order, with their contents in the locale.
func loadSections(ctx context.Context, tx *sql.Tx, page, locale string) ([]Section, error) {
	type row struct {
		Section
		defID, content string
	}
	rows, err := collect(ctx, tx, func(scan func(...any) error) (r row, err error) {
		err = scan(&r.ID, &r.defID, &r.SortOrder, &r.Status, &r.Variant, &r.content)
		return r, err
	}, `SELECT s.id, s.section_def_id, s.sort_order, s.status, coalesce(s.variant, ''), coalesce(c.content, '{}') FROM page_sections s
		LEFT JOIN page_section_contents c ON c.page_section_id = s.id AND c.locale_code = ?
		WHERE s.page_id = ? ORDER BY s.sort_order, s.id`, locale, page)
	if err != nil {
		return nil, err
	}
	sections := make([]Section, 0, len(rows))
	defs := map[string]*SectionDef{} // a page often has several sections of one kind
	for _, r := range rows {
		def := defs[r.defID]
		if def == nil {
			if def, err = sectionDefRow(ctx, tx, r.defID); err != nil {
				return nil, err
			}
			defs[r.defID] = def
		}
		content, err := decodeObject(r.content)
		if err != nil {
			return nil, err
		}
		sec := r.Section
		sec.PageID = page
		sec.def, sec.Section, sec.Name = def, def.Key, def.Name
		sec.Content, sec.Missing = known(def.Elements, content), missingSlots(def.Elements, content)
		sections = append(sections, sec)
	}
	return sections, nil
}

// A placed is a section with its page and its place there.
type placed struct {
	id, page string
	order    int
	def      *SectionDef
}

func sectionRow(ctx context.Context, tx *sql.Tx, id string) (placed, error) {
	p := placed{id: id}
	var def string
	err := tx.QueryRowContext(ctx, "SELECT page_id, sort_order, section_def_id FROM page_sections WHERE id = ?", id).Scan(&p.page, &p.order, &def)
	if errors.Is(err, sql.ErrNoRows) {
		if id == "" {
			return p, invalid("get the page and use the id of one of its sections", "no section was named")
		}
		return p, notFound("get the page and use the id of one of its sections", "no page section has the id %q", shorten(id, 80))
	}
	if err == nil {
		p.def, err = sectionDefRow(ctx, tx, def)
	}
	return p, err
}

// findSection finds the section of a request: by its id, by a key that its page has once, or as the only one of its page.
func findSection(ctx context.Context, tx *sql.Tx, page, ref string) (placed, error) {
	if page == "" {
		return sectionRow(ctx, tx, ref)
	}
	p, err := pageRow(ctx, tx, page)
	if err != nil {
		return placed{}, err
	}
	sections, err := loadSections(ctx, tx, p.ID, DefaultLocale)
	if err != nil {
		return placed{}, err
	}
	var fit []Section
	var have []string
	for _, sec := range sections {
		have = append(have, fmt.Sprintf("%s (%s)", sec.ID, sec.Section))
		if ref == "" || ref == sec.ID || ref == sec.Section {
			fit = append(fit, sec)
		}
	}
	switch {
	case len(fit) == 1:
		return placed{id: fit[0].ID, page: p.ID, order: fit[0].SortOrder, def: fit[0].def}, nil
	case len(sections) == 0:
		return placed{}, notFound("add a section first", "page %q has no sections", p.Slug)
	case len(fit) > 1:
		return placed{}, invalid("use the id of one of "+strings.Join(have, ", "), "page %q has several sections that could be meant", p.Slug)
	}
	return placed{}, notFound("use one of "+strings.Join(have, ", "), "page %q has no section %q", p.Slug, shorten(ref, 80))
}

// makeRoom moves the sections from a place on down by one, and returns the place: the end if at is nil or after the end.
func makeRoom(ctx context.Context, tx *sql.Tx, page string, at *int) (order int, err error) {
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(sort_order) + 1, 0) FROM page_sections WHERE page_id = ?", page).Scan(&order); err != nil || at == nil {
		return order, err
	}
	if *at < 0 {
		return 0, invalid("use 0 for the first place", "sortOrder %d is negative", *at)
	}
	order = min(*at, order)
	_, err = tx.ExecContext(ctx, "UPDATE page_sections SET sort_order = sort_order + 1 WHERE page_id = ? AND sort_order >= ?", page, order)
	return order, err
}

// closeGap moves the sections after a place that has become free up by one.
func closeGap(ctx context.Context, tx *sql.Tx, page string, order int) error {
	_, err := tx.ExecContext(ctx, "UPDATE page_sections SET sort_order = sort_order - 1 WHERE page_id = ? AND sort_order > ?", page, order)
	return err
}

func moveSection(ctx context.Context, tx *sql.Tx, sec placed, at *int) error {
	put := func(order int) error {
		_, err := tx.ExecContext(ctx, "UPDATE page_sections SET sort_order = ? WHERE id = ?", order, sec.id)
		return err
	}
	if err := put(-1); err != nil { // move it aside first
		return err
	}
	if err := closeGap(ctx, tx, sec.page, sec.order); err != nil {
		return err
	}
	order, err := makeRoom(ctx, tx, sec.page, at)
	if err != nil {
		return err
	}
	return put(order)
}
