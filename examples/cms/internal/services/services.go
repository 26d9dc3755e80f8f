package services

import (
	"errors"
	"io/fs"
	"net/url"
	"os"

	"github.com/pawlkit/pawl/examples/cms/internal/preview"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools/web"
)

// Config says what to open. Only DB is required.
type Config struct {
	DB string // the file of the site; it is created if there is none
	// Templates is a folder with templates and assets, which are read for each page; empty: the
	// built-in ones.
	Templates string
	// PreviewURL is the address of the preview server; empty: http://localhost:4000.
	PreviewURL string
	// Frames are the origins whose pages may show the preview in a frame, besides those of this
	// computer.
	Frames []string
	// FetchHosts are the hosts that the agent may read; empty: example.com.
	FetchHosts []string
}

// Services are the open parts. They are safe for concurrent use.
type Services struct {
	Site       *site.Site
	Renderer   *preview.Renderer
	Fetcher    *web.Fetcher
	PreviewURL string
}

// New opens the file of the site and makes what depends on it. After an error nothing stays open.
func New(cfg Config) (*Services, error) {
	if cfg.PreviewURL == "" {
		cfg.PreviewURL = "http://localhost:4000"
	}
	if len(cfg.FetchHosts) == 0 {
		cfg.FetchHosts = []string{"example.com"}
	}
	fetcher, err := web.NewFetcher(web.FetchConfig{Hosts: cfg.FetchHosts})
	if err != nil {
		return nil, err
	}
	s, err := site.Open(cfg.DB)
	if err != nil {
		return nil, err
	}
	var templates fs.FS
	if cfg.Templates != "" {
		templates = os.DirFS(cfg.Templates)
	}
	r, err := preview.New(preview.Config{Site: s, Templates: templates, Development: templates != nil,
		Frames: cfg.Frames})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Services{Site: s, Renderer: r, Fetcher: fetcher, PreviewURL: cfg.PreviewURL}, nil
}

// Close closes the site.
func (s *Services) Close() error { return s.Site.Close() }

// PageURL returns the address of a page in the preview.
func (s *Services) PageURL(slug, locale string) string {
	return s.PreviewURL + "/pages/" + url.PathEscape(slug) + "?locale=" + url.QueryEscape(locale)
}
