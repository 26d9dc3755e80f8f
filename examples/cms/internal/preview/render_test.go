package preview

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

func page(t testing.TB, r *Renderer, slug, locale string) string {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/pages/"+slug+"?locale="+locale, nil))
	require.Equal(t, 200, w.Code, w.Body)
	return w.Body.String()
}

func TestAPageIsRenderedWithTheTemplatesOfItsSections(t *testing.T) {
	r, s := newRenderer(t, Config{})
	ctx := t.Context()
	for _, sec := range []site.AddSection{
		{Section: "text",
			Content: map[string]any{"heading": "News", "body": "## First\n\nOne **line**.\n\n- a\n- b\n"}},
		{Section: "feature", Content: map[string]any{"title": "Fast", "text": "See [home](/home)."}},
		{Section: "cta", Content: map[string]any{"text": "Try it", "buttonText": "Go",
			"buttonLink": map[string]any{"type": "page", "targetId": "pg_home"}}},
	} {
		sec.Page = "home"
		_, err := s.AddSection(ctx, sec)
		require.NoError(t, err)
	}
	html := page(t, r, "home", "")
	for _, part := range []string{`<html lang="en" data-revision="4" data-slug="home" data-status="published">`, "<h1>Welcome to local-site</h1>",
		`<a class="button" href="/blog/hello-world">Read the blog</a>`,
		`<img src="/uploads/site_local/env_main/med_hero.jpg" alt="Three loaves`, "<h2>News</h2>\n<h2", "<strong>line</strong>",
		"<li>a</li>",
		`<section class="s s-feature" id="`,
		`<a href="/home" rel="nofollow">home</a>`, `<a class="button" href="/">Go</a>`, `data-kind="hero" data-name="the hero “Welcome to local-site”"`} {
		require.Contains(t, html, part)
	}
	require.NotContains(t, html, "noindex")
	require.Contains(t, page(t, r, "home", "de"), "Deutsch (de): the language is inactive")
}

func TestAFormSaysThatAPreviewSendsNothing(t *testing.T) {
	r, s := newBakery(t)
	p, err := s.CreatePage(t.Context(), site.CreatePage{Name: "Contact",
		Sections: []site.NewSection{{Section: "form", Content: map[string]any{"title": "Write to us"}}}})
	require.NoError(t, err)
	html := page(t, r, "contact", "")
	for _, part := range []string{"<h2>Write to us</h2>", `<textarea name="message"`, ">Send</button>",
		"This is a preview: nothing was sent. On the site, the form needs a target first."} {
		require.Contains(t, html, part)
	}
	_, err = s.SyncContents(t.Context(), site.SyncContents{SectionID: p.Sections[0].ID, Content: map[string]any{
		"buttonText": "Send it", "action": map[string]any{"type": "url", "href": "https://example.com/messages"}}})
	require.NoError(t, err)
	html = page(t, r, "contact", "")
	require.Contains(t, html, `<form method="post" action="https://example.com/messages">`)
	require.Contains(t, html, ">Send it</button>")
	require.Contains(t, html, "hidden>This is a preview: nothing was sent.</p>")
}

func TestTextNeverBecomesMarkup(t *testing.T) {
	r, s := newRenderer(t, Config{})
	ctx := t.Context()
	evil := `<script>alert("1")</script>`
	_, err := s.UpdatePage(ctx, site.UpdatePage{Page: "home", Name: &evil, Indexing: new(false),
		Meta: map[string]any{"description": `"><script>`}})
	require.NoError(t, err)
	_, err = s.SyncContents(ctx, site.SyncContents{Page: "home",
		Content: map[string]any{"title": evil, "image": map[string]any{"url": `/a" onerror="x`, "alt": evil}}})
	require.NoError(t, err)
	for _, body := range []string{"- " + evil + "\n\n# " + evil, "[x](javascript:alert(1))",
		`<img src=x onerror=alert(1)>`, "<iframe src=/></iframe>", "<style>*{}</style>",
		`<a href="x" onclick="y">z</a>`} {
		_, err = s.AddSection(ctx,
			site.AddSection{Page: "home", Section: "text", Content: map[string]any{"heading": evil, "body": body}})
		require.NoError(t, err)
	}
	_, err = s.CreateSectionDef(ctx,
		site.CreateSectionDef{Name: "Plain",
			Elements: site.Elements{Rows: []site.Row{
				{Slots: []site.Slot{{Key: "a", Type: site.TypeText}, {Key: "b", Type: site.TypeRichText}}}}}})
	require.NoError(t, err)
	_, err = s.AddSection(ctx,
		site.AddSection{Page: "home", Section: "plain", Content: map[string]any{"a": evil, "b": evil}})
	require.NoError(t, err)

	html := page(t, r, "home", "")
	for _, part := range []string{"<script>", `" onerror="`, "onerror=alert", "javascript:", "<iframe", "<style",
		"onclick"} {
		require.NotContains(t, html, part)
	}
	require.Contains(t, html, `<meta name="robots" content="noindex">`)
}

