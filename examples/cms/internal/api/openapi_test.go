package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheDescriptionHasTheRoutesThatAreServed asks each described route whether it is there, and
// counts them.
func TestTheDescriptionHasTheRoutesThatAreServed(t *testing.T) {
	b := newBench(t)
	res, err := b.client.Get(b.url + "/openapi.json")
	require.NoError(t, err)
	defer res.Body.Close()
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string
			Parameters  []struct{ Name, In string }
			RequestBody struct{ Content map[string]any }
			Responses   map[string]struct{ Content map[string]any }
		}
		Components struct{ Schemas map[string]any }
	}
	text := readAll(t, res)
	require.NoError(t, json.Unmarshal(text, &doc))
	require.Equal(t, "3.1.0", doc.OpenAPI)
	ids, n := map[string]bool{}, 0
	for path, operations := range doc.Paths {
		for method, op := range operations {
			n++
			require.False(t, ids[op.OperationID], op.OperationID)
			ids[op.OperationID] = true
			at := path
			for _, p := range op.Parameters {
				if p.In == "path" {
					at = strings.ReplaceAll(at, "{"+p.Name+"}", "unknown")
				}
			}
			require.NotContains(t, at, "{", "every part of the path is described")
			require.Len(t, op.Responses, 2)
			for status, r := range op.Responses {
				require.NotEmpty(t, r.Content, "%s %s %s", method, path, status)
			}
			switch status, envelope := b.request(strings.ToUpper(method), at, "", nil); status {
			case http.StatusNotFound:
				require.NotContains(t, envelope["raw"], "there is no route", "%s %s", method, path)
			case http.StatusMethodNotAllowed:
				t.Errorf("%s %s isn't served", method, path)
			}
		}
	}
	require.Equal(t, 56, n)
	for _, part := range strings.Split(string(text), `"$ref":"`)[1:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(part, "#/components/schemas/"), `"`)
		require.Contains(t, doc.Components.Schemas, name)
	}
}

// TestEveryRouteIsDescribed compares the routes with the document's table.
func TestEveryRouteIsDescribed(t *testing.T) {
	s := &server{}
	s.Site = newBench(t).Site
	routes := append(s.contentRoutes(), s.sessionRoutes()...)
	doc, err := describe(routes)
	require.NoError(t, err)
	for _, rt := range routes {
		require.NotNil(t, doc["paths"].(object)[rt.Path].(object)[strings.ToLower(rt.Method)], "%s %s", rt.Method,
			rt.Path)
		if rt.creates() {
			delete(creatingLeft, rt.Path)
		}
	}
	require.Empty(t, creatingLeft, "each path of creating has a POST")
}

var creatingLeft = func() map[string]bool {
	left := map[string]bool{}
	for path := range creating {
		left[path] = true
	}
	return left
}()
