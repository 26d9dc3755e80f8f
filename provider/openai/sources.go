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

// A ruler finds the bytes of characters in a text that isn't kept. It knows the lengths of
// characters in runs of the same one.
type ruler struct {
	runs    []run
	unknown bool // the text isn't UTF-8, or has too many runs
}

// A run is a number of characters, each of this many bytes.
type run struct{ chars, width int }

// mostRuns is how many runs a ruler keeps: a megabyte of them.
const mostRuns = 1 << 16

// add measures a piece of the text.
func (r *ruler) add(text string) {
	for len(text) > 0 && !r.unknown {
		width := 1
		if text[0] >= utf8.RuneSelf {
			var first rune
			first, width = utf8.DecodeRuneInString(text)
			r.unknown = first == utf8.RuneError && width == 1
		}
		if n := len(r.runs); n == 0 || r.runs[n-1].width != width {
			r.unknown = r.unknown || n == mostRuns
			r.runs = append(r.runs, run{width: width})
		}
		r.runs[len(r.runs)-1].chars++
		text = text[width:]
	}
}

// at returns the byte at which a character begins, or the text's length for the number of its
// characters; ok is false if the text has fewer characters or isn't known.
func (r *ruler) at(char int) (at int, ok bool) {
	if r.unknown || char < 0 {
		return 0, false
	}
	for _, run := range r.runs {
		n := min(char, run.chars)
		at, char = at+n*run.width, char-n
	}
	return at, char == 0
}

// cite yields a source of a chat answer. Without the whole text, what has come so far counts.
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
		from, begins := d.ruler.at(c.Start)
		to, ends := d.ruler.at(c.End)
		if s.Start, s.End = 0, 0; begins && ends && from < to {
			s.Start, s.End = from, to
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
