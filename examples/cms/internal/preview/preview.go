package preview

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

//go:embed all:templates
var embedded embed.FS

// Config configures a [Renderer].
type Config struct {
	Site *site.Site
	// Templates are the templates and assets; nil: the built-in ones.
	Templates fs.FS
	// Development reads the templates for each page, so that changes show at once.
	Development bool
	// Frames are the origins whose pages may show the preview in a frame, besides those of this
	// computer.
	Frames []string
	// After carries out a pending call of a session on a copy of the site, so that ?session= and
	// ?call= show a page as it would be after it; nil: they are ignored.
	After func(ctx context.Context, copied *site.Site, session, call string) error
	// Logger gets what can't be shown; nil: slog.Default().
	Logger *slog.Logger
}

// A Renderer makes HTML of pages. It is safe for concurrent use.
type Renderer struct {
	cfg Config

	mu  sync.Mutex         // guards set
	set *template.Template // nil: not parsed yet
}

// New returns a renderer. It parses all templates, so that a mistake in one shows at the start.
func New(cfg Config) (*Renderer, error) {
	if cfg.Site == nil {
		return nil, errors.New("preview: Config.Site is missing")
	}
	if cfg.Templates == nil {
		cfg.Templates, _ = fs.Sub(embedded, "templates") // the folder exists
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	r := &Renderer{cfg: cfg}
	_, err := r.templates()
	return r, err
}

// Handler returns the preview server. It only reads.
func (r *Renderer) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /pages/{slug}", r.page)
	mux.HandleFunc("GET /pages/{slug}/raw", r.page)
	mux.HandleFunc("GET /{$}", r.page)
	mux.HandleFunc("GET /{slug}", r.page)
	mux.HandleFunc("GET /", r.entry)
	mux.HandleFunc("GET /assets/events", r.events) // a page may have the address /events
	mux.HandleFunc("GET /assets/{file}", func(w http.ResponseWriter, req *http.Request) {
		http.ServeFileFS(w, req, r.cfg.Templates, "assets/"+req.PathValue("file"))
	})
	mux.Handle("GET /uploads/", r.cfg.Site.ServeUploads())
	frames := strings.Join(append([]string{"'self'", "http://localhost:*", "http://127.0.0.1:*"}, r.cfg.Frames...), " ")
	policy := "default-src 'self'; img-src 'self' https: data:; media-src 'self' https:; object-src 'none'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors " + frames
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		mux.ServeHTTP(w, req)
	})
}

func (r *Renderer) page(w http.ResponseWriter, req *http.Request) {
	r.show(w, req, func(ctx context.Context, s *site.Site) (*site.Tree, error) {
		page := cmp.Or(req.PathValue("slug"), "home")
		if p, err := r.cfg.Site.GetPage(ctx, page, ""); err == nil {
			page = p.ID // a pending call may change the slug
		}
		return s.Tree(ctx, page, req.FormValue("locale"))
	})
}

// entry serves /collection/slug, as the public site does.
func (r *Renderer) entry(w http.ResponseWriter, req *http.Request) {
	collection, slug, _ := strings.Cut(strings.Trim(req.URL.Path, "/"), "/")
	r.show(w, req, func(ctx context.Context, s *site.Site) (*site.Tree, error) {
		return s.EntryTree(ctx, collection, slug, req.FormValue("locale"))
	})
}

