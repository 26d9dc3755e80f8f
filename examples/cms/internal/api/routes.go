package api

import (
	"net/http"
	"reflect"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// A route is one method of one path.
type route struct {
	Method, Path string
	summary      string
	query        []string   // names of query parameters
	in, out      typeSchema // of the body and of the data; nil: none
	form         bool       // the body may be a form
	file         bool       // the body is a form with a file
	download     bool       // the answer is a file
	serve        func(s *server, w http.ResponseWriter, r *http.Request)
}

// none is the body of a request that has none.
type none struct{}

// on makes a route of a function with a body of the type In. The status is 201 for functions that
// create something.
func on[In, Out any](method, path, summary string, fn func(c *call, in In) (Out, error), query ...string) route {
	rt := route{Method: method, Path: path, summary: summary, query: query, out: schemaOf[Out]}
	if in := reflect.TypeFor[In](); in != reflect.TypeFor[none]() {
		rt.in, rt.form = schemaOf[In], in.Kind() == reflect.Struct
	}
	rt.serve = func(s *server, w http.ResponseWriter, r *http.Request) {
		c := &call{Request: r, w: w}
		var in In
		if rt.in != nil {
			if err := c.decode(&in); err != nil {
				s.failed(w, r, err)
				return
			}
		}
		out, err := fn(c, in)
		if err != nil {
			s.failed(w, r, err)
			return
		}
		status := http.StatusOK
		if rt.creates() {
			status = http.StatusCreated
		}
		answer(w, status, summary, out)
	}
	return rt
}

// listOf makes a route of a function that returns a part of a list. query are parameters besides
// those of all lists.
func listOf[T any](path, summary string, fn func(*call, site.Query) (site.List[T], error), query ...string) route {
	return on(http.MethodGet, path, summary, func(c *call, _ none) (site.List[T], error) {
		q, err := c.query()
		if err != nil {
			return site.List[T]{}, err
		}
		return fn(c, q)
	}, append(query, "q", "limit", "offset")...)
}

// creates reports whether a route makes something new, which a POST to a list does.
func (rt route) creates() bool { return rt.Method == http.MethodPost && creating[rt.Path] }

// creating are the paths whose POST creates something.
var creating = map[string]bool{
	base + "/locales": true, base + "/pages": true, base + "/pages/{page}/section": true, base + "/sections": true,
	base + "/collections":                      true,
	base + "/collections/{collection}/entries": true, base + "/media": true, base + "/navigations": true, base +
		"/navigations/{navigation}/items": true,
	"/v1/sessions": true, "/v1/sessions/{session}/messages": true,
}

// base is the path of the site.
const base = "/v1/teams/{team}/sites/{site}/environments/{env}"

// Bodies of requests, where they differ from the requests of the site.
type (
	pageChange struct {
		Name        *string        `json:"name,omitempty"`
		Slug        *string        `json:"slug,omitempty"`
		Description *string        `json:"description,omitempty"`
		Status      *string        `json:"status,omitempty"` // draft or published
		Indexing    *bool          `json:"indexing,omitempty"`
		Meta        map[string]any `json:"meta,omitempty"` // merged into the stored values; null removes a key
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
	sectionDefChange struct {
		site.DefinitionFields
		TemplateKey    *string `json:"templateKey,omitempty"`
		DefaultVariant *string `json:"defaultVariant,omitempty"`
	}
	collectionChange struct {
		Name        *string `json:"name,omitempty"`
		Slug        *string `json:"slug,omitempty"`
		Description *string `json:"description,omitempty"`
		Status      *string `json:"status,omitempty"`
	}
	elementsBody struct {
		Elements site.Elements `json:"elements_structure"`
		Prune    bool          `json:"prune,omitempty"`
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
	mediaChange struct {
		Name *string `json:"name,omitempty"`
		Alt  *string `json:"alt,omitempty"`
	}
	navigationBody struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}
	itemBody struct {
		ParentID   string `json:"parentId,omitempty"`
		Value      string `json:"value"`
		TargetType string `json:"targetType"`
		TargetUUID string `json:"targetUuid,omitempty"`
		URL        string `json:"url,omitempty"`
		SortOrder  int    `json:"sortOrder,omitempty"`
	}
	itemsBody struct {
		Items []site.NavItem `json:"items"`
	}
	localeBody struct {
		Code   string `json:"code,omitempty"`
		Name   string `json:"name,omitempty"`
		Status string `json:"status,omitempty"`
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

func (i itemBody) item(id string) site.NavItem {
	return site.NavItem{ID: id, ParentID: i.ParentID, Value: i.Value, TargetType: i.TargetType,
		TargetUUID: i.TargetUUID, URL: i.URL, SortOrder: i.SortOrder}
}
