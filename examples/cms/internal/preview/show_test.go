package preview

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// get returns the answer of a renderer.
func get(r *Renderer, path string) (int, string) {
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Code, w.Body.String()
}

func TestAMissingPageNamesNoAddresses(t *testing.T) {
	r, s := newBakery(t)
	_, err := s.DeletePage(t.Context(), "services")
	require.NoError(t, err)
	for _, path := range []string{"/services", "/pages/service", "/blog/hello-wrld", "/a/b/c", "/pages/service/raw"} {
		code, html := get(r, path)
		require.Equal(t, 404, code)
		require.Contains(t, html, "Go to the start page")
		require.Contains(t, html, "data-missing")
		for _, slug := range []string{"blog", "services", "hello-world", "pg_", "did you mean"} {
			require.NotContains(t, html, slug, path)
		}
	}
}

func TestAPageCanBeSeenAsItWouldBeAfterACall(t *testing.T) {
	var logged bytes.Buffer
	r, s := newRenderer(t, Config{Logger: slog.New(slog.NewTextHandler(&logged, nil)),
		After: func(ctx context.Context, copied *site.Site, session, call string) (err error) {
			require.Equal(t, "s-1", session)
			switch call {
			case "rename":
				_, err = copied.UpdatePage(ctx,
					site.UpdatePage{Page: "home", Name: new("Start"), NewSlug: new("start")})
			case "delete":
				_, err = copied.DeletePage(ctx, "home")
			case "decided":
				err = fault.Errorf(fault.NotFound, "no such call")
			default:
				err = errors.New("there is no such call")
			}
			return err
		}})
	for _, path := range []string{"/pages/home", "/pages/start", "/"} {
		code, html := get(r, path+"?session=s-1&call=rename")
		require.Equal(t, 200, code)
		require.Contains(t, html, "<title>Start</title>")
		require.Contains(t, html, `data-revision="1" data-slug="start"`, "it doesn't load itself again")
	}
	code, html := get(r, "/pages/home?session=s-1&call=delete")
	require.Equal(t, 404, code)
	require.Contains(t, html, "After this change there is no page here")
	code, html = get(r, "/pages/home?session=s-1&call=decided")
	require.Equal(t, 404, code)
	require.Contains(t, html, "Nothing waits for a decision here")
	require.Empty(t, logged.String())
	code, html = get(r, "/pages/home?session=s-1&call=gone")
	require.Equal(t, 500, code)
	require.Contains(t, html, "The log of the server says why.")
	require.Contains(t, logged.String(), "there is no such call")
	_, html = get(r, "/pages/home")
	require.Contains(t, html, "<title>Home</title>", "the site itself stays as it is")

	require.NoError(t, os.Remove(s.Path()))
	code, html = get(r, "/pages/home")
	require.Equal(t, 503, code)
	require.Contains(t, html, "was deleted or replaced while it was open")
	require.Contains(t, logged.String(), "was deleted or replaced")
}

func TestDraftsAreMarked(t *testing.T) {
	r, s := newBakery(t)
	_, err := s.UpsertEntry(t.Context(), site.UpsertEntry{Collection: "blog", Title: "Soon",
		Content: map[string]any{"body": "A **first** part.\n\nA second."}})
	require.NoError(t, err)
	_, err = s.UpdatePage(t.Context(), site.UpdatePage{Page: "blog", Status: new(site.Draft)})
	require.NoError(t, err)
	html := page(t, r, "blog", "")
	for _, part := range []string{"Visitors don’t see this page yet.", `data-status="draft"`, "noindex",
		`<span class="draft">Draft</span>`, `<a href="/blog/soon">Soon</a>`, "<p>A first part.</p>"} {
		require.Contains(t, html, part)
	}
	require.NotContains(t, page(t, r, "home", ""), "Visitors don’t see")
}

func TestWithoutAMenuTheHeadLinksThePublishedPages(t *testing.T) {
	r, s := newBakery(t)
	_, err := s.DeleteNavigation(t.Context(), "main")
	require.NoError(t, err)
	_, err = s.CreatePage(t.Context(), site.CreatePage{Name: "Later"})
	require.NoError(t, err)
	html := page(t, r, "home", "")
	require.Contains(t, html, `<ul><li><a href="/" aria-current="page">Home</a></li>`)
	require.Contains(t, html, `<a href="/services">Services</a>`)
	require.NotContains(t, html, "/later")
}

func TestEachKindOfSectionHasATemplate(t *testing.T) {
	r, s := newBakery(t)
	kinds, err := s.ListSections(t.Context(), site.Query{})
	require.NoError(t, err)
	require.Len(t, kinds.Items, 9)
	set, err := r.templates()
	require.NoError(t, err)
	for _, k := range kinds.Items {
		require.NotNil(t, set.Lookup(filepath.Join("sections", k.TemplateKey, k.DefaultVariant+".html")), k.Key)
	}
	for _, path := range []string{"/", "/services", "/blog", "/blog/we-moved"} {
		code, html := get(r, path)
		require.Equal(t, 200, code)
		require.Contains(t, html, "/uploads/site_local/env_main/med_")
		require.NotContains(t, html, `class="notes"`, "%s is complete", path)
	}
}
