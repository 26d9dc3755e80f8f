package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// A route is a method and a path, with what serves it.
type route struct {
	method, path string
	serve        func(s *server, w http.ResponseWriter, r *http.Request)
}

const (
	get   = http.MethodGet
	post  = http.MethodPost
	put   = http.MethodPut
	patch = http.MethodPatch
	del   = http.MethodDelete
)

// base is the path of the site.
const base = "/v1/teams/{team}/sites/{site}/environments/{env}"

// none is the body of a request that has none.
type none struct{}

// on makes a route of a function with a body of the type In, whose answer has a message.
func on[In, Out any](method, path, message string, fn func(c *call, in In) (Out, error)) route {
	return withStatus(http.StatusOK, method, path, message, fn)
}

// made is a POST that creates something.
func made[In, Out any](path, message string, fn func(c *call, in In) (Out, error)) route {
	return withStatus(http.StatusCreated, post, path, message, fn)
}

func withStatus[In, Out any](status int, method, path, message string, fn func(*call, In) (Out, error)) route {
	return route{method, path, func(s *server, w http.ResponseWriter, r *http.Request) {
		c := &call{Request: r, w: w}
		var in In
		var out Out
		var err error
		if reflect.TypeFor[In]() != reflect.TypeFor[none]() {
			err = c.decode(&in)
		}
		if err == nil {
			out, err = fn(c, in)
		}
		if err != nil {
			s.failed(w, r, err)
			return
		}
		answer(w, status, message, out)
	}}
}

// list serves a part of a list of the site.
func list[T any](fn func(context.Context, site.Query) (site.List[T], error)) func(*call, none) (site.List[T], error) {
	return func(c *call, _ none) (found site.List[T], err error) {
		q, err := c.query()
		if err != nil {
			return found, err
		}
		return fn(c.Context(), q)
	}
}

// all serves what needs nothing but the site.
func all[Out any](fn func(context.Context) (Out, error)) func(*call, none) (Out, error) {
	return func(c *call, _ none) (Out, error) { return fn(c.Context()) }
}

// body serves a method of the site with its request as the body.
func body[In, Out any](fn func(context.Context, In) (Out, error)) func(*call, In) (Out, error) {
	return func(c *call, in In) (Out, error) { return fn(c.Context(), in) }
}

// named serves a method of the site that takes a part of the path.
func named[Out any](part string, fn func(context.Context, string) (Out, error)) func(*call, none) (Out, error) {
	return func(c *call, _ none) (Out, error) { return fn(c.Context(), c.PathValue(part)) }
}

// Bodies of requests, where they differ from the requests of the site.
type (
	pageChange struct {
		Slug *string `json:"slug,omitempty"`
		site.UpdatePage
	}
	contentsBody struct {
		Contents map[string]map[string]any `json:"contents"` // by a section's id or key, then by slot
		Prune    bool                      `json:"prune,omitempty"`
	}
	newSection struct {
		SectionDefID string         `json:"sectionDefId"` // id or key
		SortOrder    *int           `json:"sortOrder,omitempty"`
		Content      map[string]any `json:"content,omitempty"`
		Locale       string         `json:"locale,omitempty"`
	}
	entryBody struct {
		Slug    string         `json:"slug,omitempty"`
		Title   string         `json:"title,omitempty"`
		Status  string         `json:"status,omitempty"` // draft or published
		Locale  string         `json:"locale,omitempty"`
		Content map[string]any `json:"content,omitempty"`
	}
	entryContents struct {
		Content map[string]any `json:"content"`
	}
	itemsBody struct {
		Items []site.NavItem `json:"items"`
	}
	resourceQuery struct {
		Query string `json:"query"`
		Type  string `json:"type,omitempty"`  // page, section_def, collection or entry
		Limit int    `json:"limit,omitempty"` // default 3
	}
	resources struct {
		Results []site.Hit `json:"results"`
	}
)
