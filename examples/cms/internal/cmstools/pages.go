package cmstools

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

// The inputs have the fields of the site's requests and are converted to them; the tags are for the
// model.
type (
	query struct {
		Text   string `json:"q,omitempty" jsonschema:"a part of the name, slug or description; leave it out to list all"`
		Limit  int    `json:"limit,omitempty" jsonschema:"how many at most; 50 if left out"`
		Offset int    `json:"offset,omitempty" jsonschema:"how many to skip, to continue a long list"`
	}
	pageInput struct {
		Page   string `json:"page" jsonschema:"the page's id or slug"`
		Locale string `json:"locale,omitempty" jsonschema:"language of the contents; en if left out"`
	}
	createPageInput struct {
		Name        string            `json:"name" jsonschema:"what people call the page, for example About us"`
		Slug        string            `json:"slug,omitempty" jsonschema:"its address without the slash, for example about-us; derived from the name if left out"`
		Description string            `json:"description,omitempty" jsonschema:"what the page is about, and other words for it; people find the page by them"`
		Indexing    *bool             `json:"indexing,omitempty" jsonschema:"whether search engines may list it; true if left out"`
		Meta        map[string]any    `json:"meta,omitempty" jsonschema:"free keys, such as title and description for the browser"`
		Locale      string            `json:"locale,omitempty" jsonschema:"language of the sections' contents; en if left out"`
		Sections    []site.NewSection `json:"sections,omitempty" jsonschema:"in order, each with its contents by slot key; all are added or none"`
	}
	updatePageInput struct {
		Page        string         `json:"page" jsonschema:"the page's id or slug"`
		Name        *string        `json:"name,omitempty" jsonschema:"its new name; the address stays"`
		NewSlug     *string        `json:"newSlug,omitempty" jsonschema:"its new address; links to the old one break, so a person is asked"`
		Description *string        `json:"description,omitempty" jsonschema:"its new description: what it is about, and other words for it; people find the page by them"`
		Status      *string        `json:"status,omitempty" jsonschema:"draft or published"`
		Indexing    *bool          `json:"indexing,omitempty" jsonschema:"whether search engines may list it"`
		Meta        map[string]any `json:"meta,omitempty" jsonschema:"merged into the stored values; null removes a key"`
	}
	cloneInput struct {
		Source  string `json:"source" jsonschema:"id or slug of the page to copy"`
		NewSlug string `json:"newSlug" jsonschema:"the address of the copy"`
		Name    string `json:"name,omitempty" jsonschema:"the name of the copy; by default the same name with (copy)"`
	}
	onePage struct {
		Page string `json:"page" jsonschema:"the page's id or slug"`
	}
)

func listPages(s *site.Site) tools.Tool {
	return tools.New(reading(ListPages,
		"Lists the pages of the site by slug, with name, description and number of sections.",
		`{"properties":{`+querySchema+`}}`),
		func(ctx context.Context, in query) (site.List[site.PageSummary], error) {
			return s.ListPages(ctx, site.Query(in))
		})
}

func getPage(s *site.Site) tools.Tool {
	return tools.New(reading(GetPage, "Returns a page with its sections in order and their contents in one language.",
		``),
		func(ctx context.Context, in pageInput) (*site.Page, error) { return s.GetPage(ctx, in.Page, in.Locale) })
}

func createPage(s *site.Site) tools.Tool {
	return tools.Func[createPageInput, *site.Page]{
		Spec: idempotent(writing(CreatePage,
			"Creates a page, with sections and their contents if given. If the slug is taken, the error names a free "+
				"one: use that, or update the page that has it. List the section definitions first if you don't know "+
				"their slots.",
			tools.Low,
			`{"properties":{"name":`+nameSchema+`,"slug":`+slugSchema+`,"description":{"maxLength":1000},"sections":{"maxItems":100,"items":{"properties":{
				"section":{"description":"key or id of the section definition, for example hero"},
				"content":{"description":"values by slot key, for example {\"title\":\"Hello\"}"}}}}}}`)),
		Ask: func(_ context.Context, in createPageInput) (string, error) {
			return bulk(len(in.Sections), "sections"), nil
		},
		Run: observed(func(ctx context.Context, in createPageInput) (*site.Page, error) {
			return s.CreatePage(site.WithKey(ctx, tools.IdempotencyKey(ctx)),
				site.CreatePage{Name: in.Name, Slug: in.Slug, Description: in.Description, Indexing: in.Indexing,
					Meta: in.Meta, Locale: in.Locale, Sections: in.Sections})
		}),
		Verify: func(ctx context.Context, in createPageInput, out *site.Page) error {
			p, err := s.GetPage(ctx, out.ID, in.Locale)
			if err != nil {
				return err
			}
			if len(p.Sections) != len(in.Sections) {
				return fmt.Errorf("the page has %d sections instead of %d", len(p.Sections), len(in.Sections))
			}
			for i, sec := range in.Sections {
				if err := sameContent(sec.Content, p.Sections[i].Content); err != nil {
					return fmt.Errorf("section %d: %w", i, err)
				}
			}
			return firstError(same("name", in.Name, p.Name), same("slug", out.Slug, p.Slug),
				same("description", in.Description, p.Description),
				samePointer("indexing", in.Indexing, p.Indexing), sameContent(in.Meta, p.Meta))
		},
		Undo: func(ctx context.Context, _ createPageInput, out *site.Page) error {
			_, err := s.DeletePage(ctx, out.ID)
			return unlessGone(err)
		},
	}
}

