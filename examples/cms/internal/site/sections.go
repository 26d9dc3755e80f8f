package site

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// The states of pages and entries (draft or published), and of sections and definitions (published
// or unpublished).
const (
	Draft       = "draft" // the preview shows it, and visitors don't see it
	Published   = "published"
	Unpublished = "unpublished"
)

// A Section is a part of a page, with contents that match its definition.
type Section struct {
	ID        string         `json:"id"`        // sec_…
	PageID    string         `json:"pageId"`    // the id of its page
	Page      string         `json:"page"`      // the slug of its page
	Section   string         `json:"section"`   // the definition's key
	Name      string         `json:"name"`      // the definition's name
	SortOrder int            `json:"sortOrder"` // its place on the page, from 0
	Status    string         `json:"status"`
	Variant   string         `json:"variant,omitempty"` // of the template; empty: the definition's default
	Content   map[string]any `json:"content"`           // by slot key, in the page's locale
	Missing   []string       `json:"missing,omitempty"` // required slots without a value in that locale
	// Before has the previous values of the slots that SyncContents has written; null if a slot was
	// empty.
	Before map[string]any `json:"before,omitempty"`
	// Was is the previous state of what UpdateSection has changed.
	Was *SectionBefore `json:"was,omitempty"`
	def *SectionDef
}

// A SectionBefore is the previous state of what [Site.UpdateSection] can change.
type SectionBefore struct {
	SortOrder int    `json:"sortOrder"`
	Status    string `json:"status"`
	Variant   string `json:"variant"`
}

// AddSection is the request of [Site.AddSection].
type AddSection struct {
	Page      string         `json:"page"`                // id or slug
	Section   string         `json:"section"`             // the definition's key or id
	SortOrder *int           `json:"sortOrder,omitempty"` // its place from 0; the last if absent
	Content   map[string]any `json:"content,omitempty"`   // by slot key; may follow later
	Locale    string         `json:"locale,omitempty"`    // of Content; "en" if empty
}

// UpdateSection is the request of [Site.UpdateSection]. Absent fields don't change.
type UpdateSection struct {
	SectionID string  `json:"sectionId"`
	SortOrder *int    `json:"sortOrder,omitempty"` // its new place from 0
	Status    *string `json:"status,omitempty"`    // published or unpublished
	Variant   *string `json:"variant,omitempty"`   // of the template; empty: the definition's default
}

// AddSection adds a section to a page and returns it. The sections at its place and after it move
// down.
func (s *Site) AddSection(ctx context.Context, in AddSection) (*Section, error) {
	return commit(ctx, s, "adding a section", func(tx *txn) (*Section, error) {
		sec, err := addSection(tx, in)
		if err != nil {
			return nil, err
		}
		return sec.touched(tx, in.Locale)
	})
}

func addSection(tx *txn, in AddSection) (*Section, error) {
	p, err := pageTable.find(tx, in.Page)
	if err != nil {
		return nil, err
	}
	def, err := sectionDefTable.find(tx, in.Section)
	if err != nil {
		return nil, err
	}
	if def.Status != Published {
		return nil, conflict("publish the definition first, or use another", "section %q is unpublished", def.Key)
	}
	if value[int](tx, "SELECT count(*) FROM page_sections WHERE page_id = ?", p.ID) >= maxSections {
		return nil,
			conflict("remove one first", "page %q has %d sections already, which is the limit", p.Slug, maxSections)
	}
	sec := &Section{ID: newID(sectionID), PageID: p.ID, def: def}
	if sec.SortOrder, err = makeRoom(tx, p.ID, in.SortOrder); err != nil {
		return nil, err
	}
	tx.insert("page_sections", record{"id": sec.ID, "page_id": p.ID, "section_def_id": def.ID,
		"sort_order": sec.SortOrder, "status": Published})
	loc, err := findLocale(tx, in.Locale)
	if err == nil && len(in.Content) > 0 {
		_, err = sec.write(tx, loc.Code, in.Content, false)
	}
	return sec, err
}

// GetPageSection returns a section with its contents in a locale: by its id, or of a page by a key
// that the page has once.
func (s *Site) GetPageSection(ctx context.Context, page, section, locale string) (*Section, error) {
	return view(ctx, s, "reading a section", func(tx *txn) (*Section, error) {
		sec, err := findSection(tx, page, section)
		if err != nil {
			return nil, err
		}
		return sec.load(tx, locale)
	})
}

