package cmstools

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

type (
	updateSectionDef struct {
		Section string `json:"section"`
		site.DefinitionFields
	}
	oneSectionDef struct {
		Section string `json:"section"`
	}
)

// definitions returns the tools that change definitions of sections and collections.
func (s *desk) definitions() []tools.Tool {
	return []tools.Tool{
		write(s, "cms.createSectionDef", change[site.CreateSectionDef, *site.SectionDef]{run: s.CreateSectionDef}),
		write(s, "cms.updateSectionDef", change[updateSectionDef, *site.SectionDef]{
			run: func(ctx context.Context, in updateSectionDef) (*site.SectionDef, error) {
				return s.UpdateSectionDef(ctx,
					site.UpdateSectionDef{Section: in.Section, DefinitionFields: in.DefinitionFields})
			},
			undo: func(ctx context.Context, _ updateSectionDef, out *site.SectionDef) error {
				_, err := s.UpdateSectionDef(ctx, site.UpdateSectionDef{Section: out.ID, DefinitionFields: *out.Before})
				return err
			}}),
		write(s, "cms.deleteSectionDef", change[oneSectionDef, *site.Removed]{
			run: func(ctx context.Context, in oneSectionDef) (*site.Removed, error) {
				return s.DeleteSectionDef(ctx, in.Section)
			}}),
		write(s, "cms.createCollectionDef", change[site.CreateCollection, *site.Collection]{run: s.CreateCollection}),
		s.sync("cms.syncSectionElements", site.KindSection, s.SyncSectionElements),
		s.sync("cms.syncCollectionElements", site.KindCollection, s.SyncCollectionElements),
	}
}

// sync returns a tool that replaces the slots of a definition.
func (s *desk) sync(name, kind string,
	run func(context.Context, site.SyncElements) (*site.SyncedElements, error)) tools.Tool {
	return write(s, name, change[site.SyncElements, *site.SyncedElements]{run: run,
		ask: func(ctx context.Context, in site.SyncElements) (string, error) {
			r, err := s.TrySync(ctx, kind, in)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("the slots of “%s” change (added: %d, changed: %d, removed: %d); stored contents affected: "+
				"%d, and their values are kept and hidden", r.Name, len(r.Added), len(r.Changed), len(r.Removed),
				r.Contents), nil
		},
		undo: func(ctx context.Context, _ site.SyncElements, out *site.SyncedElements) error {
			_, err := run(ctx, site.SyncElements{Definition: out.ID, Elements: out.Before})
			return err
		},
	})
}