func updatePage(s *site.Site) tools.Tool {
	return tools.Func[updatePageInput, *site.Page]{
		Spec: allowAlways(writing(UpdatePage,
			"Changes a page's name, address, description, indexing or meta; fields that are left out don't change. "+
				"Contents of sections are changed with "+SyncContents+". A change of the address needs approval.",
			tools.Medium,
			`{"properties":{"name":`+nameSchema+`,"newSlug":`+slugSchema+`,"description":{"maxLength":1000}}}`)),
		Title: func(ctx context.Context, in updatePageInput) string { return pageTitle(ctx, s, "Update", in.Page) },
		Ask: func(ctx context.Context, in updatePageInput) (string, error) {
			if in.NewSlug == nil {
				return "", nil
			}
			p, err := s.GetPage(ctx, in.Page, "")
			if err != nil || p.Slug == *in.NewSlug {
				return "", nil // the call itself returns the error
			}
			return fmt.Sprintf("the address of the page %q changes from %s to %s: links to the old one break", p.Name,
				site.Path(p.Slug), site.Path(*in.NewSlug)), nil
		},
		Run: observed(func(ctx context.Context, in updatePageInput) (*site.Page, error) {
			return s.UpdatePage(ctx, site.UpdatePage(in))
		}),
		Verify: func(ctx context.Context, in updatePageInput, out *site.Page) error {
			p, err := s.GetPage(ctx, out.ID, "")
			if err != nil {
				return err
			}
			return firstError(samePointer("name", in.Name, p.Name), samePointer("slug", in.NewSlug, p.Slug),
				samePointer("description", in.Description, p.Description),
				samePointer("indexing", in.Indexing, p.Indexing), sameContent(in.Meta, p.Meta))
		},
		Undo: func(ctx context.Context, in updatePageInput, out *site.Page) error {
			if out.Before == nil {
				return errors.New("the state of the page before the change isn't known")
			}
			_, err := s.UpdatePage(ctx, backTo(in, out))
			return err
		},
	}
}

// backTo returns the request that undoes a change of a page: the changed fields get their old
// values.
func backTo(in updatePageInput, out *site.Page) site.UpdatePage {
	old := out.Before
	undo := site.UpdatePage{Page: out.ID, Meta: map[string]any{}}
	if in.Name != nil {
		undo.Name = &old.Name
	}
	if in.NewSlug != nil {
		undo.NewSlug = &old.Slug
	}
	if in.Description != nil {
		undo.Description = &old.Description
	}
	if in.Indexing != nil {
		undo.Indexing = &old.Indexing
	}
	for key := range in.Meta {
		undo.Meta[key] = old.Meta[key]
	}
	return undo
}

// pageTitle returns the title of a call about a page, which the input may name by its id.
func pageTitle(ctx context.Context, s *site.Site, does, page string) string {
	if p, err := s.GetPage(ctx, page, ""); err == nil {
		page = p.Slug
	}
	return fmt.Sprintf("%s page “%s”", does, page)
}

func clonePage(s *site.Site) tools.Tool {
	spec := idempotent(writing(ClonePage, "Copies a page with its sections and their contents in every language.",
		tools.Medium,
		`{"properties":{"newSlug":`+slugSchema+`,"name":`+nameSchema+`}}`))
	spec.Modes = []string{CRUD}
	return tools.Func[cloneInput, *site.Page]{
		Spec:  spec,
		Title: func(ctx context.Context, in cloneInput) string { return pageTitle(ctx, s, "Copy", in.Source) },
		Ask: func(ctx context.Context, in cloneInput) (string, error) {
			p, err := s.GetPage(ctx, in.Source, "")
			if err != nil {
				return "", nil // the call itself returns the error
			}
			return bulk(len(p.Sections), "sections"), nil
		},
		Run: observed(func(ctx context.Context, in cloneInput) (*site.Page, error) {
			return s.ClonePage(site.WithKey(ctx, tools.IdempotencyKey(ctx)),
				site.ClonePage{Source: in.Source, NewSlug: in.NewSlug, Name: in.Name})
		}),
		Verify: func(ctx context.Context, in cloneInput, out *site.Page) error {
			source, err := s.GetPage(ctx, in.Source, "")
			if err != nil {
				return err
			}
			p, err := s.GetPage(ctx, out.ID, "")
			if err != nil {
				return err
			}
			return firstError(same("slug", in.NewSlug, p.Slug),
				same("number of sections", len(source.Sections), len(p.Sections)))
		},
		Undo: func(ctx context.Context, _ cloneInput, out *site.Page) error {
			_, err := s.DeletePage(ctx, out.ID)
			return unlessGone(err)
		},
	}
}