// UpdateSection moves, publishes or unpublishes a section, and returns it with its contents in the
// default locale.
func (s *Site) UpdateSection(ctx context.Context, in UpdateSection) (*Section, error) {
	return commit(ctx, s, "updating a section", func(tx *txn) (*Section, error) {
		if in.SortOrder == nil && in.Status == nil && in.Variant == nil {
			return nil, invalid("give sortOrder, status or variant", "nothing to change")
		}
		sec, err := sectionByID(tx, in.SectionID)
		if err != nil {
			return nil, err
		}
		if in.Status != nil {
			if err := oneOf("status", *in.Status, Published, Unpublished); err != nil {
				return nil, err
			}
		}
		if in.Variant != nil && *in.Variant != "" {
			if err := checkTemplate(in.Variant); err != nil {
				return nil, err
			}
		}
		was := &SectionBefore{}
		tx.first([]any{&was.SortOrder, &was.Status, &was.Variant},
			"SELECT sort_order, status, coalesce(variant, '') FROM page_sections WHERE id = ?", sec.ID)
		tx.exec(
			"UPDATE page_sections SET status = coalesce(?, status), variant = nullif(coalesce(?, variant), '') "+
				"WHERE id = ?", in.Status, in.Variant, sec.ID)
		if in.SortOrder != nil {
			if err := sec.move(tx, in.SortOrder); err != nil {
				return nil, err
			}
		}
		if sec, err = sec.touched(tx, ""); err != nil {
			return nil, err
		}
		sec.Was = was
		return sec, nil
	})
}

// RestoreSection puts a removed section back on its page, at its former place, with its id and its
// contents in every locale. It fails with CodeConflict if the section exists already, or if its
// definition or a locale is gone.
func (s *Site) RestoreSection(ctx context.Context, page string, d *DeletedSection) (*Section, error) {
	return commit(ctx, s, "restoring a section", func(tx *txn) (*Section, error) {
		p, err := pageTable.find(tx, page)
		if err != nil {
			return nil, err
		}
		if d == nil || !isID(sectionID, d.ID) {
			return nil, invalid("use what RemoveSection returned", "there is no removed section to restore")
		}
		if d.SortOrder, err = makeRoom(tx, p.ID, &d.SortOrder); err != nil {
			return nil, err
		}
		if err := d.insert(tx, p.ID); err != nil {
			return nil, err
		}
		return (&Section{ID: d.ID, PageID: p.ID}).touched(tx, "")
	})
}

// RemoveSection removes a section and its contents in every locale from its page, and returns what
// was removed.
func (s *Site) RemoveSection(ctx context.Context, id string) (*DeletedSection, error) {
	return commit(ctx, s, "removing a section", func(tx *txn) (*DeletedSection, error) {
		sec, err := sectionByID(tx, id)
		if err != nil {
			return nil, err
		}
		removed := deletedSections(tx, "id", sec.ID)
		slug := value[string](tx, "SELECT slug FROM pages WHERE id = ?", sec.PageID)
		tx.exec("DELETE FROM page_sections WHERE id = ?", sec.ID)
		closeGap(tx, sec.PageID, sec.SortOrder)
		touch(tx, sec.PageID)
		if tx.err != nil {
			return nil, tx.err
		}
		removed[0].Page = slug
		return &removed[0], nil
	})
}

// touch sets the modification time of a page.
func touch(tx *txn, page string) { tx.update("pages", page, record{"updated_at": tx.now}) }

// loadSections returns a page's sections in order, with their contents in the locale.
func loadSections(tx *txn, page, locale string) ([]Section, error) {
	sections := collect(tx, func(scan scanner) (s Section, err error) {
		s.PageID = page
		err = scan(&s.ID, &s.Section, &s.SortOrder, &s.Status, &s.Variant, object{&s.Content})
		return s, err
	},
		`SELECT s.id, s.section_def_id, s.sort_order, s.status, coalesce(s.variant, ''), coalesce(c.content, '{}') FROM page_sections s
		LEFT JOIN page_section_contents c ON c.page_section_id = s.id AND c.locale_code = ?
		WHERE s.page_id = ? ORDER BY s.sort_order, s.id`, locale, page)
	slug := value[string](tx, "SELECT slug FROM pages WHERE id = ?", page)
	for i := range sections {
		s := &sections[i]
		s.Page = slug
		def, err := sectionDefTable.find(tx, s.Section)
		if err != nil {
			return nil, err
		}
		s.def, s.Section, s.Name = def, def.Key, def.Name
		s.Content, s.Missing = known(def.Elements, s.Content), missingSlots(def.Elements, s.Content)
	}
	return sections, tx.err
}

