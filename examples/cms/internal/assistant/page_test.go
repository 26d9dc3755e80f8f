package assistant

import (
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// get returns a file of the page.
func (f *fixture) get(path string) (body string, header http.Header) {
	f.t.Helper()
	res := f.request(http.MethodGet, path, "")
	data, err := io.ReadAll(res.Body)
	require.NoError(f.t, err)
	require.Equal(f.t, http.StatusOK, res.StatusCode, path)
	return string(data), res.Header
}

func TestThePageMayShowThePreviewAndNothingElse(t *testing.T) {
	f := serveSite(t, nil, nil)
	_, header := f.get("/")
	policy := header.Get("Content-Security-Policy")
	require.Contains(t, policy, "frame-src http://localhost:4000 http://127.0.0.1:4000;")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
	for _, wrong := range []string{"localhost", "javascript:alert(1)", "http://a;script-src *"} {
		_, err := New(Config{Hub: f.hub, Preview: wrong})
		require.ErrorContains(t, err, "Config.Preview", wrong)
	}
	_, err := New(Config{})
	require.ErrorContains(t, err, "Hub is missing")
}

// TestEveryFileOfThePageExists follows the links of the page and the imports of its modules.
func TestEveryFileOfThePageExists(t *testing.T) {
	f := serveSite(t, nil, nil)
	index, _ := f.get("/assistant/")
	for _, l := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllStringSubmatch(index, -1) {
		body, _ := f.get("/assistant/" + l[1])
		for _, m := range regexp.MustCompile(`from "(\.\.?/[^"]+)"`).FindAllStringSubmatch(body, -1) {
			f.get(path.Join("/assistant", path.Dir(l[1]), m[1]))
		}
	}
}

func TestThePageIsSmallAndHasNoInlineCode(t *testing.T) {
	lines := 0
	require.NoError(t, fs.WalkDir(web, "web", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := web.ReadFile(name)
		text := string(data)
		n := strings.Count(text, "\n")
		lines += n
		require.LessOrEqual(t, n, 400, "%s is long: split it", name)
		require.NotRegexp(t, `(src|href|url)\s*[=(]\s*["']?(https?:)?//`, text, name)
		require.NotRegexp(t,
			`<style|\sstyle="|\son[a-z]+="|innerHTML|outerHTML|insertAdjacentHTML|eval\(|document\.write`, text, name)
		return err
	}))
	require.Less(t, lines, 2000)
}
