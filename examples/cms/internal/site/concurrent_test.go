package site

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

func TestTwoHandlesLoseNoUpdate(t *testing.T) {
	const writers, updates = 3, 8 // of each handle
	first := newSite(t)
	handles := []*Site{first, openSite(t, first.Path())}
	g, ctx := errgroup.WithContext(t.Context())
	for h, s := range handles {
		for w := range writers {
			g.Go(func() error {
				for i := range updates {
					key := fmt.Sprintf("%d-%d-%d", h, w, i)
					if _, err := s.UpdatePage(ctx,
						UpdatePage{Page: "home", Meta: map[string]any{key: true}}); err != nil {
						return err
					}
					if _, err := s.GetPage(ctx, "home", ""); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	require.NoError(t, g.Wait())

	for _, s := range handles {
		home, err := s.GetPage(t.Context(), "home", "")
		require.NoError(t, err)
		require.Len(t, home.Meta, len(handles)*writers*updates)
	}
}

func TestOneOfManyConcurrentWritersGetsASlug(t *testing.T) {
	first := newSite(t)
	handles := []*Site{first, openSite(t, first.Path())}
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = handles[i%2].CreatePage(context.Background(), CreatePage{Name: "About"})
		})
	}
	wg.Wait()

	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		refused(t, err, CodeSlugExists, `use another slug such as "about-2"`)
	}
	require.Equal(t, 1, won)
}

func TestConcurrentlyAddedSectionsGetDifferentPlaces(t *testing.T) {
	first := newSite(t)
	handles := []*Site{first, openSite(t, first.Path())}
	g, ctx := errgroup.WithContext(t.Context())
	for i := range 10 {
		g.Go(func() error {
			_, err := handles[i%2].AddSection(ctx, AddSection{Page: "home", Section: "text", SortOrder: new(0)})
			return err
		})
	}
	require.NoError(t, g.Wait())
	home, err := first.GetPage(t.Context(), "home", "")
	require.NoError(t, err)
	require.Len(t, home.Sections, 11)
	for i, sec := range home.Sections {
		require.Equal(t, i, sec.SortOrder)
	}
	require.Equal(t, "hero", home.Sections[10].Section)
}

func TestConcurrentOpensOfANewFileSucceed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.db")
	var g errgroup.Group
	for range 6 {
		g.Go(func() error {
			s, err := Open(path, Small)
			if err != nil {
				return err
			}
			return s.Close()
		})
	}
	require.NoError(t, g.Wait())
	pages, err := openSite(t, path).ListPages(t.Context(), Query{})
	require.NoError(t, err)
	require.Equal(t, 1, pages.Total)
}

func TestCloseWaitsForTheWriterAndLaterCallsFail(t *testing.T) {
	s := newSite(t)
	var wg sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = s.CreatePage(context.Background(), CreatePage{Name: fmt.Sprintf("Page %d", i)})
		})
	}
	require.NoError(t, s.Close())
	wg.Wait()

	written := 0
	for _, err := range errs {
		if err == nil {
			written++
		} else {
			require.ErrorIs(t, err, ErrClosed)
		}
	}
	pages, err := openSite(t, s.Path()).ListPages(context.Background(), Query{})
	require.NoError(t, err)
	require.Equal(t, 1+written, pages.Total, "what was confirmed is there, what was refused isn't")
}
