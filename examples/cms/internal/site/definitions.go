package site

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// A SectionDef defines the slots of a kind of section and the template that shows it.
type SectionDef struct {
	ID             string    `json:"id"`  // def_…
	Key            string    `json:"key"` // how pages refer to it, formed like a slug
	Name           string    `json:"name"`
	Description    string    `json:"description,omitempty"`
	Status         string    `json:"status"` // only a published definition can be added to a page
	Elements       Elements  `json:"elements_structure"`
	TemplateKey    string    `json:"templateKey"`
	DefaultVariant string    `json:"defaultVariant"`
	CreatedAt      time.Time `json:"createdAt"`
	UpdatedAt      time.Time `json:"updatedAt"`
	// Before has the previous values of the fields, after UpdateSectionDef has changed it.
	Before *DefinitionFields `json:"before,omitempty"`
}

// CreateSectionDef is the request of [Site.CreateSectionDef].
type CreateSectionDef struct {
	Name        string   `json:"name"`                  // 1 to 100 characters
	Key         string   `json:"key,omitempty"`         // derived from the name if empty
	Description string   `json:"description,omitempty"` // at most 1,000 characters
	Elements    Elements `json:"elements_structure"`    // 1 to 50 slots
	TemplateKey string   `json:"templateKey,omitempty"` // the key if empty; a template that doesn't exist shows all slots in order
}

// UpdateSectionDef is the request of [Site.UpdateSectionDef]. Absent fields don't change.
type UpdateSectionDef struct {
	Section string `json:"section"` // id or key
	DefinitionFields
	TemplateKey    *string `json:"templateKey,omitempty"`
	DefaultVariant *string `json:"defaultVariant,omitempty"`
}

// DefinitionFields are the fields of a definition that can be changed.
type DefinitionFields struct {
	Name        *string `json:"name,omitempty"`
	Key         *string `json:"key,omitempty"`
	Description *string `json:"description,omitempty"`
	Status      *string `json:"status,omitempty"` // published or unpublished
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
	row, err := sectionKind.newRow(ctx, tx, in.Name, in.Key, in.Description, in.Elements, id, now)
	if err != nil {
		return nil, err
	}
	if row["template_key"], err = templateKey(cmp.Or(in.TemplateKey, row["key"].(string))); err != nil {
		return nil, err
	}
	if err := insertRow(ctx, tx, sectionKind.table, row); err != nil {
		return nil, err
	}
	return sectionDefRow(ctx, tx, id)
}

// templateKey returns a valid key of a template, or of a variant.
func templateKey(key string) (string, error) {
	if !slugPattern.MatchString(key) || len(key) > maxSlug {
		return "", invalid(`use the key of a template, such as "hero", or leave it out`, "template key %q isn't allowed", shorten(key, 80))
	}
	return key, nil
}

// UpdateSectionDef changes the fields that the request names and returns the definition.
func (s *Site) UpdateSectionDef(ctx context.Context, in UpdateSectionDef) (*SectionDef, error) {
	return commit(ctx, s, "updating a section definition", func(tx *sql.Tx) (*SectionDef, error) {
		d, err := sectionDefRow(ctx, tx, in.Section)
		if err != nil {
			return nil, err
		}
		before := DefinitionFields{Key: &d.Key, Name: &d.Name, Description: &d.Description, Status: &d.Status}
		template, variant := d.TemplateKey, d.DefaultVariant
		for _, change := range []struct{ to, field *string }{{in.TemplateKey, &template}, {in.DefaultVariant, &variant}} {
			if change.to == nil {
				continue
			}
			if *change.field, err = templateKey(*change.to); err != nil {
				return nil, err
			}
		}
		if _, err := tx.ExecContext(ctx, "UPDATE section_definitions SET template_key = ?, default_variant = ? WHERE id = ?", template, variant, d.ID); err != nil {
			return nil, err
		}
		if in.TemplateKey == nil && in.DefaultVariant == nil || in.DefinitionFields != (DefinitionFields{}) {
			if err := sectionKind.update(ctx, tx, d.ID, before, in.DefinitionFields, s.stamp()); err != nil {
				return nil, err
			}
		}
		changed, err := sectionDefRow(ctx, tx, d.ID)
		if err == nil {
			changed.Before = &before
		}
		return changed, err
	})
}

// DeleteSectionDef removes a section definition that no page uses, and returns what [Site.Restore] needs to undo it.
func (s *Site) DeleteSectionDef(ctx context.Context, section string) (*Removed, error) {
	return commit(ctx, s, "deleting a section definition", func(tx *sql.Tx) (*Removed, error) {
		d, err := sectionDefRow(ctx, tx, section)
		if err != nil {
			return nil, err
		}
		pages, err := collect(ctx, tx, one[string], `SELECT DISTINCT p.slug FROM pages p JOIN page_sections s ON s.page_id = p.id
			WHERE s.section_def_id = ? ORDER BY p.slug`, d.ID)
		if err != nil {
			return nil, err
		}
		if len(pages) > 0 {
			return nil, conflict("remove its sections from them first, or unpublish the definition",
				"section definition %q is used by the pages %s", d.Key, shorten(strings.Join(pages, ", "), 500))
		}
		r := &Removed{Kind: KindSection, ID: d.ID, Name: d.Name, Key: d.Key}
		return r, r.take(ctx, tx, sectionKind.table, "id")
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
