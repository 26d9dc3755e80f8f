package cmstools

import (
	"context"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

type (
	findInput struct {
		Query string `json:"query" jsonschema:"a name as a person says it, for example: the team page"`
		Kind  string `json:"kind,omitempty" jsonschema:"look only among these; all if left out"`
		Limit int    `json:"limit,omitempty" jsonschema:"how many at most; 5 if left out"`
	}
	foundOutput struct {
		Found []site.Found `json:"found"`
	}
)

func findResource(s *site.Site) tools.Tool {
	return tools.New(reading(FindResource,
		"Finds pages, section definitions, collections and entries by a name that may be misspelt or only alike. The most similar come first; similarity is 1 for the very name. Use it before you change something that was named in passing.",
		`{"properties":{"query":`+nameSchema+`,"kind":{"enum":["page","section","collection","entry"]},"limit":{"minimum":1,"maximum":50}}}`),
		func(ctx context.Context, in findInput) (foundOutput, error) {
			found, err := s.Find(ctx, site.Find(in))
			return foundOutput{Found: found}, err
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
