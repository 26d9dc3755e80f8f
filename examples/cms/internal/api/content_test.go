package api

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

func TestAPageIsMadeReadChangedAndDeleted(t *testing.T) {
	b := newBench(t)
	var p site.Page
	b.json(201, "POST", site0+"/pages", `{"name":"About","sections":[{"section":"hero","content":{"title":"Hello"}}]}`,
		&p)
	b.json(200, "GET", site0+"/pages/"+p.ID, "", &p)
	b.json(200, "PUT", site0+"/pages/about", `{"slug":"about-us","meta":{"a":1}}`, &p)
	require.Equal(t, "about-us", p.Slug)
	var sec site.Section
	b.json(201, "POST", site0+"/pages/about-us/section", `{"sectionDefId":"def_text","sortOrder":0}`, &sec)
	require.Equal(t, 0, sec.SortOrder)
	b.json(200, "POST", site0+"/pages/about-us/contents?locale=de",
		`{"contents":{"hero":{"title":"Hallo"},"text":{"body":"B"}}}`, nil)
	var sections []site.Section
	b.json(200, "GET", site0+"/pages/about-us/contents?locale=de", "", &sections)
	require.Equal(t, "Hallo", sections[1].Content["title"])
	var list site.List[site.PageSummary]
	b.json(200, "GET", site0+"/pages?q=about&limit=1", "", &list)
	require.Equal(t, 1, list.Total)
	b.json(200, "DELETE", site0+"/pages/about-us", "", nil)
	b.refused(404, "NOT_FOUND", "GET", site0+"/pages/about-us", "", `there is no page "about-us"`)
	b.json(200, "GET", "/v1/teams/x/sites/y/environments/z/pages/home", "", &p)
	require.Equal(t, "pg_home", p.ID, "any team, site and environment is the one")
}

func TestDefinitionsCollectionsAndEntriesAreManaged(t *testing.T) {
	b := newBench(t)
	b.json(201, "POST", site0+"/sections",
		`{"name":"Quote","elements_structure":{"rows":[{"slots":[{"key":"words","type":"text"}]}]}}`, nil)
	b.json(200, "PUT", site0+"/sections/quote", `{"status":"unpublished","defaultVariant":"wide"}`, nil)
	var synced site.SyncedElements
	b.json(200, "POST", site0+"/sections/quote/elements",
		`{"elements_structure":{"rows":[{"slots":[{"key":"text","type":"text"}]}]},"prune":true}`, &synced)
	require.Equal(t, []string{"words"}, synced.Removed)
	b.json(200, "DELETE", site0+"/sections/quote", "", nil)
	b.refused(409, "CONFLICT", "DELETE", site0+"/sections/hero", "", "used by the pages home")

	b.json(201, "POST", site0+"/collections",
		`{"name":"Events","elements_structure":{"rows":[{"slots":[{"key":"place","type":"text"}]}]}}`, nil)
	b.json(200, "PUT", site0+"/collections/events", `{"slug":"dates"}`, nil)
	b.json(200, "POST", site0+"/collections/dates/elements",
		`{"elements_structure":{"rows":[{"slots":[{"key":"place","type":"text"},{"key":"day","type":"text"}]}]}}`, nil)
	var e site.Upserted
	const entries = site0 + "/collections/dates/entries"
	b.json(201, "POST", entries, `{"title":"First","slug":"one","content":{"place":"Here"}}`, &e)
	b.refused(409, "CONFLICT", "POST", entries, `{"title":"Again","slug":"one"}`, `"one-2"`)
	b.json(200, "PUT", entries+"/one", `{"title":"Second","slug":"two"}`, &e)
	require.Equal(t, []string{"Second", "two"}, []string{e.Title, e.Slug})
	b.refused(404, "NOT_FOUND", "PUT", entries+"/one", `{"title":"X"}`)
	b.refused(404, "NOT_FOUND", "GET", entries+"/ent_hello", "", `isn't in the collection "dates"`)
	b.json(200, "POST", entries+"/two/contents?locale=de", `{"content":{"place":"Hier"}}`, nil)
	var contents entryContents
	b.json(200, "GET", entries+"/two/contents?locale=de", "", &contents)
	require.Equal(t, "Hier", contents.Content["place"])
	var list site.List[*site.Entry]
	b.json(200, "POST", entries+"/order", fmt.Sprintf(`[{"id":%q,"sortOrder":7}]`, e.ID), &list)
	require.Equal(t, 7, list.Items[0].SortOrder)
	b.json(200, "DELETE", entries+"/two", "", nil)
	b.json(200, "DELETE", site0+"/collections/dates", "", nil)
	b.refused(409, "CONFLICT", "DELETE", site0+"/collections/blog", "")
}