// sectionByID returns the section with an id, without its contents.
func sectionByID(tx *txn, id string) (*Section, error) {
	sec := &Section{ID: id}
	var def string
	if !tx.first([]any{&sec.PageID, &sec.SortOrder, &def},
		"SELECT page_id, sort_order, section_def_id FROM page_sections WHERE id = ?", id) {
		if id == "" {
			return nil, invalid("get the page and use the id of one of its sections", "no section was named")
		}
		return nil, notFound("get the page and use the id of one of its sections", "no page section has the id %q",
			shorten(id, 80))
	}
	var err error
	sec.def, err = sectionDefTable.find(tx, def)
	return sec, err
}

// findSection finds the section of a request: by its id, by a key that its page has once, or as the
// only one of its page.
func findSection(tx *txn, page, ref string) (*Section, error) {
	if page == "" {
		return sectionByID(tx, ref)
	}
	p, err := pageTable.find(tx, page)
	if err != nil {
		return nil, err
	}
	sections, err := loadSections(tx, p.ID, DefaultLocale)
	if err != nil {
		return nil, err
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
		return &fit[0], nil
	case len(sections) == 0:
		return nil, notFound("add a section first", "page %q has no sections", p.Slug)
	case len(fit) > 1:
		return nil, invalid("use the id of one of "+strings.Join(have, ", "),
			"page %q has several sections that could be meant", p.Slug)
	}
	return nil, notFound("use one of "+strings.Join(have, ", "), "page %q has no section %q", p.Slug, shorten(ref, 80))
}

// write merges values into the contents of the section in a locale, and returns the previous
// values.
func (sec *Section) write(tx *txn, locale string, change map[string]any, prune bool) (before map[string]any,
	err error) {
	return pageContents.change(tx, sec.ID, locale, fmt.Sprintf("section %q", sec.def.Key), sec.def.Elements, change,
		prune)
}

// touched sets the modification time of the section's page and returns the section.
func (sec *Section) touched(tx *txn, locale string) (*Section, error) {
	touch(tx, sec.PageID)
	return sec.load(tx, locale)
}

// load returns the section with its contents in a locale.
func (sec *Section) load(tx *txn, locale string) (*Section, error) {
	p, err := loadPage(tx, sec.PageID, locale)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.Sections, func(other Section) bool { return other.ID == sec.ID })
	return &p.Sections[i], nil
}

// move puts the section at another place on its page.
func (sec *Section) move(tx *txn, to *int) error {
	tx.update("page_sections", sec.ID, record{"sort_order": -1}) // out of the way
	closeGap(tx, sec.PageID, sec.SortOrder)
	order, err := makeRoom(tx, sec.PageID, to)
	tx.update("page_sections", sec.ID, record{"sort_order": order})
	return err
}

// makeRoom moves the sections from a place on down by one, and returns the place: the end if at is
// nil or after the end.
func makeRoom(tx *txn, page string, at *int) (int, error) {
	end := value[int](tx, "SELECT coalesce(max(sort_order) + 1, 0) FROM page_sections WHERE page_id = ?", page)
	if at == nil {
		return end, nil
	}
	if *at < 0 {
		return 0, invalid("use 0 for the first place", "sortOrder %d is negative", *at)
	}
	order := min(*at, end)
	tx.exec("UPDATE page_sections SET sort_order = sort_order + 1 WHERE page_id = ? AND sort_order >= ?", page, order)
	return order, nil
}

// closeGap moves the sections after a place that has become free up by one.
func closeGap(tx *txn, page string, order int) {
	tx.exec("UPDATE page_sections SET sort_order = sort_order - 1 WHERE page_id = ? AND sort_order > ?", page, order)
}