func TestASectionWithoutATemplateShowsAllItsSlots(t *testing.T) {
	r, s := newRenderer(t, Config{})
	ctx := t.Context()
	type m = map[string]any
	slots := []site.Slot{{Key: "name", Type: site.TypeText}, {Key: "more", Type: site.TypeText},
		{Key: "body", Type: site.TypeRichText}, {Key: "web", Type: site.TypeLink, Label: "Their site"},
		{Key: "tags", Type: site.TypeOption, Rules: site.Rules{Multiple: true, OptionValues: []string{"a", "b"}}},
		{Key: "photos", Type: site.TypeImage, Rules: site.Rules{Multiple: true}}}
	_, err := s.CreateSectionDef(ctx,
		site.CreateSectionDef{Name: "Person", Elements: site.Elements{Rows: []site.Row{{Slots: slots}}}})
	require.NoError(t, err)
	_, err = s.CreatePage(ctx, site.CreatePage{Name: "People",
		Sections: []site.NewSection{{Section: "person", Content: m{"name": "Ann", "more": "since 2020", "body": "*hi*",
			"web": m{"type": "url", "href": "https://example.com"}, "tags": []string{"a", "b"},
			"photos": []m{{"url": "/1.png", "alt": "one"}, {"url": "/2.png"}}}}}})
	require.NoError(t, err)
	html := page(t, r, "people", "")
	for _, part := range []string{"<h2>Ann</h2>", "<p>since 2020</p>", "<em>hi</em>",
		`<p><a href="https://example.com">Their site</a></p>`, "<ul><li>a</li><li>b</li></ul>",
		`<img src="/1.png" alt="one" loading="lazy">`} {
		require.Contains(t, html, part)
	}
}

func TestTheVariantOfASectionSelectsItsTemplate(t *testing.T) {
	files := fstest.MapFS{}
	built, err := fs.Sub(embedded, "templates")
	require.NoError(t, err)
	require.NoError(t, fs.WalkDir(built, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(built, name)
		files[name] = &fstest.MapFile{Data: data}
		return err
	}))
	files["sections/hero/quiet.html"] = &fstest.MapFile{Data: []byte(`<i>{{truncate 8 (.Get "title").Text}}</i>`)}
	r, s := newRenderer(t, Config{Templates: files, Development: true})
	ctx := t.Context()
	_, err = s.UpdateSection(ctx, site.UpdateSection{SectionID: "sec_home_hero", Variant: new("quiet")})
	require.NoError(t, err)
	require.Contains(t, page(t, r, "home", ""), "<i>Welcome…</i>")
	files["sections/hero/quiet.html"] = &fstest.MapFile{Data: []byte(`<b>changed</b>`)}
	require.Contains(t, page(t, r, "home", ""), "<b>changed</b>", "in development, templates are read for each page")
	_, err = s.UpdateSection(ctx, site.UpdateSection{SectionID: "sec_home_hero", Variant: new("unknown")})
	require.NoError(t, err)
	require.Contains(t, page(t, r, "home", ""), "<h1>Welcome", "an unknown variant is shown as the default one")

	broken := maps.Clone(files)
	broken["sections/hero/quiet.html"] = &fstest.MapFile{Data: []byte(`{{.Get`)}
	_, err = New(Config{Site: s, Templates: broken})
	require.ErrorContains(t, err, "sections/hero/quiet.html")
	_, err = New(Config{})
	require.ErrorContains(t, err, "Config.Site")
}

func BenchmarkPage(b *testing.B) {
	r, s := newRenderer(b, Config{})
	for i := range 8 {
		_, err := s.AddSection(b.Context(), site.AddSection{Page: "home", Section: "text",
			Content: map[string]any{"heading": fmt.Sprint(i), "body": "## First\n\nOne **line**.\n\n- a\n- b\n"}})
		require.NoError(b, err)
	}
	for b.Loop() {
		page(b, r, "home", "")
	}
}
