package preview

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// Handler returns the preview server. It only reads.
func (r *Renderer) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, req *http.Request) { r.page(w, req, "home") })
	mux.HandleFunc("GET /pages/{slug}", func(w http.ResponseWriter, req *http.Request) {
		r.page(w, req, req.PathValue("slug"))
	})
	mux.HandleFunc("GET /pages/{slug}/raw", r.raw)
	mux.HandleFunc("GET /", r.public)
	mux.HandleFunc("GET /events", r.events)
	mux.Handle("GET /assets/", http.StripPrefix("/assets", files(r.assets())))
	mux.Handle("GET /uploads/", http.StripPrefix("/uploads", files(r.cfg.Site.Uploads())))
	frames := strings.Join(append([]string{"'self'", "http://localhost:*", "http://127.0.0.1:*"}, r.cfg.Frames...), " ")
	policy :=
		"default-src 'self'; img-src 'self' https: data:; media-src 'self' https:; object-src 'none'; base-uri " +
			"'none'; form-action 'none'; frame-ancestors " + frames
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		mux.ServeHTTP(w, req)
	})
}

func (r *Renderer) assets() fs.FS {
	sub, err := fs.Sub(r.cfg.Templates, "assets")
	if err != nil {
		return r.cfg.Templates
	}
	return sub
}

// files serves files, without listing folders.
func files(root fs.FS) http.Handler {
	serve := http.FileServerFS(root)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/") || path.Ext(req.URL.Path) == "" {
			http.NotFound(w, req)
			return
		}
		serve.ServeHTTP(w, req)
	})
}

func (r *Renderer) page(w http.ResponseWriter, req *http.Request, slug string) {
	tree, err := r.cfg.Site.Tree(req.Context(), slug, req.FormValue("locale"))
	r.answer(w, req, tree, err)
}

// public serves the addresses of the public site: /slug is a page, and /collection/slug an entry.
func (r *Renderer) public(w http.ResponseWriter, req *http.Request) {
	switch parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/"); len(parts) {
	case 1:
		to := *req.URL
		to.Path, to.RawPath = "/pages/"+parts[0], ""
		http.Redirect(w, req, to.RequestURI(), http.StatusFound)
	case 2:
		tree, err := r.cfg.Site.EntryTree(req.Context(), parts[0], parts[1], req.FormValue("locale"))
		r.answer(w, req, tree, err)
	default:
		http.NotFound(w, req)
	}
}

func (r *Renderer) raw(w http.ResponseWriter, req *http.Request) {
	tree, err := r.cfg.Site.Tree(req.Context(), req.PathValue("slug"), req.FormValue("locale"))
	if err != nil {
		http.Error(w, err.Error(), status(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(tree) // an error means that the client has gone
}

// keepLocale adds the language to the links within the site, so that a visitor stays in it.
func keepLocale(tree *site.Tree, locale string) {
	keep := func(href *string) {
		u, err := url.Parse(*href)
		if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") || u.Query().Has("locale") {
			return
		}
		if name := strings.Split(u.Path, "/")[1]; name == "assets" || name == "uploads" {
			return
		}
		u.RawQuery = strings.TrimPrefix(u.RawQuery+"&locale="+url.QueryEscape(locale), "&")
		*href = u.String()
	}
	var menu func([]site.MenuItem)
	menu = func(items []site.MenuItem) {
		for i := range items {
			keep(&items[i].Href)
			menu(items[i].Items)
		}
	}
	menu(tree.Menu)
	for _, s := range tree.Sections {
		for i := range s.Values {
			keep(&s.Values[i].Href)
		}
	}
}

// answer renders a tree, or the page that says what is missing.
func (r *Renderer) answer(w http.ResponseWriter, req *http.Request, tree *site.Tree, err error) {
	code := http.StatusOK
	var html []byte
	if err == nil {
		if locale := req.FormValue("locale"); locale != "" {
			keepLocale(tree, locale)
		}
		html, err = r.Render(tree)
	}
	if err != nil {
		if code = status(err); code == http.StatusInternalServerError {
			http.Error(w, "The page can't be shown: "+err.Error(), code)
			return
		}
		if html, err = r.execute("layout/missing.html", err.Error()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	w.Write(html)
}

func status(err error) int {
	var e *site.Error
	if errors.As(err, &e) && (e.Code == site.CodeNotFound || e.Code == site.CodeInvalid) {
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// writeTimeout is how long a client of the events may take to read one.
const writeTimeout = 10 * time.Second

// events sends the revision of the site whenever it changes. A client that doesn't read is
// disconnected.
func (r *Renderer) events(w http.ResponseWriter, req *http.Request) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	for n, err := range r.cfg.Site.Watch(req.Context()) {
		if err != nil {
			return
		}
		control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not supported by every writer
		if _, err := fmt.Fprintf(w, "id: %d\nevent: revision\ndata: %d\n\n", n, n); err != nil ||
			control.Flush() != nil {
			return
		}
	}
}
