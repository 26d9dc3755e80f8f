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

func findResource(s *site.Site) tools.Tool {
	return index.Tool(s, index.Lookup{
		Spec: reading(FindResource,
			"Finds pages, section definitions, collections and entries by a name that may be misspelled, or by a "+
				"word of their description.  "+
				"Each hit has its id; the other tools accept the id, and the slug or key (the alias). Its match says "+
				"how certain it is: exact, likely or not sure; rival if another fits equally well; "+
				"less if another fits better. The score only orders hits; it isn't a probability. Use this tool "+
				"before you read or change something whose id or slug you don't know; "+
				"if there are rivals, ask the person which one is meant; if the match isn't exact, say what you took "+
				"the name to mean.", ""),
		Kinds: site.Kinds(),
		Limit: 5,
	})
}

func previewPage(c Config) tools.Tool {
	return tools.New(reading(PreviewPage,
		"Shows a page as visitors see it, as text, with notes about what is hidden from them or missing, and with "+
			"the address of its preview.", ``),
		func(ctx context.Context, in pageInput) (tools.Result, error) {
			tree, err := c.Site.Tree(ctx, in.Page, in.Locale)
			if err != nil {
				return tools.Result{}, err
			}
			text, address := strings.TrimSpace(tree.Text()), ""
			if c.Preview != "" {
				address = c.Preview + "/pages/" + url.PathEscape(tree.Page) + "?locale=" + url.QueryEscape(tree.Locale)
				text += "\n\nPreview: " + address
			}
			r := tools.Text(text)
			r.Data = preview{address, tree}
			return r, nil
		})
}

// A preview is what a host gets of a previewed page.
type preview struct {
	URL  string     `json:"url,omitempty"`
	Tree *site.Tree `json:"tree"`
}

type mediaInput struct {
	Group string `json:"group,omitempty" jsonschema:"image, video, audio or document; all if left out"`
	query
}

func listMedia(s *site.Site) tools.Tool {
	return tools.New(reading(ListMedia,
		"Lists the uploaded files, the newest first, with the id and the address for contents of images and media. "+
			"People upload files in the page.",
		`{"properties":{`+querySchema+`,"group":{"enum":["image","video","audio","document"]}}}`),
		func(ctx context.Context, in mediaInput) (site.List[*site.Media], error) {
			return s.ListMedia(ctx, site.ListMedia{Group: in.Group, Query: site.Query(in.query)})
		})
}

func fetch(f *web.Fetcher) tools.Tool {
	spec := tools.Spec{Name: Fetch,
		Description: "Reads a page of the web as text, by GET. Only hosts that the operator allows can be read; " +
			"others are refused.",
		Category: "http", ReadOnly: true}
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
