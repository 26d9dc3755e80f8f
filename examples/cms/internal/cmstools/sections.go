package cmstools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

type (
	addSectionInput struct {
		Page      string         `json:"page" jsonschema:"the page's id or slug"`
		Section   string         `json:"section" jsonschema:"key or id of the section definition, for example hero"`
		SortOrder *int           `json:"sortOrder,omitempty" jsonschema:"its place on the page from 0; the last if left out"`
		Content   map[string]any `json:"content,omitempty" jsonschema:"values by slot key; may follow later"`
		Locale    string         `json:"locale,omitempty" jsonschema:"language of the contents; en if left out"`
	}
	syncContentsInput struct {
		Page      string         `json:"page,omitempty" jsonschema:"the page's id or slug; may be left out with a section's id"`
		SectionID string         `json:"sectionId,omitempty" jsonschema:"a section's id, or a key that the page has once; may be left out on a page with one section"`
		Locale    string         `json:"locale,omitempty" jsonschema:"language of the contents; en if left out"`
		Content   map[string]any `json:"content" jsonschema:"values by slot key, merged into the stored values; null empties a slot"`
		Prune     bool           `json:"prune,omitempty" jsonschema:"also drop stored values whose slot the definition no longer has"`
	}
	updateSectionInput struct {
		SectionID string  `json:"sectionId" jsonschema:"the section's id; get the page to learn it"`
		SortOrder *int    `json:"sortOrder,omitempty" jsonschema:"its new place from 0"`
		Status    *string `json:"status,omitempty" jsonschema:"published: visitors see it; unpublished: they don't"`
	}
	oneSection struct {
		SectionID string `json:"sectionId" jsonschema:"the section's id; get the page to learn it"`
	}
	createSectionDefInput struct {
		Name        string    `json:"name" jsonschema:"its name for people, for example Price list"`
		Key         string    `json:"key,omitempty" jsonschema:"how pages refer to it; derived from the name if left out"`
		Description string    `json:"description,omitempty" jsonschema:"its purpose, and other words for it"`
		Slots       []newSlot `json:"slots" jsonschema:"its values, in order"`
	}
	newSlot struct {
		Key      string   `json:"key" jsonschema:"a letter, then letters, digits and underscores"`
		Type     slotType `json:"type"`
		Label    string   `json:"label,omitempty"`
		Required bool     `json:"required,omitempty" jsonschema:"must be filled whenever contents are written"`
		Multiple bool     `json:"multiple,omitempty" jsonschema:"a list of values; for image, media and option"`
		Options  []string `json:"options,omitempty" jsonschema:"the values to choose from; for option, and required there"`
	}
	slotType string
)

// JSONSchema lists the types of slots.
func (slotType) JSONSchema() json.RawMessage {
	return json.RawMessage(`{"type":"string","enum":["text","richText","image","media","link","option","collectionRef"],"description":"richText is Markdown; image and media are {\"url\",\"alt\"}; link is {\"type\":\"url\",\"href\"} or {\"type\":\"page\",\"targetId\"}"}`)
}

func addSection(s *site.Site) tools.Tool {
	return tools.Func[addSectionInput, *site.Section]{
		Spec: idempotent(writing(AddSection, "Adds a section to a page, at the end unless sortOrder is given. Contents must match the section's definition.",
			tools.Low, `{"properties":{"sortOrder":{"minimum":0},`+localeSchema+`}}`)),
		Run: func(ctx context.Context, in addSectionInput) (*site.Section, error) {
			return s.AddSection(ctx, site.AddSection{Page: in.Page, Section: in.Section, SortOrder: in.SortOrder, Content: in.Content,
				Locale: in.Locale, Key: tools.IdempotencyKey(ctx)})
		},
		Verify: func(ctx context.Context, in addSectionInput, out *site.Section) error {
			return contentStored(ctx, s, out, in.Locale, in.Content)
		},
		Undo: func(ctx context.Context, _ addSectionInput, out *site.Section) error {
			_, err := s.RemoveSection(ctx, out.ID)
			return unlessGone(err)
		},
	}
}