func TestLocalesMenusAndSearch(t *testing.T) {
	b := newBench(t)
	b.json(201, "POST", site0+"/locales", `{"code":"fr","name":"Français"}`, nil)
	b.json(200, "PUT", site0+"/locales/fr", `{"status":"active"}`, nil)
	var locales []site.Locale
	b.json(200, "GET", "/api/locales", "", &locales)
	require.Contains(t, locales, site.Locale{Code: "fr", Name: "Français", Status: "active"})
	b.json(200, "DELETE", site0+"/locales/fr", "", nil)
	var types []site.ElementType
	b.json(200, "GET", "/api/elements", "", &types)
	require.Len(t, types, 7)

	var n site.Navigation
	b.json(201, "POST", site0+"/navigations", `{"name":"main"}`, &n)
	at := site0 + "/navigations/" + n.ID
	b.json(200, "PUT", at, `{"name":"main","description":"The menu"}`, &n)
	b.json(201, "POST", at+"/items", `{"value":"Home","targetType":"page","targetUuid":"pg_home"}`, &n)
	b.json(200, "PUT", at+"/items/"+n.Items[0].ID, `{"value":"Start","targetType":"page","targetUuid":"pg_home"}`, &n)
	b.json(200, "POST", at+"/items/sync",
		`{"items":[{"value":"A","targetType":"placeholder","items":[{"value":"B","targetType":"url","url":"/b"}]}]}`,
		&n)
	require.Equal(t, "B", n.Items[0].Items[0].Value)
	b.json(200, "DELETE", at+"/items/"+n.Items[0].ID, "", &n)
	require.Empty(t, n.Items)
	b.json(200, "DELETE", at, "", nil)

	var hits []site.Hit
	b.json(200, "GET", "/v1/cms/search?q=hero", "", &hits)
	require.NotEmpty(t, hits)
	var found resources
	b.json(200, "POST", "/v1/cms/search/resources", `{"query":"heroo","type":"section_def"}`, &found)
	require.Equal(t, []string{"section_def", "def_hero"}, []string{found.Results[0].Kind, found.Results[0].ID})
	b.refused(400, "VALIDATION_ERROR", "POST", "/v1/cms/search/resources", `{"query":"x","type":"menu"}`, "section_def")
	b.refused(400, "VALIDATION_ERROR", "GET", "/v1/cms/search", "", "the query is empty")
}

// upload sends a file and returns the status and the envelope.
func (b *bench) upload(name string, content []byte) (int, map[string]any) {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	require.NoError(b.t, form.WriteField("alt", "A picture"))
	part, err := form.CreateFormFile("file", name)
	require.NoError(b.t, err)
	_, err = part.Write(content)
	require.NoError(b.t, err)
	require.NoError(b.t, form.Close())
	return b.request("POST", site0+"/media", form.FormDataContentType(), &body)
}

func TestFilesAreUploadedAndDownloaded(t *testing.T) {
	b := newBench(t)
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 2))))
	status, envelope := b.upload("a.png", picture.Bytes())
	require.Equal(t, 201, status, "%v", envelope)
	id := envelope["data"].(map[string]any)["id"].(string)
	status, envelope = b.request("GET", site0+"/media/"+id+"/download", "", nil)
	require.Equal(t, 200, status)
	require.Equal(t, picture.String(), envelope["raw"])
	b.json(200, "PUT", site0+"/media/"+id, `{"alt":"Changed"}`, nil)
	var list site.List[*site.Media]
	b.json(200, "GET", site0+"/media?group=image", "", &list)
	require.Equal(t, 2, list.Total)
	b.json(200, "DELETE", site0+"/media/"+id, "", nil)
	b.refused(404, "NOT_FOUND", "GET", site0+"/media/"+id, "")
	require.NoError(t, os.RemoveAll(filepath.Join(filepath.Dir(b.Site.Path()), "uploads")))
	b.refused(404, "NOT_FOUND", "GET", site0+"/media/med_hero/download", "", "isn't on this computer")

	for want, content := range map[int][]byte{413: make([]byte, 17<<20),
		415: []byte("MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00")} {
		status, envelope = b.upload("a.png", content)
		require.Equal(t, want, status, "%v", envelope)
		require.Equal(t, "VALIDATION_ERROR", envelope["error"].(map[string]any)["code"])
	}
	b.refused(415, "VALIDATION_ERROR", "POST", site0+"/media", `{}`, "multipart/form-data")
}

