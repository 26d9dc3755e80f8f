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
			"Finds pages, section definitions, collections and entries by words of a person: a name that may be misspelt, or what a page's description says of it. "+
				"Each hit has its id, which the other tools take as they take the slug or key (the alias). Its match says how sure it is: exact, likely or not sure; rival if another fits equally well; "+
				"less if another fits better. The score only orders hits, it is no probability. Use it before you read or change something that was named in passing; "+
				"ask the person if there are rivals, and say what you took a name to mean if it wasn't exact.", ""),
		Kinds: site.Kinds(),
		Limit: 5,
	})
}

func previewPage(s *site.Site) tools.Tool {
	return tools.New(reading(PreviewPage,
		"Shows a page as visitors would see it, as text, and notes what they wouldn't see or would miss.", `{"properties":{`+localeSchema+`}}`),
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
