package gemini

import (
	"cmp"
	"encoding/json"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// An evidence is the sources of an answer so far: they may come in parts, and repeatedly with more.
type evidence struct {
	grounding json.RawMessage
	chunks    bool // grounding has sources
	urls      json.RawMessage
	citations []citation
}

// A citations is the texts that the model has copied from elsewhere.
type citations struct {
	List []citation `json:"citations"`
	Old  []citation `json:"citationSources"`
}

type citation struct {
	Start int    `json:"startIndex"`
	End   int    `json:"endIndex"`
	URI   string `json:"uri"`
	Title string `json:"title"`
}

// A grounding is the results of searches, and the texts that are based on them.
type grounding struct {
	Chunks []struct {
		Web       *place `json:"web"`
		Retrieved *place `json:"retrievedContext"`
		Maps      *place `json:"maps"`
		Image     *place `json:"image"`
	} `json:"groundingChunks"`
	Supports []struct {
		Segment struct {
			Start int `json:"startIndex"`
			End   int `json:"endIndex"`
		} `json:"segment"`
		Chunks []int `json:"groundingChunkIndices"`
	} `json:"groundingSupports"`
}

type place struct {
	URI       string `json:"uri"`
	SourceURI string `json:"sourceUri"`
	Title     string `json:"title"`
	Text      string `json:"text"`
	Document  string `json:"documentName"`
	Store     string `json:"fileSearchStore"`
}

type urlMetadata struct {
	List []struct {
		URL    string `json:"retrievedUrl"`
		Status string `json:"urlRetrievalStatus"`
	} `json:"urlMetadata"`
}

// add adds the sources of a candidate. Of several groundings the last one with sources counts.
func (e *evidence) add(c *candidate) {
	if !adapter.IsNull(c.Grounding) {
		var g grounding
		names := json.Unmarshal(c.Grounding, &g) == nil && len(g.Chunks) > 0
		if names || !e.chunks {
			e.grounding, e.chunks = append(json.RawMessage(nil), c.Grounding...), names
		}
	}
	if !adapter.IsNull(c.URLs) {
		e.urls = append(json.RawMessage(nil), c.URLs...)
	}
	for _, from := range []*citations{c.Citations, c.CitationsOld} {
		if from != nil {
			e.citations = append(append(e.citations, from.List...), from.Old...)
		}
	}
}

// sources returns each source once for each piece of text that is based on it, or once if none is
// known.
func (e *evidence) sources() []provider.Source {
	var out []provider.Source
	seen := map[provider.Source]bool{}
	cite := func(s provider.Source) {
		if !seen[s] && (s.URL != "" || s.Title != "" || s.Text != "" || s.ID != "") {
			seen[s] = true
			out = append(out, s)
		}
	}
	var g grounding
	if json.Unmarshal(e.grounding, &g) != nil {
		g = grounding{} // none, or of an unknown form
	}
	found := make([]provider.Source, len(g.Chunks))
	cited := make([]bool, len(g.Chunks))
	for i, c := range g.Chunks {
		for _, p := range []*place{c.Web, c.Retrieved, c.Maps, c.Image} {
			if p != nil {
				found[i] = p.source()
			}
		}
	}
	for _, support := range g.Supports {
		for _, i := range support.Chunks {
			if i >= 0 && i < len(found) {
				s := found[i]
				s.Start, s.End = support.Segment.Start, support.Segment.End
				cited[i] = true
				cite(s)
			}
		}
	}
	for i := range found {
		if !cited[i] {
			cite(found[i])
		}
	}
	var urls urlMetadata
	if len(found) == 0 && json.Unmarshal(e.urls, &urls) == nil {
		for _, u := range urls.List {
			if u.Status == "URL_RETRIEVAL_STATUS_SUCCESS" {
				cite(provider.Source{URL: u.URL})
			}
		}
	}
	for _, c := range e.citations {
		cite(provider.Source{URL: c.URI, Title: c.Title, Start: c.Start, End: c.End})
	}
	return out
}

func (p *place) source() provider.Source {
	return provider.Source{URL: cmp.Or(p.URI, p.SourceURI), Title: p.Title, Text: p.Text,
		ID: cmp.Or(p.Document, p.Store)}
}