func TestFormsCanDoWhatJSONCan(t *testing.T) {
	b := newBench(t)
	form := func(path string, values url.Values) (int, map[string]any) {
		return b.request("POST", path, "application/x-www-form-urlencoded", strings.NewReader(values.Encode()))
	}
	status, envelope := form(site0+"/pages",
		url.Values{"name": {"Über uns"}, "indexing": {"on"}, "meta": {`{"title":"T"}`}})
	require.Equal(t, 201, status, "%v", envelope)
	require.Equal(t, "ueber-uns", envelope["data"].(map[string]any)["slug"])
	status, envelope = form(site0+"/pages/ueber-uns",
		url.Values{"_method": {"PUT"}, "name": {"About"}, "indexing": {"false"}})
	require.Equal(t, 200, status, "%v", envelope)
	require.Equal(t, false, envelope["data"].(map[string]any)["indexing"])
	status, _ = form(site0+"/pages/ueber-uns", url.Values{"_method": {"delete"}})
	require.Equal(t, 200, status)
	status, envelope = form(site0+"/pages/home", url.Values{"_method": {"TRACE"}})
	require.Equal(t, 400, status, "%v", envelope)
	status, envelope = form(site0+"/pages", url.Values{"name": {"X"}, "meta": {"{"}})
	require.Equal(t, 400, status)
	require.Contains(t, envelope["raw"], `takes JSON`)
	status, envelope = form(site0+"/pages", url.Values{"title": {"X"}})
	require.Equal(t, 400, status)
	require.Contains(t, envelope["raw"], `title`)
}

func TestBadRequestsSayWhatWouldBeRight(t *testing.T) {
	b := newBench(t)
	b.refused(400, "VALIDATION_ERROR", "POST", site0+"/pages", `{"name":""}`, "is empty; give one")
	b.refused(400, "VALIDATION_ERROR", "POST", site0+"/pages", `{"name":7}`, `"name" takes a string, got a number`)
	b.refused(400, "VALIDATION_ERROR", "POST", site0+"/pages", `{"title":"x"}`, `unknown field`)
	b.refused(400, "VALIDATION_ERROR", "POST", site0+"/pages", `{"name":"x"} {}`, "more than one value")
	b.refused(400, "VALIDATION_ERROR", "POST", site0+"/pages", `{"name":"x"}}`, "more than one value")
	b.refused(400, "VALIDATION_ERROR", "POST", site0+"/pages", `[]`, "JSON type array; it should be an object")
	b.refused(400, "VALIDATION_ERROR", "POST", site0+"/pages", `{`, "can't be used")
	b.refused(400, "VALIDATION_ERROR", "GET", site0+"/pages?limit=x", "", "limit")
	b.refused(404, "NOT_FOUND", "GET", "/v1/nothing", "")
	b.refused(405, "VALIDATION_ERROR", "DELETE", site0+"/pages", "", "use GET or POST")
	b.refused(413, "VALIDATION_ERROR", "POST", site0+"/pages", `{"name":"`+strings.Repeat("x", 3<<20)+`"}`,
		"2097152 bytes")
	status, _ := b.request("POST", site0+"/pages", "text/xml", strings.NewReader("<a/>"))
	require.Equal(t, 415, status)

	envelope := b.json(400, "POST", site0+"/pages/home/contents", `{"contents":{"hero":{"titel":"x","image":7}}}`, nil)
	details := envelope["error"].(map[string]any)["details"].(map[string]any)
	require.Contains(t, details["titel"], `did you mean "title"?`)
	require.Contains(t, details["image"], "got a number")
	envelope = b.json(409, "POST", site0+"/pages", `{"name":"Home"}`, nil)
	details = envelope["error"].(map[string]any)["details"].(map[string]any)
	require.Equal(t, []any{"a slug that no other page has", `"home" belongs to page pg_home`},
		[]any{details["expected"], details["actual"]})
	require.Contains(t, details["suggestion"], "home-2")
}

