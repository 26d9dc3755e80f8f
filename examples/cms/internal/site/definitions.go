package site

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// A SectionDef defines the slots of a kind of section and the template that shows it.
type SectionDef struct {
	ID             string    `json:"id"`  // def_…
	Key            string    `json:"key"` // how pages refer to it, formed like a slug
	Name           string    `json:"name"`
	Description    string    `json:"description,omitempty"`
	Status         string    `json:"status"` // only a published definition can be added to a page
	Elements       Elements  `json:"elements"`
	TemplateKey    string    `json:"templateKey"`
	DefaultVariant string    `json:"defaultVariant"`
	CreatedAt      time.Time `json:"createdAt"`
	UpdatedAt      time.Time `json:"updatedAt"`
}

// CreateSectionDef is the request of [Site.CreateSectionDef].
type CreateSectionDef struct {
	Name        string   `json:"name"`                  // 1 to 200 characters
	Key         string   `json:"key,omitempty"`         // derived from the name if empty
	Description string   `json:"description,omitempty"` // at most 1,000 characters
	Elements    Elements `json:"elements"`              // 1 to 50 slots
	TemplateKey string   `json:"templateKey,omitempty"` // the key if empty; a template that doesn't exist shows all slots in order
}

// A Collection defines the slots of its entries.
type Collection struct {
	ID          string    `json:"id"` // col_…
	Slug        string    `json:"slug"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Status      string    `json:"status"`
	Elements    Elements  `json:"elements"`
	Entries     int       `json:"entries"` // number of entries
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
}

// ListSections lists the section definitions by key.
func (s *Site) ListSections(ctx context.Context, q Query) (List[*SectionDef], error) {
	return view(ctx, s, "listing section definitions", func(tx *sql.Tx) (List[*SectionDef], error) {
		return list(ctx, tx, q, scanSectionDef, sectionDefColumns, "section_definitions", "true", "key")
	})
}

// GetSection returns the section definition with this key or id.
func (s *Site) GetSection(ctx context.Context, section string) (*SectionDef, error) {
	return view(ctx, s, "reading a section definition", func(tx *sql.Tx) (*SectionDef, error) {
		return sectionDefRow(ctx, tx, section)
	})
}

// CreateSectionDef adds a section definition, which is published at once, and returns it.
func (s *Site) CreateSectionDef(ctx context.Context, in CreateSectionDef) (*SectionDef, error) {
	return commit(ctx, s, "creating a section definition", func(tx *sql.Tx) (*SectionDef, error) {
		return createSectionDef(ctx, tx, in, newID(sectionDefID), s.stamp())
	})
}

func createSectionDef(ctx context.Context, tx *sql.Tx, in CreateSectionDef, id, now string) (*SectionDef, error) {
	if err := checkNames("section definition", in.Name, in.Description); err != nil {
		return nil, err
	}
	key, err := slugFrom(in.Key, in.Name)
	if err != nil {
		return nil, err
	}
	var other, name string
	err = tx.QueryRowContext(ctx, "SELECT id, name FROM section_definitions WHERE key = ?", key).Scan(&other, &name)
	if err == nil {
		free, err := freeSlug(ctx, tx, "SELECT count(*) FROM section_definitions WHERE key = ?", key)
		if err != nil {
			return nil, err
		}
		return nil, &Error{Code: CodeKeyExists, Message: fmt.Sprintf("section key %q exists already (section %q, id %s)", key, name, other),
			Hint: fmt.Sprintf("use that section, or another key such as %q", free)}
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	template := in.TemplateKey
	if template == "" {
		template = key
	}
	if _, err := slugFrom(template, ""); err != nil {
		return nil, invalid(`use the key of a template, such as "hero", or leave it out`, "template key %q isn't allowed", shorten(template, 80))
	}
	if err := in.Elements.check(ctx, tx); err != nil {
		return nil, err
	}
	elements, err := encodeObject(in.Elements)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO section_definitions (id, key, name, description, status, elements_structure, template_key, search, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, key, in.Name, in.Description, Published, elements, template, searchText(in.Name, key, in.Description), now, now); err != nil {
		return nil, err
	}
	return sectionDefRow(ctx, tx, id)
}

// ListCollections lists the collections by slug.
func (s *Site) ListCollections(ctx context.Context, q Query) (List[*Collection], error) {
	return view(ctx, s, "listing collections", func(tx *sql.Tx) (List[*Collection], error) {
		return list(ctx, tx, q, scanCollection, collectionColumns, "collection_definitions", "true", "slug")
	})
}

// sectionDefColumns are the columns that scanSectionDef reads.
const sectionDefColumns = "id, key, name, description, status, elements_structure, template_key, default_variant, created_at, updated_at"

func scanSectionDef(scan func(...any) error) (*SectionDef, error) {
	var d SectionDef
	var elements, created, updated string
	if err := scan(&d.ID, &d.Key, &d.Name, &d.Description, &d.Status, &elements, &d.TemplateKey, &d.DefaultVariant, &created, &updated); err != nil {
		return nil, err
	}
	d.CreatedAt, d.UpdatedAt = parseTime(created), parseTime(updated)
	var err error
	d.Elements, err = parseElements(elements)
	return &d, err
}

func sectionDefRow(ctx context.Context, tx *sql.Tx, ref string) (*SectionDef, error) {
	d, err := scanSectionDef(tx.QueryRowContext(ctx, "SELECT "+sectionDefColumns+" FROM section_definitions WHERE id = ? OR key = ?", ref, ref).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, missing(ctx, tx, "section definition", sectionDefID, ref, "SELECT key FROM section_definitions ORDER BY key LIMIT 200")
	}
	return d, err
}

// collectionColumns are the columns that scanCollection reads.
const collectionColumns = `id, slug, name, description, status, elements_structure, created_at, updated_at,
	(SELECT count(*) FROM collection_entries WHERE collection_id = collection_definitions.id)`

func scanCollection(scan func(...any) error) (*Collection, error) {
	var c Collection
	var elements, created, updated string
	if err := scan(&c.ID, &c.Slug, &c.Name, &c.Description, &c.Status, &elements, &created, &updated, &c.Entries); err != nil {
		return nil, err
	}
	c.CreatedAt, c.UpdatedAt = parseTime(created), parseTime(updated)
	var err error
	c.Elements, err = parseElements(elements)
	return &c, err
}

func collectionRow(ctx context.Context, tx *sql.Tx, ref string) (*Collection, error) {
	c, err := scanCollection(tx.QueryRowContext(ctx, "SELECT "+collectionColumns+" FROM collection_definitions WHERE id = ? OR slug = ?", ref, ref).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, missing(ctx, tx, "collection", collectionID, ref, "SELECT slug FROM collection_definitions ORDER BY slug LIMIT 200")
	}
	return c, err
}
