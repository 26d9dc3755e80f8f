package preview

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

//go:embed all:templates
var embedded embed.FS

// Templates are the built-in templates.
func Templates() fs.FS {
	sub, _ := fs.Sub(embedded, "templates") // the folder exists
	return sub
}

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
}

// A Renderer makes HTML of pages. It is safe for concurrent use.
type Renderer struct {
	cfg      Config
	markdown goldmark.Markdown
	policy   *bluemonday.Policy

	mu  sync.Mutex // guards set
	set *set       // nil: not parsed yet
}

// A set is all parsed templates.
type set struct {
	all      *template.Template
	variants map[string][]string // by template key
}

// New returns a renderer. It parses all templates, so that a mistake in one shows at the start.
func New(cfg Config) (*Renderer, error) {
	if cfg.Site == nil {
		return nil, errors.New("preview: Config.Site is missing")
	}
	if cfg.Templates == nil {
		cfg.Templates = Templates()
	}
	r := &Renderer{cfg: cfg, markdown: goldmark.New(goldmark.WithExtensions(extension.GFM)),
		policy: bluemonday.UGCPolicy()}
	_, err := r.templates()
	return r, err
}

// Variants returns the variants of each template key.
func (r *Renderer) Variants() (map[string][]string, error) {
	s, err := r.templates()
	if err != nil {
		return nil, err
	}
	return maps.Clone(s.variants), nil
}

// Page returns a page as HTML.
func (r *Renderer) Page(ctx context.Context, slug, locale string) ([]byte, error) {
	tree, err := r.cfg.Site.Tree(ctx, slug, locale)
	if err != nil {
		return nil, err
	}
	return r.Render(tree)
}

// Render returns a tree as HTML.
func (r *Renderer) Render(tree *site.Tree) ([]byte, error) {
	return r.execute("layout/page.html", tree)
}

func (r *Renderer) execute(name string, data any) ([]byte, error) {
	s, err := r.templates()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := s.all.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	return b.Bytes(), nil
}

// templates returns the parsed templates. In development they are read again.
func (r *Renderer) templates() (*set, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.set != nil && !r.cfg.Development {
		return r.set, nil
	}
	s := &set{all: template.New(""), variants: map[string][]string{}}
	s.all.Funcs(template.FuncMap{
		"markdown": r.renderMarkdown, "truncate": truncate,
		"asset":   func(name string) string { return path.Join("/assets", name) },
		"section": func(sec site.TreeSection) (template.HTML, error) { return s.section(sec) },
	})
	err := fs.WalkDir(r.cfg.Templates, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".html" {
			return err
		}
		text, err := fs.ReadFile(r.cfg.Templates, name)
		if err != nil {
			return err
		}
		if _, err := s.all.New(name).Parse(string(text)); err != nil {
			return err
		}
		if parts := strings.Split(strings.TrimSuffix(name, ".html"), "/"); len(parts) == 3 && parts[0] == "sections" {
			s.variants[parts[1]] = append(s.variants[parts[1]], parts[2])
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("preview: reading templates: %w", err)
	}
	for _, needed := range []string{"layout/page.html", "layout/missing.html", "sections/_default.html"} {
		if s.all.Lookup(needed) == nil {
			return nil, fmt.Errorf("preview: the template %s is missing", needed)
		}
	}
	r.set = s
	return s, nil
}

// section renders a section with the template of its key and variant, of its key, or with the
// default one.
func (s *set) section(sec site.TreeSection) (template.HTML, error) {
	name := "sections/_default.html"
	if variants := s.variants[sec.Template]; slices.Contains(variants, sec.Variant) {
		name = "sections/" + sec.Template + "/" + sec.Variant + ".html"
	} else if slices.Contains(variants, "default") {
		name = "sections/" + sec.Template + "/default.html"
	}
	var b strings.Builder
	err := s.all.ExecuteTemplate(&b, name, sec)
	return template.HTML(b.String()), err // the template has escaped it
}

// renderMarkdown returns Markdown as HTML without scripts, styles, forms and frames.
func (r *Renderer) renderMarkdown(text string) (template.HTML, error) {
	var b bytes.Buffer
	if err := r.markdown.Convert([]byte(text), &b); err != nil {
		return "", err
	}
	return template.HTML(r.policy.SanitizeBytes(b.Bytes())), nil
}

// truncate returns at most n characters of text.
func truncate(n int, text string) string {
	if runes := []rune(text); len(runes) > n && n > 0 {
		return strings.TrimSpace(string(runes[:n-1])) + "…"
	}
	return text
}