func TestForeignPagesAreRefused(t *testing.T) {
	b := newBench(t)
	body := func() io.Reader { return strings.NewReader(`{"name":"Evil"}`) }
	for origin, want := range map[string]int{"http://evil.example": 403, "null": 403, "http://cms.example.com": 201} {
		status, envelope := b.request("POST", site0+"/pages", "application/json", body(), "Origin", origin)
		require.Equal(t, want, status, "%s: %v", origin, envelope)
	}
	status, _ := b.request("POST", site0+"/pages", "application/x-www-form-urlencoded", strings.NewReader("name=Evil"),
		"Sec-Fetch-Site", "cross-site")
	require.Equal(t, 403, status)
	status, _ = b.request("GET", site0+"/pages", "", nil, "Host", "evil.example")
	require.Equal(t, 403, status, "a name that was made to resolve to this computer")
	status, _ = b.request("OPTIONS", site0+"/pages", "", nil, "Origin", "http://cms.example.com",
		"Access-Control-Request-Method", "PUT")
	require.Equal(t, 204, status)
	list, err := b.Site.ListPages(t.Context(), site.Query{})
	require.NoError(t, err)
	require.Equal(t, 2, list.Total)
}

func TestAHundredParallelWritersLoseNothing(t *testing.T) {
	b := newBench(t)
	var wg sync.WaitGroup
	statuses := make([]int, 100)
	for i := range statuses {
		wg.Go(func() {
			if i%2 == 0 {
				statuses[i], _ = b.request("PUT", site0+"/pages/home", "application/json",
					strings.NewReader(fmt.Sprintf(`{"meta":{"k%d":%d}}`, i, i)))
			} else {
				statuses[i], _ = b.request("POST", site0+"/pages", "application/json",
					strings.NewReader(`{"name":"Same"}`))
			}
		})
	}
	wg.Wait()
	count := map[int]int{}
	for _, s := range statuses {
		count[s]++
	}
	require.Equal(t, map[int]int{200: 50, 201: 1, 409: 49}, count)
	home, err := b.Site.GetPage(t.Context(), "home", "")
	require.NoError(t, err)
	require.Len(t, home.Meta, 50)
}

func TestErrorsOfBodiesNameTheField(t *testing.T) {
	b := newBench(t)
	for body, field := range map[string]string{
		`{"name":""}`:                                 "name",
		`{"name":"A","slug":"A B"}`:                   "slug",
		`{"name":"A","status":"hidden"}`:              "status",
		`{"name":"A","title":"B"}`:                    "title",
		`{"name":7}`:                                  "name",
		`{"name":"A","indexing":"yes"}`:               "indexing",
		`{"name":"` + strings.Repeat("x", 101) + `"}`: "name",
	} {
		envelope := b.json(400, "POST", site0+"/pages", body, nil)
		details, _ := envelope["error"].(map[string]any)["details"].(map[string]any)
		require.Contains(t, details, field, "%s: %s", body, envelope["raw"])
	}
	envelope := b.json(400, "POST", site0+"/collections/blog/entries", `{"title":"A","content":{"body":7}}`, nil)
	require.Contains(t, envelope["error"].(map[string]any)["details"], "body")
}

func TestUploadedFilesAndTheStatesOfPagesAreServed(t *testing.T) {
	b := newBench(t)
	status, envelope := b.request("GET", "/uploads/site_local/env_main/med_hero.jpg", "", nil)
	require.Equal(t, 200, status)
	require.Greater(t, len(envelope["raw"].(string)), 10_000)
	status, _ = b.request("GET", "/uploads/site_local/", "", nil)
	require.Equal(t, 404, status)

	var p site.Page
	b.json(201, "POST", site0+"/pages", `{"name":"About"}`, &p)
	require.Equal(t, site.Draft, p.Status)
	b.json(200, "PUT", site0+"/pages/about", `{"status":"published"}`, &p)
	require.Equal(t, site.Published, p.Status)
}

func TestAFileThatIsGoneIsA503ThatIsLogged(t *testing.T) {
	b := newBench(t)
	require.NoError(t, os.Remove(b.Site.Path()))
	b.refused(503, "STORAGE", "GET", site0+"/pages", "", "was deleted or replaced")
	b.refused(503, "STORAGE", "POST", site0+"/pages", `{"name":"A"}`, "restart the program")
}
