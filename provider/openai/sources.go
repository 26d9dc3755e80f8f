package openai

import (
	"cmp"
	"encoding/json"
	"unicode/utf8"

	"github.com/pawlkit/pawl/provider"
)

// An annotation is a source of a text. Chat Completions nests the fields of the URL, Responses
// doesn't.
type annotation struct {
	Type     string   `json:"type"`
	citation          // of Responses
	Nested   citation `json:"url_citation"`
}

type citation struct {
	URL      string `json:"url"`
	Title    string `json:"title"`
	Content  string `json:"content"`
	FileID   string `json:"file_id"`
	Filename string `json:"filename"`
	Start    int    `json:"start_index"` // in characters
	End      int    `json:"end_index"`
}

// source returns an annotation of a text.
func (a *annotation) source(text string) (provider.Source, bool) {
	c := &a.citation
	if a.Nested != (citation{}) {
		c = &a.Nested
	}
	s := provider.Source{ID: c.FileID, URL: c.URL, Title: cmp.Or(c.Title, c.Filename), Text: c.Content}
	s.Start, s.End = byteRange(text, c.Start, c.End)
	return s, s.ID != "" || s.URL != "" || s.Title != ""
}

// byteRange converts a range of characters to one of bytes; 0, 0 if it isn't within the text.
func byteRange(text string, start, end int) (from, to int) {
	if start < 0 || end <= start {
		return 0, 0
	}
	n, from, to := 0, -1, -1
	for i := range text {
		if n == start {
			from = i
		}
		if n == end {
			to = i
			break
		}
		n++
	}
	if to < 0 && n == end {
		to = len(text)
	}
	if from < 0 || to < 0 {
		return 0, 0
	}
	return from, to
}

// cite yields a source of a chat answer. In a stream the text isn't available any more: while all
// of it was ASCII, characters are bytes; otherwise the range isn't known.
func (d *chatDecoder) cite(a *annotation, text string, whole bool) {
	s, ok := a.source(text)
	if !ok {
		return
	}
	if !whole {
		c := &a.citation
		if a.Nested != (citation{}) {
			c = &a.Nested
		}
		s.Start, s.End = 0, 0
		if c.Start >= 0 && c.Start < c.End && c.End <= d.ascii {
			s.Start, s.End = c.Start, c.End
		}
	}
	d.Put(provider.Cite(s))
}

// searched yields the sources of servers that send them beside the message, with every event.
func (d *chatDecoder) searched() {
	var results []citation
	if len(d.sources) > 0 && decode(d.sources, &results) == nil && len(results) > 0 {
		for _, r := range results {
			d.Put(provider.Cite(provider.Source{URL: r.URL, Title: r.Title}))
		}
		return
	}
	var addresses []string
	if len(d.cited) > 0 && json.Unmarshal(d.cited, &addresses) == nil {
		for _, address := range addresses {
			if utf8.ValidString(address) && address != "" {
				d.Put(provider.Cite(provider.Source{URL: address}))
			}
		}
	}
}
