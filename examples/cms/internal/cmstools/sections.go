package cmstools

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
		Page     string                    `json:"page" jsonschema:"the page's id or slug"`
		Locale   string                    `json:"locale,omitempty" jsonschema:"language of the contents; en if left out"`
		Contents map[string]map[string]any `json:"contents" jsonschema:"by a section's id, or its key if the page has it once; then values by slot key, merged into the stored values; null empties a slot"`
		Prune    bool                      `json:"prune,omitempty" jsonschema:"also drop stored values whose slot the definition no longer has"`
	}
	updateSectionInput struct {
		SectionID string  `json:"sectionId" jsonschema:"the section's id; get the page to learn it"`
		SortOrder *int    `json:"sortOrder,omitempty" jsonschema:"its new place from 0"`
		Status    *string `json:"status,omitempty" jsonschema:"published: visitors see it; unpublished: they don't"`
		Variant   *string `json:"variant,omitempty" jsonschema:"variant of its template, for example default"`
	}
	oneSection struct {
		SectionID string `json:"sectionId" jsonschema:"the section's id; get the page to learn it"`
	}
)

func addSection(s *site.Site) tools.Tool {
	return tools.Func[addSectionInput, *site.Section]{
		Spec: idempotent(writing(AddSection,
			"Adds a section to a page, at the end unless sortOrder is given. Contents must match the section's "+
				"definition.",
			tools.Low, `{"properties":{"sortOrder":{"minimum":0,"maximum":9999}}}`)),
		Run: observed(func(ctx context.Context, in addSectionInput) (*site.Section, error) {
			return s.AddSection(site.WithKey(ctx, tools.IdempotencyKey(ctx)),
				site.AddSection{Page: in.Page, Section: in.Section, SortOrder: in.SortOrder, Content: in.Content,
					Locale: in.Locale})
		}),
		Verify: func(ctx context.Context, in addSectionInput, out *site.Section) error {
			if in.SortOrder != nil && out.SortOrder > *in.SortOrder {
				return same("place", *in.SortOrder, out.SortOrder)
			}
			return contentStored(ctx, s, out, in.Locale, in.Content)
		},
		Undo: func(ctx context.Context, _ addSectionInput, out *site.Section) error {
			_, err := s.RemoveSection(ctx, out.ID)
			return unlessGone(err)
		},
	}
}

func syncContents(s *site.Site) tools.Tool {
	return tools.Func[syncContentsInput, *site.SyncedPage]{
		Spec: idempotent(writing(SyncContents,
			"Writes contents of the sections of a page, for example {\"hero\":{\"title\":\"Hello\"}}: all of them or "+
				"none. They must match the definitions; an error names the slot and a valid value.",
			tools.Low, `{"properties":{"contents":{"minProperties":1}}}`)),
		Title: func(ctx context.Context, in syncContentsInput) string {
			return pageTitle(ctx, s, "Write contents of", in.Page)
		},
		Ask: func(_ context.Context, in syncContentsInput) (string, error) {
			return bulk(len(in.Contents), "sections"), nil
		},
		Run: observed(func(ctx context.Context, in syncContentsInput) (*site.SyncedPage, error) {
			return s.SyncPage(site.WithKey(ctx, tools.IdempotencyKey(ctx)),
				site.SyncPage{Page: in.Page, Locale: in.Locale, Contents: in.Contents,
					Prune: in.Prune})
		}),
		Verify: func(ctx context.Context, in syncContentsInput, out *site.SyncedPage) error {
			for i, ref := range slices.Sorted(maps.Keys(in.Contents)) { // the result has them in this order
				if err := contentStored(ctx, s, &out.Sections[i], out.Locale, in.Contents[ref]); err != nil {
					return err
				}
			}
			return nil
		},
		Undo: func(ctx context.Context, in syncContentsInput, out *site.SyncedPage) error {
			if in.Prune {
				return errors.New("values without a slot were deleted permanently")
			}
			back := map[string]map[string]any{}
			for _, sec := range out.Sections {
				back[sec.ID] = sec.Before
			}
			_, err := s.SyncPage(ctx, site.SyncPage{Page: out.ID, Locale: out.Locale, Contents: back})
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
		Spec: writing(RemoveSection,
			"Removes a section from its page, with its contents in every language. It needs approval; hiding a "+
				"section with "+UpdateSection+" doesn't.", tools.Medium, ""),
		Ask: func(context.Context, oneSection) (string, error) {
			return "a section is removed, with its contents in every language", nil
		},
		Run: func(ctx context.Context, in oneSection) (*site.DeletedSection, error) {
			return s.RemoveSection(ctx, in.SectionID)
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
