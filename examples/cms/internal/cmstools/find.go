package cmstools

import (
	"context"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/tools"
)

func findResource(s *site.Site) tools.Tool {
	return index.Tool(s, index.Lookup{
		Spec: reading(FindResource,
			"Finds pages, section definitions, collections and entries by a name that may be misspelled, or by a word of their description.  "+
				"Each hit has its id; the other tools accept the id, and the slug or key (the alias). Its match says how certain it is: exact, likely or not sure; rival if another fits equally well; "+
				"less if another fits better. The score only orders hits; it isn't a probability. Use this tool before you read or change something whose id or slug you don't know; "+
				"if there are rivals, ask the person which one is meant; if the match isn't exact, say what you took the name to mean.", ""),
		Kinds: site.Kinds(),
		Limit: 5,
	})
}

func previewPage(s *site.Site) tools.Tool {
	return tools.New(reading(PreviewPage,
		"Shows a page as visitors see it, as text, with notes about what is hidden from them or missing.", `{"properties":{`+localeSchema+`}}`),
		func(ctx context.Context, in pageInput) (tools.Result, error) {
			p, err := s.Preview(ctx, in.Page, in.Locale)
			if err != nil {
				return tools.Result{}, err
			}
			text := p.Text
			for _, note := range p.Notes {
				text += "\nNote: " + note
			}
			r := tools.Text(text)
			r.Data = p // with the HTML, for the host
			return r, nil
		})
}
