package web

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/visible"
	"github.com/pawlkit/pawl/tools"
)

// The limits of a search.
const (
	searchTime    = 10 * time.Second // of each source
	defaultFound  = 10
	mostFound     = 20 // results of one search
	longestQuery  = 400
	longestText   = 2_000 // of a result, in bytes
	longestSource = 100
)

// searchToolName is the name of the tool that [Search] returns.
const searchToolName = "web.search"

// A Searcher is a source of search results: [NewTavily], [NewSearXNG], or one of the host's. It
// must be safe for concurrent use and must return soon after the end of its context.
type Searcher interface {
	// Name names the source in results and errors.
	Name() string
	// Search returns at most most results.
	Search(ctx context.Context, query string, most int) ([]SearchResult, error)
}

// A SearchResult is one page that a search found.
type SearchResult struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	Text  string `json:"text"` // an excerpt
	// Score is how well the page fits, from 0 to 1, as far as the source says.
	Score  float64 `json:"score"`
	Source string  `json:"source"` // the Name of its Searcher; set by Find
}

// Found is the outcome of a search.
type Found struct {
	Results []SearchResult `json:"results"` // the best first
	// Failed are the sources that gave no results because of an error.
	Failed []*SourceError `json:"failed,omitempty"`
}

// A SourceError is the failure of one source.
type SourceError struct {
	Source string
	Err    error
}

// Error names the source and its error.
func (e *SourceError) Error() string { return "web: " + e.Source + ": " + e.Err.Error() }

// Unwrap returns the error of the source.
func (e *SourceError) Unwrap() error { return e.Err }

// MarshalText returns the source and the class of its error.
func (e *SourceError) MarshalText() ([]byte, error) {
	return []byte(e.Source + ": " + fault.Of(e.Err).String()), nil
}

// Find searches in all sources in parallel, and merges their results: of a page that several found,
// the result with the best score stays, and the best come first. Each source has 10 s. If some
// fail, the results are those of the others; if all fail, Find returns their errors. most is how
// many results it returns, at most 20; 0: 10.
func Find(ctx context.Context, query string, most int, searchers ...Searcher) (*Found, error) {
	query = strings.TrimSpace(query)
	switch {
	case len(searchers) == 0:
		return nil, errors.New("web: there is no source to search in; give at least one Searcher")
	case query == "" || len(query) > longestQuery:
		return nil, fault.Errorf(fault.Invalid, "web: the query has %d bytes; give 1 to %d", len(query), longestQuery)
	case most < 0 || most > mostFound:
		return nil, fault.Errorf(fault.Invalid, "web: %d results are wanted; ask for 1 to %d", most, mostFound)
	case most == 0:
		most = defaultFound
	}
	type answer struct {
		results []SearchResult
		err     error
	}
	answers := make([]answer, len(searchers))
	var asked sync.WaitGroup
	for i, s := range searchers {
		answers[i].err = errExited // until it has returned
		asked.Go(func() { answers[i].results, answers[i].err = searchIn(ctx, s, query, most) })
	}
	asked.Wait()
	found := new(Found)
	var errs []error
	var all []SearchResult
	for i, s := range searchers {
		a := answers[i]
		if a.err != nil {
			e := &SourceError{Source: nameOf(s), Err: a.err}
			found.Failed, errs = append(found.Failed, e), append(errs, e)
		}
		all = append(all, a.results...)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(errs) == len(searchers) {
		return nil, errors.Join(errs...)
	}
	found.Results = merge(all, most)
	return found, nil
}

// errExited is the error of a Searcher that has ended its goroutine.
var errExited = errors.New("the source ended its goroutine")

// searchIn searches in one source. A panic of a Searcher, or of a method of its error, is its
// error.
func searchIn(ctx context.Context, s Searcher, query string, most int) (results []SearchResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			results, err = nil, fmt.Errorf("the source panicked: %v", v)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, searchTime,
		fault.Errorf(fault.Transient, "no answer within %v", searchTime))
	defer cancel()
	given, err := s.Search(ctx, query, most)
	if err != nil {
		if v := fault.Panics(err); v != nil {
			err = fmt.Errorf("the source returned an error that panics: %v", v)
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	name := nameOf(s)
	for _, r := range given[:min(len(given), mostFound)] {
		if r.URL = pageURL(r.URL); r.URL == "" {
			continue
		}
		r.Title, r.Text, r.Source = line(r.Title, longestTitle),
			clip(strings.TrimSpace(visible.Text(r.Text)), longestText), name
		if r.Score = min(max(r.Score, 0), 1); math.IsNaN(r.Score) {
			r.Score = 0
		}
		results = append(results, r)
	}
	return results, nil
}

func nameOf(s Searcher) (name string) {
	defer func() {
		if recover() != nil {
			name = "a source without a name"
		}
	}()
	return line(s.Name(), longestSource)
}

// AtLeast returns a Searcher with only those results of s whose score is at least score.
func AtLeast(score float64, s Searcher) Searcher { return atLeast{s, score} }

type atLeast struct {
	Searcher
	score float64
}

func (a atLeast) Search(ctx context.Context, query string, most int) ([]SearchResult, error) {
	results, err := a.Searcher.Search(ctx, query, most)
	return slices.DeleteFunc(slices.Clone(results), func(r SearchResult) bool { return !(r.Score >= a.score) }), err
}

// A SearchInput is the input of the tool of [Search].
type SearchInput struct {
	Query string `json:"query" description:"what to search for, at most 400 bytes"`
	Count int    `json:"count" description:"how many results" minimum:"1" maximum:"20" default:"10"`
}

// Search returns the tool web.search, which searches in all sources as [Find] does. The model gets
// the results marked by [tools.Untrusted], and learns which sources failed; the Data of the result
// is the [*Found].
func Search(searchers ...Searcher) tools.Tool { return searchTool{slices.Clone(searchers)} }

type searchTool struct{ searchers []Searcher }

// Define checks the sources and compiles the tool.
func (t searchTool) Define() (*tools.Definition, error) {
	if len(t.searchers) == 0 || slices.Contains(t.searchers, nil) {
		return nil,
			fmt.Errorf("tools: %s: there is no Searcher, or one is nil; give at least one, such as that of NewTavily",
				searchToolName)
	}
	return tools.New(tools.Spec{
		Name:        searchToolName,
		Description: "Searches the web. Each result has a title, a URL and an excerpt.",
		ReadOnly:    true,
		Outside:     true,
	}, func(ctx context.Context, in SearchInput) (tools.Result, error) {
		found, err := Find(ctx, in.Query, in.Count, t.searchers...)
		if err != nil {
			return tools.Result{}, err
		}
		res := tools.Text(found.text())
		res.Data = found
		return res, nil
	}).Define()
}

// text is the outcome as a model reads it.
func (f *Found) text() string {
	var b strings.Builder
	if len(f.Results) == 0 {
		b.WriteString("Nothing was found.")
	} else {
		var list strings.Builder
		for i, r := range f.Results {
			fmt.Fprintf(&list, "%d. %s\n   %s\n   %s\n", i+1, r.Title, r.URL, strings.Join(strings.Fields(r.Text), " "))
		}
		b.WriteString(tools.Untrusted("a web search", strings.TrimSuffix(list.String(), "\n")))
	}
	for _, e := range f.Failed {
		fmt.Fprintf(&b, "\n\nThe source %s failed (%v), so results may be missing.", e.Source, fault.Of(e.Err))
	}
	return b.String()
}
