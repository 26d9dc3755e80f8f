package cmstools

import (
	"context"
	"net/url"
	"strings"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/web"
)

type (
	pageInput struct {
		Page   string `json:"page"`
		Locale string `json:"locale,omitempty"`
	}
	entryInput struct {
		Entry  string `json:"entry"`
		Locale string `json:"locale,omitempty"`
	}
	nothing struct{}
)

// read returns a tool that only reads.
func read[In, Out any](s *desk, name string, run func(context.Context, In) (Out, error)) tools.Tool {
	spec := specOf[In](name)
	spec.ReadOnly = true
	return tools.Func[In, Out]{Spec: spec, Run: run, Title: titleOf[In](s, theTable().Tools[name])}
}

// reads returns the tools that only read.
func (s *desk) reads(cfg Config) []tools.Tool {
	all := []tools.Tool{
		read(s, "cms.getPage", func(ctx context.Context, in pageInput) (*site.Page, error) {
			return s.GetPage(ctx, in.Page, in.Locale)
		}),
		read(s, "cms.listPages", s.ListPages),
		read(s, "cms.listSections", s.ListSections),
		read(s, "cms.listCollections", s.ListCollections),
		read(s, "cms.listEntries", s.ListEntries),
		read(s, "cms.getEntry", func(ctx context.Context, in entryInput) (*site.Entry, error) {
			return s.GetEntry(ctx, in.Entry, in.Locale)
		}),
		read(s, "cms.listMedia", s.ListMedia),
		read(s, "cms.listMenus", func(ctx context.Context, _ nothing) ([]*site.Navigation, error) {
			return s.ListNavigations(ctx)
		}),
		index.Tool(s, index.Lookup{Kinds: site.Kinds(), Limit: 5, Spec: tools.Spec{Name: "cms.findResource",
			Category: "cms"}}),
		read(s, "cms.previewPage", cfg.previewPage),
	}
	if cfg.Fetcher != nil {
		all = append(all, fetch(cfg.Fetcher))
	}
	return all
}

func (cfg Config) previewPage(ctx context.Context, in pageInput) (string, error) {
	tree, err := cfg.Site.Tree(ctx, in.Page, in.Locale)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(tree.Text())
	if cfg.Preview != "" {
		text += "\n\nPreview: " + cfg.Preview + "/pages/" + url.PathEscape(tree.Page) + "?locale=" +
			url.QueryEscape(tree.Locale)
	}
	return text, nil
}

func fetch(f *web.Fetcher) tools.Tool {
	spec := tools.Spec{Name: Fetch, Category: "http", ReadOnly: true,
		Description: "Reads a page of the web as text, by GET. Only hosts that the operator allows can be read; others " +
			"are refused."}
	return tools.New(spec, func(ctx context.Context, in web.FetchInput) (tools.Result, error) {
		page, err := f.Get(ctx, in.URL)
		if err != nil {
			return tools.Result{}, err
		}
		r := tools.Text(tools.Untrusted(page.URL, page.Title+"\n\n"+page.Text))
		r.Data = page
		return r, nil
	})
}
