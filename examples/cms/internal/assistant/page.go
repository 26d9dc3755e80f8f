package assistant

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
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
		if u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" {
			frame = "http://localhost:" + u.Port() + " http://127.0.0.1:" + u.Port()
		}
	}
	own, err := fs.Sub(web, "web")
	if err != nil {
		return err
	}
	// the files are those of the program
	tag, policy, files := fmt.Sprintf(`"%x"`, time.Now().UnixNano()), fmt.Sprintf(contentSecurity, frame),
		http.FileServerFS(own)
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", tag)
		files.ServeHTTP(w, r)
	})
	mux.Handle("GET /{$}", http.RedirectHandler("/assistant/", http.StatusFound))
	mux.Handle("GET /assistant/{$}", http.StripPrefix("/assistant", page))
	mux.Handle("GET /assistant/cms/", http.StripPrefix("/assistant/cms", page))
	mux.HandleFunc("GET /assistant/cms/config", s.route(func(w http.ResponseWriter, _ *http.Request) error {
		modes := map[string]string{}
		for _, m := range cmstools.Modes {
			modes[m.Name] = m.Title
		}
		answer(w, http.StatusOK, map[string]any{"preview": strings.TrimSuffix(s.Preview, "/"), "note": s.Note,
			"modes": modes})
		return nil
	}))
	mux.Handle("/assistant/", http.StripPrefix("/assistant", chat))
	return nil
}
