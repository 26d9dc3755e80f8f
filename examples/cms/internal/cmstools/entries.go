package cmstools

import (
	"context"
	"errors"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

type (
	listEntriesInput struct {
		Collection string `json:"collection" jsonschema:"the collection's id or slug, for example blog"`
		Text       string `json:"q,omitempty" jsonschema:"a part of the title or slug; leave it out to list all"`
		Limit      int    `json:"limit,omitempty" jsonschema:"how many at most; 50 if left out"`
		Offset     int    `json:"offset,omitempty" jsonschema:"how many to skip, to continue a long list"`
	}
	entryInput struct {
		Entry  string `json:"entry" jsonschema:"the entry's id or slug"`
		Locale string `json:"locale,omitempty" jsonschema:"language of the contents; en if left out"`
	}
	upsertEntryInput struct {
		Collection string         `json:"collection" jsonschema:"the collection's id or slug, for example blog"`
		Entry      string         `json:"entry,omitempty" jsonschema:"id or slug of the entry to change; a new slug creates one; derived from the title if left out"`
		Title      string         `json:"title,omitempty" jsonschema:"needed for a new entry"`
		Locale     string         `json:"locale,omitempty" jsonschema:"language of the contents; en if left out"`
		Content    map[string]any `json:"content,omitempty" jsonschema:"values by slot key, merged into the stored values; null empties a slot"`
	}
)

func listCollections(s *site.Site) tools.Tool {
	return tools.New(reading(ListCollections,
		"Lists the collections, such as a blog, with the slots of their entries and how many there are.",
		`{"properties":{`+querySchema+`}}`),
		func(ctx context.Context, in query) (site.List[*site.Collection], error) {
			return s.ListCollections(ctx, site.Query(in))
		})
}

func listEntries(s *site.Site) tools.Tool {
	return tools.New(reading(ListEntries, "Lists the entries of a collection by slug, without their contents.",
		`{"properties":{`+querySchema+`}}`),
		func(ctx context.Context, in listEntriesInput) (site.List[*site.Entry], error) {
			return s.ListEntries(ctx, site.ListEntries{Collection: in.Collection,
				Query: site.Query{Text: in.Text, Limit: in.Limit, Offset: in.Offset}})
		})
}

func getEntry(s *site.Site) tools.Tool {
	return tools.New(reading(GetEntry, "Returns an entry with its collection and its contents in one language.", ``),
		func(ctx context.Context, in entryInput) (*site.Entry, error) {
			return s.GetEntry(ctx, in.Entry, in.Locale)
		})
}

func upsertEntry(s *site.Site) tools.Tool {
	return tools.Func[upsertEntryInput, *site.Upserted]{
		Spec: idempotent(writing(UpsertEntry,
			"Writes an entry of a collection, and creates it if there is none with that slug. A title alone never "+
				"overwrites: if its slug is taken, the error names a free one. Contents have to fit the "+
				"collection's slots.",
			tools.Low, `{"properties":{"title":{"maxLength":200}}}`)),
		Run: observed(func(ctx context.Context, in upsertEntryInput) (*site.Upserted, error) {
			return s.UpsertEntry(site.WithKey(ctx, tools.IdempotencyKey(ctx)),
				site.UpsertEntry{Collection: in.Collection, Entry: in.Entry, Title: in.Title, Locale: in.Locale,
					Content: in.Content})
		}),
		Verify: func(ctx context.Context, in upsertEntryInput, out *site.Upserted) error {
			e, err := s.GetEntry(ctx, out.ID, in.Locale)
			if err != nil {
				return err
			}
			if in.Title == "" {
				return sameContent(in.Content, e.Content)
			}
			return firstError(same("title", in.Title, e.Title), sameContent(in.Content, e.Content))
		},
		Undo: func(ctx context.Context, in upsertEntryInput, out *site.Upserted) error {
			if out.Created {
				_, err := s.DeleteEntry(ctx, out.ID)
				return unlessGone(err)
			}
			if out.Before == nil {
				return errors.New("the state of the entry before the change isn't known")
			}
			_, err := s.UpsertEntry(ctx, site.UpsertEntry{Collection: out.CollectionID, Entry: out.ID,
				Title: out.Before.Title, Locale: out.Locale, Content: out.Before.Content})
			return err
		},
	}
}
