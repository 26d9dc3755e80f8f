package preview

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

func serve(t *testing.T) (*site.Site, string, *http.Client) {
	t.Helper()
	r, s := newRenderer(t, Config{Frames: []string{"https://cms.example.com"}})
	server := httptest.NewServer(r.Handler())
	t.Cleanup(server.Close)
	return s, server.URL, server.Client()
}

func TestPagesEntriesAndFilesAreServed(t *testing.T) {
	s, url, client := serve(t)
	m, err := s.UploadMedia(t.Context(), site.UploadMedia{Name: "a.txt", Content: strings.NewReader("some text")})
	require.NoError(t, err)
	for path, c := range map[string]struct {
		status int
		kind   string
		part   string
	}{
		"/":                               {200, "text/html", "<h1>Welcome to local-site</h1>"},
		"/pages/home":                     {200, "text/html", "<h1>Welcome to local-site</h1>"},
		"/home?locale=de":                 {200, "text/html", "Deutsch (de): the language is inactive"},
		"/pages/home?locale=en":           {200, "text/html", `href="/blog/hello-world"`},
		"/pages/home?locale=fr":           {404, "text/html", "no locale &#34;fr&#34;"},
		"/pages/hoome":                    {404, "text/html", "There is no page here"},
		"/pages/<script>":                 {404, "text/html", "Go to the start page"},
		"/pages/home/raw":                 {200, "application/json", `"href":"/blog/hello-world"`},
		"/pages/nowhere/raw":              {404, "text/html", "There is no page here"},
		"/blog/hello-world":               {200, "text/html", "The first entry of this blog."},
		"/blog/nothing":                   {404, "text/html", "It was deleted, or it has another address."},
		"/assets/styles.css":              {200, "text/css", ".s-hero"},
		"/assets/":                        {404, "text/html", "There is no page here"},
		"/assets/../layout/page.html":     {404, "text/html", "There is no page here"},
		"/assets/%2e%2e/layout/page.html": {404, "text/html", ""},
		m.Path:                            {200, "text/plain", "some text"},
		"/uploads/site_local/":            {404, "text/plain", "404"},
	} {
		res, err := client.Get(url + path)
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, c.status, res.StatusCode, "%s: %s", path, body)
		require.True(t, strings.HasPrefix(res.Header.Get("Content-Type"), c.kind), "%s: %s", path,
			res.Header.Get("Content-Type"))
		require.Contains(t, string(body), c.part, path)
		require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
		require.Contains(t, res.Header.Get("Content-Security-Policy"), "https://cms.example.com")
	}
	res, err := client.Post(url+"/pages/home", "text/plain", nil)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusMethodNotAllowed, res.StatusCode)
}

// The links of a page in a language lead to pages in that language.
func TestLinksKeepTheLanguage(t *testing.T) {
	s, url, client := serve(t)
	n, err := s.PutNavigation(t.Context(), site.Navigation{Name: "main"})
	require.NoError(t, err)
	_, err = s.SyncNavItems(t.Context(), n.ID, []site.NavItem{
		{Value: "Home", TargetType: "page", TargetUUID: "pg_home",
			Items: []site.NavItem{{Value: "Post", TargetType: "entry", TargetUUID: "ent_hello"}}},
		{Value: "Search", TargetType: "url", URL: "/home?q=a#top"},
		{Value: "English", TargetType: "url", URL: "/home?locale=en"},
		{Value: "File", TargetType: "url", URL: "/assets/hero.svg"},
		{Value: "Elsewhere", TargetType: "url", URL: "https://example.com/a"},
		{Value: "Mail", TargetType: "url", URL: "mailto:a@example.com"},
	})
	require.NoError(t, err)
	_, err = s.SyncContents(t.Context(), site.SyncContents{Page: "home", Locale: "de", Content: map[string]any{
		"title": "Willkommen", "ctaText": "Lesen", "ctaLink": map[string]any{"type": "entry", "targetId": "ent_hello"},
	}})
	require.NoError(t, err)
	res, err := client.Get(url + "/pages/home?locale=de")
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	for _, link := range []string{
		`href="/?locale=de" aria-current="page">Home`, `href="/blog/hello-world?locale=de">Post`,
		`href="/blog/hello-world?locale=de">Lesen`, `href="/home?q=a#top">Search`,
		`href="/home?locale=en">English`, `href="/assets/hero.svg">File`, `href="https://example.com/a">Elsewhere`,
		`href="mailto:a@example.com">Mail`,
	} {
		require.Contains(t, string(body), link)
	}
	require.Contains(t, string(body), `<html lang="de"`)
}

func TestEventsTellWhenTheSiteHasChanged(t *testing.T) {
	s, url, client := serve(t)
	_, err := s.CreatePage(t.Context(), site.CreatePage{Name: "Events"})
	require.NoError(t, err)
	page, err := client.Get(url + "/events")
	require.NoError(t, err)
	require.NoError(t, page.Body.Close())
	require.Contains(t, page.Header.Get("Content-Type"), "text/html", "a page may have that name")
	res, err := client.Get(url + "/assets/events")
	require.NoError(t, err)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	next := func() string {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return data
			}
		}
		return "the stream ended"
	}
	require.Equal(t, "2", next())
	_, err = s.CreatePage(t.Context(), site.CreatePage{Name: "About"})
	require.NoError(t, err)
	require.Equal(t, "3", next())
}
