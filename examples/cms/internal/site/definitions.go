package site

import (
	"cmp"
	"context"
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
	// the key if empty; a template that doesn't exist shows all slots in order
	TemplateKey string `json:"templateKey,omitempty"`
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
	return view(ctx, s, "listing section definitions", func(tx *txn) (List[*SectionDef], error) {
		return sectionDefTable.list(tx, q, "true", "key"), nil
	})
}

// GetSection returns the section definition with this key or id.
func (s *Site) GetSection(ctx context.Context, section string) (*SectionDef, error) {
	return view(ctx, s, "reading a section definition", func(tx *txn) (*SectionDef, error) {
		return sectionDefTable.find(tx, section)
	})
}

// CreateSectionDef adds a section definition, which is published at once, and returns it.
func (s *Site) CreateSectionDef(ctx context.Context, in CreateSectionDef) (*SectionDef, error) {
	return commit(ctx, s, "creating a section definition", func(tx *txn) (*SectionDef, error) {
		return createSectionDef(tx, in, newID(sectionDefID))
	})
}

func createSectionDef(tx *txn, in CreateSectionDef, id string) (*SectionDef, error) {
	row, err := sectionKind.newRow(tx, id, in.Name, in.Key, in.Description, in.Elements)
	if err != nil {
		return nil, err
	}
	template := cmp.Or(in.TemplateKey, row["key"].(string))
	if err := checkTemplate(&template); err != nil {
		return nil, err
	}
	row["template_key"] = template
	tx.insert(sectionKind.table, row)
	return sectionDefTable.find(tx, id)
}

// checkTemplate rejects an invalid key of a template, or of a variant; nil is none.
func checkTemplate(key *string) error {
	if key != nil && (!slugPattern.MatchString(*key) || len(*key) > maxSlug) {
		return invalid(`use the key of a template, such as "hero", or leave it out`, "template key %q isn't allowed",
			shorten(*key, 80))
	}
	return nil
}

// UpdateSectionDef changes the fields that the request names and returns the definition.
func (s *Site) UpdateSectionDef(ctx context.Context, in UpdateSectionDef) (*SectionDef, error) {
	return commit(ctx, s, "updating a section definition", func(tx *txn) (*SectionDef, error) {
		d, err := sectionDefTable.find(tx, in.Section)
		if err != nil {
			return nil, err
		}
		if err := cmp.Or(checkTemplate(in.TemplateKey), checkTemplate(in.DefaultVariant)); err != nil {
			return nil, err
		}
		tx.exec(
			"UPDATE section_definitions SET template_key = coalesce(?, template_key), default_variant = coalesce(?, "+
				"default_variant) WHERE id = ?",
			in.TemplateKey, in.DefaultVariant, d.ID)
		before := DefinitionFields{Key: &d.Key, Name: &d.Name, Description: &d.Description, Status: &d.Status}
		if in.TemplateKey == nil && in.DefaultVariant == nil || in.DefinitionFields != (DefinitionFields{}) {
			if err := sectionKind.update(tx, d.ID, before, in.DefinitionFields); err != nil {
				return nil, err
			}
		}
		changed, err := sectionDefTable.find(tx, d.ID)
		if err == nil {
			changed.Before = &before
		}
		return changed, err
	})
}

// DeleteSectionDef removes a section definition that no page uses, and returns what [Site.Restore]
// needs to undo it.
func (s *Site) DeleteSectionDef(ctx context.Context, section string) (*Removed, error) {
	return commit(ctx, s, "deleting a section definition", func(tx *txn) (*Removed, error) {
		d, err := sectionDefTable.find(tx, section)
		if err != nil {
			return nil, err
		}
		pages := collect(tx, one[string], `SELECT DISTINCT p.slug FROM pages p JOIN page_sections s ON s.page_id = p.id
			WHERE s.section_def_id = ? ORDER BY p.slug`, d.ID)
		if len(pages) > 0 {
			return nil, conflict("remove its sections from them first, or unpublish the definition",
				"section definition %q is used by the pages %s", d.Key, shorten(strings.Join(pages, ", "), 500))
		}
		r := &Removed{Kind: KindSection, ID: d.ID, Name: d.Name, Key: d.Key}
		return r.take(tx, sectionKind.table, "id"), nil
	})
}

var sectionDefTable = table[*SectionDef]{what: "section definition", prefix: sectionDefID, from: "section_definitions",
	where: "id = ?1 OR key = ?1",
	names: "SELECT key FROM section_definitions ORDER BY key LIMIT 200",
	columns: "id, key, name, description, status, elements_structure, template_key, default_variant, created_at, " +
		"updated_at",
	scan: func(scan scanner) (*SectionDef, error) {
		var d SectionDef
		return &d, scan(&d.ID, &d.Key, &d.Name, &d.Description, &d.Status, object{&d.Elements}, &d.TemplateKey,
			&d.DefaultVariant,
			at{&d.CreatedAt}, at{&d.UpdatedAt})
	}}
