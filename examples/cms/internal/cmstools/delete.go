package cmstools

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

type (
	oneEntry struct {
		Entry string `json:"entry" jsonschema:"the entry's id or slug"`
	}
	oneSectionDef struct {
		Section string `json:"section" jsonschema:"the definition's id or key"`
	}
)

func deletePage(s *site.Site) tools.Tool {
	return tools.Func[onePage, *site.Deleted]{
		Spec: writing(DeletePage,
			"Deletes a page with its sections and contents. It needs approval. The result names the pages that "+
				"linked to it.", tools.High, ""),
		Title: func(ctx context.Context, in onePage) string { return pageTitle(ctx, s, "Delete", in.Page) },
		Ask: func(ctx context.Context, in onePage) (string, error) {
			p, err := s.GetPage(ctx, in.Page, "")
			if err != nil {
				return "", nil // Check returns the error
			}
			return fmt.Sprintf("the page %q at %s is deleted, with all its contents (sections: %d)", p.Name,
				site.Path(p.Slug), len(p.Sections)), nil
		},
		Check: func(ctx context.Context, in onePage) error {
			_, err := s.GetPage(ctx, in.Page, "")
			return err
		},
		Run: observed(func(ctx context.Context, in onePage) (*site.Deleted, error) {
			return s.DeletePage(ctx, in.Page)
		}),
		Verify: func(ctx context.Context, in onePage, out *site.Deleted) error {
			_, err := s.GetPage(ctx, out.Page.ID, "")
			return gone(site.KindPage, out.Page.ID, err)
		},
		Undo: func(ctx context.Context, in onePage, out *site.Deleted) error {
			_, err := s.RestorePage(ctx, out)
			return err
		},
	}
}

func deleteEntry(s *site.Site) tools.Tool {
	return removal(s, DeleteEntry, "Deletes an entry of a collection with its contents. It needs approval.",
		func(ctx context.Context, in oneEntry) string {
			if e, err := s.GetEntry(ctx, in.Entry, ""); err == nil {
				in.Entry = e.Slug
			}
			return fmt.Sprintf("Delete entry “%s”", in.Entry)
		},
		func(ctx context.Context, in oneEntry) (string, error) {
			e, err := s.GetEntry(ctx, in.Entry, "")
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("the entry %q of the collection %s is deleted, with its contents in every language",
				e.Title, e.Collection), nil
		},
		func(ctx context.Context, in oneEntry) (*site.Removed, error) { return s.DeleteEntry(ctx, in.Entry) },
		func(ctx context.Context, id string) error { _, err := s.GetEntry(ctx, id, ""); return err })
}

func deleteSectionDef(s *site.Site) tools.Tool {
	return removal(s, DeleteSectionDef, "Deletes a section definition that no page uses. It needs approval.",
		func(ctx context.Context, in oneSectionDef) string {
			if d, err := s.GetSection(ctx, in.Section); err == nil {
				in.Section = d.Key
			}
			return fmt.Sprintf("Delete section definition “%s”", in.Section)
		},
		func(ctx context.Context, in oneSectionDef) (string, error) {
			d, err := s.GetSection(ctx, in.Section)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("the section definition %q (%s) is deleted", d.Name, d.Key), nil
		},
		func(ctx context.Context, in oneSectionDef) (*site.Removed, error) {
			return s.DeleteSectionDef(ctx, in.Section)
		},
		func(ctx context.Context, id string) error { _, err := s.GetSection(ctx, id); return err })
}

// removal is a tool that deletes something. title is that of a call, and describe says what, or why
// it can't be; find looks it up by its id.
func removal[In any](s *site.Site, name, description string, title func(context.Context, In) string,
	describe func(context.Context, In) (string, error), remove func(context.Context, In) (*site.Removed, error),
	find func(ctx context.Context, id string) error) tools.Tool {
	return tools.Func[In, *site.Removed]{
		Spec:  writing(name, description, tools.High, ""),
		Title: title,
		Ask: func(ctx context.Context, in In) (string, error) {
			reason, err := describe(ctx, in)
			if err != nil {
				return "", nil // Check returns the error
			}
			return reason, nil
		},
		Check: func(ctx context.Context, in In) error {
			_, err := describe(ctx, in)
			return err
		},
		Run: observed(remove),
		Verify: func(ctx context.Context, _ In, out *site.Removed) error {
			return gone(out.Kind, out.ID, find(ctx, out.ID))
		},
		Undo: func(ctx context.Context, _ In, out *site.Removed) error {
			if find(ctx, out.ID) == nil {
				return nil // the undo may have run before
			}
			return s.Restore(ctx, out)
		},
	}
}

// gone returns an error unless looking something up has failed because it doesn't exist.
func gone(what, id string, err error) error {
	var e *site.Error
	switch {
	case err == nil:
		return differs{fmt.Sprintf("the %s %s is still there", what, id),
			tools.Mismatch{Expected: "no " + what + " " + id, Actual: "it exists"}}
	case errors.As(err, &e) && e.Code == site.CodeNotFound:
		return nil
	}
	return err
}