// show answers with a tree of the site, or of the site after a pending call, or says what is
// missing.
func (r *Renderer) show(w http.ResponseWriter, req *http.Request,
	find func(context.Context, *site.Site) (*site.Tree, error)) {
	ctx, call, s := req.Context(), req.FormValue("call"), r.cfg.Site
	revision, err := s.Revision(ctx)
	if err == nil && call != "" && r.cfg.After != nil {
		if s, err = s.Copy(ctx); err == nil {
			defer s.Close()
			err = r.cfg.After(ctx, s, req.FormValue("session"), call)
		}
	}
	var tree *site.Tree
	if err == nil {
		tree, err = find(ctx, s)
	}
	code, name, data := http.StatusOK, "layout/page.html", any(tree)
	if err != nil {
		status, title, text := said(err, s != r.cfg.Site)
		code, name = status, "layout/missing.html"
		data = map[string]any{"Title": title, "Text": text, "Revision": revision}
	} else if tree.Revision = revision; path.Base(req.URL.Path) == "raw" {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(tree) // an error means that the client has gone
		return
	}
	body, failed := r.execute(name, data)
	if err = cmp.Or(failed, err); failed != nil {
		code, body = http.StatusInternalServerError, []byte("The page can't be shown. The log of the server says why.")
	}
	if code >= http.StatusInternalServerError {
		r.cfg.Logger.ErrorContext(ctx, "preview failed", "path", req.URL.Path, "error", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	w.Write(body)
}

// said returns the status and the words for what can't be shown, without naming what else there is.
func said(err error, after bool) (status int, title, text string) {
	var e *site.Error
	const none, cannot = "There is no page here", "The page can't be shown"
	switch {
	case after && fault.Of(err) == fault.NotFound && !errors.As(err, &e):
		return http.StatusNotFound, "Nothing waits for a decision here",
			"The change was decided, or its time is over."
	case !errors.As(err, &e):
		return http.StatusInternalServerError, cannot, "The log of the server says why."
	case e.Code != site.CodeNotFound && e.Code != site.CodeInvalid:
		return http.StatusServiceUnavailable, cannot, e.Error()
	case strings.Contains(e.Message, "locale"):
		return http.StatusNotFound, none, e.Message
	case after:
		return http.StatusNotFound, "After this change there is no page here", "Visitors of its address would see this."
	}
	return http.StatusNotFound, none, "It was deleted, or it has another address."
}

// events sends the revision of the site whenever it changes. A client that doesn't read one within
// 10 s is disconnected.
func (r *Renderer) events(w http.ResponseWriter, req *http.Request) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	for n, err := range r.cfg.Site.Watch(req.Context()) {
		if err != nil {
			return
		}
		control.SetWriteDeadline(time.Now().Add(10 * time.Second)) // not supported by every writer
		if _, err := fmt.Fprintf(w, "id: %d\nevent: revision\ndata: %d\n\n", n, n); err != nil ||
			control.Flush() != nil {
			return
		}
	}
}

// execute runs a template.
func (r *Renderer) execute(name string, data any) ([]byte, error) {
	set, err := r.templates()
	var b bytes.Buffer
	if err == nil {
		err = set.ExecuteTemplate(&b, name, data)
	}
	return b.Bytes(), err
}

// templates returns the parsed templates. In development they are read again.
func (r *Renderer) templates() (*template.Template, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.set != nil && !r.cfg.Development {
		return r.set, nil
	}
	set := template.New("")
	set.Funcs(template.FuncMap{
		"markdown": markdown, "plain": plain, "truncate": truncate,
		"asset":   func(name string) string { return path.Join("/assets", name) },
		"section": func(sec site.TreeSection) (template.HTML, error) { return section(set, sec) },
	})
	err := fs.WalkDir(r.cfg.Templates, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".html" {
			return err
		}
		text, err := fs.ReadFile(r.cfg.Templates, name)
		if err == nil {
			_, err = set.New(name).Parse(string(text))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("preview: reading templates: %w", err)
	}
	r.set = set
	return set, nil
}

// section renders a section with the template of its key and variant, of its key, or with the
// default one.
func section(set *template.Template, sec site.TreeSection) (template.HTML, error) {
	folder, name := "sections/"+sec.Template+"/", "sections/_default.html"
	for _, variant := range []string{sec.Variant, "default"} {
		if set.Lookup(folder+variant+".html") != nil {
			name = folder + variant + ".html"
			break
		}
	}
	var b strings.Builder
	err := set.ExecuteTemplate(&b, name, sec)
	return template.HTML(b.String()), err // the template has escaped it
}

var (
	parser = goldmark.New(goldmark.WithExtensions(extension.GFM))
	safe   = bluemonday.UGCPolicy()
	bare   = bluemonday.StrictPolicy()
)

// markdown returns Markdown as HTML without scripts, styles, forms and frames.
func markdown(text string) (template.HTML, error) {
	var b bytes.Buffer
	err := parser.Convert([]byte(text), &b)
	return template.HTML(safe.SanitizeBytes(b.Bytes())), err
}

// plain returns the first paragraph of Markdown as text without markup.
func plain(text string) (string, error) {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n\n")
	rendered, err := markdown(first)
	return strings.TrimSpace(html.UnescapeString(bare.Sanitize(string(rendered)))), err
}

// truncate returns at most n characters of text.
func truncate(n int, text string) string {
	if runes := []rune(text); len(runes) > n && n > 0 {
		return strings.TrimSpace(string(runes[:n-1])) + "…"
	}
	return text
}
