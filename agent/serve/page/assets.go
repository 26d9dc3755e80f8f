package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed assets
var embedded embed.FS

// contentSecurity lets the page load its own files and talk to its own server, show small images of
// messages and what its host has, and nothing else.
const contentSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src " +
	"'self'; " +
	"frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// An asset is a file as it is served.
type asset struct {
	data []byte
	kind string
	tag  string
}

// kinds are the types of the files. The machine's own table could say something else.
var kinds = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// Assets returns a handler for the files of the page: index.html at "/", and the others below
// "/page/". All links are relative, so that it works below any prefix (http.StripPrefix), which
// must end in a slash in the browser's address. Each response says what the page may load and do.
func Assets() http.Handler {
	files := make(map[string]asset)
	_ = fs.WalkDir(embedded, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		files[strings.TrimPrefix(name, "assets")] = asset{data, kinds[path.Ext(name)], `"` +
			hex.EncodeToString(sum[:12]) + `"`}
		return nil
	}) // an embedded file can be read
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Path
		if name == "" || name == "/" {
			name = "/index.html"
		}
		file, ok := files[name]
		head := w.Header()
		head.Set("X-Content-Type-Options", "nosniff")
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			head.Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		head.Set("Content-Type", file.kind)
		head.Set("Content-Security-Policy", contentSecurity)
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cache-Control", "no-cache") // ask each time; the answer is 304 unless it has changed
		head.Set("ETag", file.tag)
		serve(w, r, file)
	})
}

// serve answers with a file, or that the browser has it.
func serve(w http.ResponseWriter, r *http.Request, file asset) {
	for known := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(known), "W/") == file.tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	if r.Method == http.MethodGet {
		_, _ = w.Write(file.data) // the client may have disconnected
	}
}
