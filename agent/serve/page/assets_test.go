package page_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/serve/page"
)

func get(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	page.Assets().ServeHTTP(w, r)
	return w
}

func TestAssetsAreServedWithAStrictPolicy(t *testing.T) {
	for path, kind := range map[string]string{"/": "text/html; charset=utf-8",
		"/page/main.js": "text/javascript; charset=utf-8", "/page/tokens.css": "text/css; charset=utf-8",
		"/page/icon.svg": "image/svg+xml"} {
		w := get(t, path)
		require.Equal(t, http.StatusOK, w.Code, path)
		require.Equal(t, kind, w.Header().Get("Content-Type"))
		policy := w.Header().Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'")
		require.NotContains(t, policy, "unsafe")
		require.NotContains(t, policy, "*")
		require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		require.Equal(t, "no-cache", w.Header().Get("Cache-Control"))
		again := get(t, path, "If-None-Match", `"other", W/`+w.Header().Get("ETag"))
		require.Equal(t, http.StatusNotModified, again.Code)
		require.Empty(t, again.Body.String())
	}
	for _, path := range []string{"/page/", "/page/nothing.js", "/page/../assets.go", "/index", "//"} {
		require.Equal(t, http.StatusNotFound, get(t, path).Code, path)
	}
}

func TestThePageIsSmallAndNeedsNothingFromElsewhere(t *testing.T) {
	total := 0
	require.NoError(t, filepath.WalkDir("assets", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		text := string(raw)
		total += len(raw)
		require.LessOrEqual(t, strings.Count(text, "\n"), 400, "%s is long: split it", path)
		require.NotRegexp(t, `(src|href|url)\s*[=(]\s*["']?(https?:)?//`, text, path)
		require.NotRegexp(t, regexp.MustCompile(`import [^;]*from "[^.]`), text, path)
		if strings.HasSuffix(path, ".html") {
			require.NotRegexp(t, `<style|\sstyle=|\son[a-z]+=|(src|href)="/`, text)
		}
		if strings.HasSuffix(path, ".js") && filepath.Base(path) != "dom.js" {
			require.NotRegexp(t, `innerHTML|outerHTML|insertAdjacentHTML|eval\(|document\.write`, text,
				"%s: only dom.js inserts HTML", path)
		}
		return nil
	}))
	require.LessOrEqual(t, total, 172_000)
}

// TestEveryLinkedFileExists follows the links of the page and the imports of its modules.
func TestEveryLinkedFileExists(t *testing.T) {
	index := get(t, "/").Body.String()
	links := regexp.MustCompile(`(?:href|src)="(page/[^"]+)"`).FindAllStringSubmatch(index, -1)
	require.Greater(t, len(links), 5)
	for _, l := range links {
		w := get(t, "/"+l[1])
		require.Equal(t, http.StatusOK, w.Code, l[1])
		for _, m := range regexp.MustCompile(`from "\./([^"]+)"`).FindAllStringSubmatch(w.Body.String(), -1) {
			require.Equal(t, http.StatusOK, get(t, "/page/"+m[1]).Code, m[1])
		}
	}
}
