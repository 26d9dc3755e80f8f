package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"path"
	"time"
)

//go:embed assets
var embedded embed.FS

// contentSecurity lets the page load its own files and talk to its own server, show small images of
// messages and what its host has, and nothing else.
const contentSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src " +
	"'self'; " +
	"frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// kinds are the types of the files. The machine's own table could say something else.
var kinds = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// Assets returns a handler for the files of the page: index.html at "/", and the others below
// "/page/". All links are relative, so that it works below any prefix (http.StripPrefix), which
// must end in a slash in the browser's address. Each response says what the page may load and do.
func Assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path
		if name == "" || name == "/" {
			name = "/index.html"
		}
		head := w.Header()
		head.Set("X-Content-Type-Options", "nosniff")
		data, err := embedded.ReadFile("assets" + name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			head.Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		head.Set("Content-Type", kinds[path.Ext(name)])
		head.Set("Content-Security-Policy", contentSecurity)
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cache-Control", "no-cache") // ask each time; the answer is 304 unless it has changed
		head.Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(data)))
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
	})
}
