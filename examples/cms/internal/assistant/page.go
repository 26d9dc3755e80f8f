package assistant

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

//go:embed web
var web embed.FS

// contentSecurity lets the page load its own files, talk to its own server, and show the preview in
// a frame. It runs no inline code.
const contentSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src " +
	"'self'; " +
	"frame-src %s; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// addPage adds the page: its own files below /assistant/cms/, and everything else below /assistant/
// from the chat.
func (s *server) addPage(mux *http.ServeMux, chat http.Handler) error {
	frame := "'none'"
	if s.Preview != "" {
		u, err := url.Parse(s.Preview)
		if err != nil || u.Host == "" || strings.ContainsAny(u.Host, " ;,'\"") || u.Scheme != "http" &&
			u.Scheme != "https" {
			return fmt.Errorf("assistant: Config.Preview is %q; it should be an address such as http://localhost:4000",
				s.Preview)
		}
		frame = u.Scheme + "://" + u.Host
	}
	policy := fmt.Sprintf(contentSecurity, frame)
	files := map[string]http.HandlerFunc{}
	err := fs.WalkDir(web, "web", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := web.ReadFile(name)
		sum := sha256.Sum256(data)
		files[path.Base(name)] = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", policy)
			w.Header().Set("Referrer-Policy", "no-referrer")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			w.Header().Set("Cache-Control", "no-cache")
			w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
			w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
			http.ServeContent(w, r, name, time.Time{}, strings.NewReader(string(data)))
		}
		return err
	})
	if err != nil || files["index.html"] == nil {
		return errors.Join(err, errors.New("assistant: the page isn't embedded"))
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/assistant/", http.StatusFound)
	})
	mux.HandleFunc("GET /assistant/{$}", files["index.html"])
	mux.HandleFunc("GET /assistant/cms/config", s.route(func(w http.ResponseWriter, _ *http.Request) error {
		answer(w, http.StatusOK, map[string]string{"preview": strings.TrimSuffix(s.Preview, "/"), "note": s.Note})
		return nil
	}))
	mux.HandleFunc("GET /assistant/cms/{file}", func(w http.ResponseWriter, r *http.Request) {
		if f := files[r.PathValue("file")]; f != nil {
			f(w, r)
			return
		}
		http.NotFound(w, r)
	})
	mux.Handle("/assistant/", http.StripPrefix("/assistant", chat))
	return nil
}
