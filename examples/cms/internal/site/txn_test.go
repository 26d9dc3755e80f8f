package site

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFailureOfTheStorageEndsTheCall(t *testing.T) {
	ctx := t.Context()
	pristine := newSite(t)
	deleted, err := pristine.DeletePage(ctx, "home")
	require.NoError(t, err)
	calls := map[string]func(*Site) error{
		"read": func(s *Site) error { _, err := s.GetPage(ctx, "home", ""); return err },
		"list": func(s *Site) error { _, err := s.ListPages(ctx, Query{}); return err },
		"tree": func(s *Site) error { _, err := s.Tree(ctx, "home", ""); return err },
		"make": func(s *Site) error {
			_, err := s.CreatePage(WithKey(ctx, "k"), CreatePage{Name: "New",
				Sections: []NewSection{{Section: "hero", Content: map[string]any{"title": "T"}}}})
			return err
		},
		"copy": func(s *Site) error { _, err := s.ClonePage(ctx, ClonePage{Source: "home"}); return err },
		"add": func(s *Site) error {
			_, err := s.AddSection(ctx, AddSection{Page: "home", Section: "text"})
			return err
		},
		"move": func(s *Site) error {
			_, err := s.UpdateSection(ctx, UpdateSection{SectionID: "sec_home_hero", SortOrder: new(0)})
			return err
		},
		"remove": func(s *Site) error { _, err := s.RemoveSection(ctx, "sec_home_hero"); return err },
		"write": func(s *Site) error {
			_, err := s.SyncContents(ctx, SyncContents{Page: "home", Content: map[string]any{"title": "T"}})
			return err
		},
		"delete":  func(s *Site) error { _, err := s.DeletePage(ctx, "home"); return err },
		"restore": func(s *Site) error { _, err := s.RestorePage(ctx, deleted); return err },
		"entry": func(s *Site) error {
			_, err := s.UpsertEntry(ctx, UpsertEntry{Collection: "blog", Entry: "hello-world", New: true, Title: "T",
				Content: map[string]any{"body": "B"}})
			return err
		},
		"definition": func(s *Site) error { _, err := s.DeleteSectionDef(ctx, "cta"); return err },
		"collection": func(s *Site) error { _, err := s.DeleteEntry(ctx, "hello-world"); return err },
		"navigation": func(s *Site) error { _, err := s.ListNavigations(ctx); return err },
		"export":     func(s *Site) error { _, err := s.Export(ctx); return err },
		"seed":       func(s *Site) error { return s.Seed(ctx) },
		"search":     func(s *Site) error { _, err := s.Search(ctx, "home", 0); return err },
	}
	for name, call := range calls {
		whole := call(newSite(t)) // some calls are refused anyway
		for _, table := range []string{"revision", "locales", "section_definitions", "collection_entries",
			"entry_contents", "page_sections", "page_section_contents"} {
			s := newSite(t)
			s.db.SetMaxOpenConns(1)
			_, err := s.db.ExecContext(ctx, "PRAGMA foreign_keys = 0; DROP TABLE "+table)
			require.NoError(t, err)
			err = call(s)
			if err != nil && (whole == nil || err.Error() != whole.Error()) {
				require.ErrorContains(t, err, "no such table", "%s without %s", name, table)
			}
		}
	}
}