func syncContents(s *site.Site) tools.Tool {
	return tools.Func[syncContentsInput, *site.Section]{
		Spec: idempotent(writing(SyncContents, "Writes contents of a section: values by slot key, merged into the stored values. They must match the section's definition; an error names the slot and a valid value.",
			tools.Low, `{"properties":{`+localeSchema+`,"content":{"minProperties":1}}}`)),
		Run: func(ctx context.Context, in syncContentsInput) (*site.Section, error) {
			return s.SyncContents(ctx, site.SyncContents{Page: in.Page, SectionID: in.SectionID, Locale: in.Locale, Content: in.Content,
				Prune: in.Prune, Key: tools.IdempotencyKey(ctx)})
		},
		Verify: func(ctx context.Context, in syncContentsInput, out *site.Section) error {
			return contentStored(ctx, s, out, in.Locale, in.Content)
		},
		Undo: func(ctx context.Context, in syncContentsInput, out *site.Section) error {
			if in.Prune {
				return errors.New("values without a slot were deleted permanently")
			}
			_, err := s.SyncContents(ctx, site.SyncContents{SectionID: out.ID, Locale: in.Locale, Content: out.Before})
			return err
		},
	}
}

func updateSection(s *site.Site) tools.Tool {
	return tools.Func[updateSectionInput, *site.Section]{
		Spec: writing(UpdateSection, "Moves a section on its page, publishes it, or hides it from visitors.",
			tools.Low, `{"properties":{"sortOrder":{"minimum":0},"status":{"enum":["published","unpublished"]}}}`),
		Run: func(ctx context.Context, in updateSectionInput) (*site.Section, error) {
			return s.UpdateSection(ctx, site.UpdateSection(in))
		},
		Verify: func(ctx context.Context, in updateSectionInput, out *site.Section) error {
			now, err := sectionNow(ctx, s, out, "")
			if err != nil {
				return err
			}
			return samePointer("status", in.Status, now.Status)
		},
	}
}

func removeSection(s *site.Site) tools.Tool {
	return tools.Func[oneSection, *site.DeletedSection]{
		Spec: writing(RemoveSection, "Removes a section from its page, with its contents in every language. It needs approval; hiding a section with "+UpdateSection+" doesn't.", tools.Medium, ""),
		Ask: func(context.Context, oneSection) (string, error) {
			return "a section is removed, with its contents in every language", nil
		},
		Run: func(ctx context.Context, in oneSection) (*site.DeletedSection, error) {
			return s.RemoveSection(ctx, in.SectionID)
		},
	}
}

func listSections(s *site.Site) tools.Tool {
	return tools.New(reading(ListSections, "Lists the section definitions: the kinds of sections, and their slots with type and rules.", `{"properties":{`+querySchema+`}}`),
		func(ctx context.Context, in query) (site.List[*site.SectionDef], error) {
			return s.ListSections(ctx, site.Query(in))
		})
}

func createSectionDef(s *site.Site) tools.Tool {
	return tools.Func[createSectionDefInput, *site.SectionDef]{
		Spec: writing(CreateSectionDef, "Defines a new kind of section by its slots. First check with "+ListSections+" whether an existing one is suitable.",
			tools.Medium, `{"properties":{"name":`+nameSchema+`,"key":`+slugSchema+`,"slots":{"minItems":1,"maxItems":50}}}`),
		Run: func(ctx context.Context, in createSectionDefInput) (*site.SectionDef, error) {
			def := site.CreateSectionDef{Name: in.Name, Key: in.Key, Description: in.Description}
			for _, slot := range in.Slots {
				def.Elements.Rows = append(def.Elements.Rows, site.Row{Slots: []site.Slot{{
					Key: slot.Key, Type: string(slot.Type), Label: slot.Label,
					Rules: site.Rules{Required: slot.Required, Multiple: slot.Multiple, OptionValues: slot.Options},
				}}})
			}
			return s.CreateSectionDef(ctx, def)
		},
		Verify: func(ctx context.Context, in createSectionDefInput, out *site.SectionDef) error {
			def, err := s.GetSection(ctx, out.ID)
			if err != nil {
				return err
			}
			return firstError(same("name", in.Name, def.Name), same("number of slots", len(in.Slots), len(def.Elements.Slots())))
		},
	}
}

// sectionNow reads a section again.
func sectionNow(ctx context.Context, s *site.Site, written *site.Section, locale string) (*site.Section, error) {
	p, err := s.GetPage(ctx, written.PageID, locale)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.Sections, func(sec site.Section) bool { return sec.ID == written.ID })
	if i < 0 {
		return nil, fmt.Errorf("the page %q has no section %s", p.Slug, written.ID)
	}
	return &p.Sections[i], nil
}

func contentStored(ctx context.Context, s *site.Site, written *site.Section, locale string, want map[string]any) error {
	now, err := sectionNow(ctx, s, written, locale)
	if err != nil {
		return err
	}
	return sameContent(want, now.Content)
}
