package features

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

// An API is a column of the table.
type API struct {
	Column string // its head
	Key    string // of options
	Model  string
	Answer string // one that says "Hi."
	// Open returns a Provider that sends requests through transport; at is an address instead of
	// the usual one, or empty.
	Open func(t testing.TB, at string, transport http.RoundTripper) provider.Provider
}

// A row is what shows that the cells of a row of the table are true, by the head of the column. A
// fragment of a request is JSON that the body has to contain: members of objects, elements of
// lists. One that begins with "~" is text that the body contains, with "!" text that it lacks.
type row struct {
	ask     func(*provider.Request) // says the feature by fields
	with    func(*provider.Request) // what it needs besides
	said    map[string]string       // fragments of the request
	options map[string]string       // options of the request, which are fragments of its body
	tool    map[string]string       // options of a tool, which are members of some object of its body
	read    map[string][2]string    // an answer, and what the response has of it as JSON
	model   map[string]string       // instead of the API's
	at      map[string]string       // the address, instead of the API's
}

// Check checks the column of an API on a page.
func Check(t *testing.T, page string, api *API) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	cells := table(t, string(text), api.Column)
	for name := range rows {
		require.Contains(t, cells, name, "the page has no such row")
	}
	for name, words := range cells {
		t.Run(name, func(t *testing.T) {
			r, ok := rows[name]
			require.True(t, ok, "nothing shows what is true of this row")
			_, said := r.said[api.Column]
			_, options := r.options[api.Column]
			_, tool := r.tool[api.Column]
			_, read := r.read[api.Column]
			require.Equal(t, said, slices.Contains(words, "said"))
			require.Equal(t, options || tool, slices.Contains(words, "options"))
			require.Equal(t, read, slices.Contains(words, "read"))
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(words))), len(words), "a word comes twice")
			for _, word := range words {
				api.check(t, &r, word)
			}
		})
	}
}

// head is the first row of the table.
var head = []string{"feature", "Chat", "Responses", "Claude", "Gemini", "Converse"}

// table returns the words of a column, by the first cell of each row.
func table(t *testing.T, page, column string) map[string][]string {
	cells := map[string][]string{}
	at := -1
	for line := range strings.Lines(page) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "|")
		row := strings.Split(strings.TrimSuffix(line, "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		switch {
		case !ok:
			at = -1
		case row[0] == "feature":
			require.Equal(t, head, row, "nothing checks another column")
			at = slices.Index(row, column)
		case at > 0 && !strings.HasPrefix(row[0], "---"):
			require.Greater(t, len(row), at, "%s has no cell for %s", row[0], column)
			require.NotContains(t, cells, row[0], "the page has two such rows")
			cells[row[0]] = strings.Split(row[at], ", ")
		}
	}
	require.NotEmpty(t, cells, "the page has no table with the column %s", column)
	return cells
}

func (api *API) check(t *testing.T, r *row, word string) {
	switch word {
	case "—":
		require.Nil(t, r.ask, "a field says it: said, left out or refused")
	case "said":
		want := r.said[api.Column]
		require.False(t, holds(api.sent(t, r, r.with), want), "the body has %s without being asked", want)
		body := api.sent(t, r, r.with, r.ask)
		require.True(t, holds(body, want), "%s isn't in %s", want, body)
	case "options":
		if want, ok := r.options[api.Column]; ok {
			body := api.sent(t, r, r.with, func(req *provider.Request) {
				req.Options = map[string]json.RawMessage{api.Key: json.RawMessage(want)}
			})
			require.True(t, holds(body, want), "%s isn't in %s", want, body)
		}
		if want, ok := r.tool[api.Column]; ok {
			body := api.sent(t, r, r.with, func(req *provider.Request) {
				one := find
				one.Options = map[string]json.RawMessage{api.Key: json.RawMessage(want)}
				req.Tools = []provider.Tool{one}
			})
			require.True(t, anywhere(decoded(body), decoded([]byte(want))), "%s isn't in %s", want, body)
		}
	case "left out":
		require.NotNil(t, r.ask, "no field says it: —")
		require.Equal(t, string(api.sent(t, r, r.with)), string(api.sent(t, r, r.with, r.ask)))
	case "refused":
		require.NotNil(t, r.ask, "no field says it: —")
		s := &server{answer: api.Answer}
		_, err := provider.Generate(t.Context(), api.Open(t, r.at[api.Column], s), api.request(r, r.with, r.ask))
		require.Error(t, err)
		require.Empty(t, s.bodies, "it is refused before anything is sent")
	case "read":
		answer, want := r.read[api.Column][0], r.read[api.Column][1]
		s := &server{answer: answer}
		res, err := provider.Generate(t.Context(), api.Open(t, r.at[api.Column], s), api.request(r, r.with))
		require.NoError(t, err)
		require.True(t, res.Complete)
		text, err := json.Marshal(res)
		require.NoError(t, err)
		require.Contains(t, string(text), want)
	default:
		require.Fail(t, "no such word", "%q: said, read, options, refused, left out or —", word)
	}
}

// find is the tool of the requests.
var find = provider.Tool{Name: "find", Description: "Finds.", Schema: json.RawMessage(
	`{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"additionalProperties":false}`)}

// request returns a request with what functions add; they may be nil.
func (api *API) request(r *row, add ...func(*provider.Request)) *provider.Request {
	req := &provider.Request{Model: api.Model, MaxOutput: 4096, Messages: []provider.Message{provider.User("Hello.")}}
	if model := r.model[api.Column]; model != "" {
		req.Model = model
	}
	for _, f := range add {
		if f != nil {
			f(req)
		}
	}
	return req
}

// sent returns the body of a request.
func (api *API) sent(t *testing.T, r *row, add ...func(*provider.Request)) []byte {
	s := &server{answer: api.Answer}
	// The answer need not be one to this request.
	_, err := provider.Generate(t.Context(), api.Open(t, r.at[api.Column], s), api.request(r, add...))
	require.Len(t, s.bodies, 1, "%v", err)
	return s.bodies[0]
}

// A server gives the same answer to each request.
type server struct {
	answer string
	bodies [][]byte
}

func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.bodies = append(s.bodies, body)
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(s.answer))}, nil
}

// holds reports whether a body has a fragment.
func holds(body []byte, fragment string) bool {
	if text, ok := strings.CutPrefix(fragment, "~"); ok {
		return bytes.Contains(body, []byte(text))
	}
	if text, ok := strings.CutPrefix(fragment, "!"); ok {
		return !bytes.Contains(body, []byte(text))
	}
	return contains(decoded(body), decoded([]byte(fragment)))
}

func decoded(text []byte) (v any) {
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return v
}

// contains reports whether a value has the members or the elements of another, or is the same.
func contains(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := have.(map[string]any)
		for name, value := range want {
			one, there := object[name]
			ok = ok && there && contains(one, value)
		}
		return ok
	case []any:
		list, ok := have.([]any)
		for _, value := range want {
			ok = ok && slices.ContainsFunc(list, func(one any) bool { return contains(one, value) })
		}
		return ok
	}
	return reflect.DeepEqual(have, want)
}

// anywhere reports whether some value inside another contains a third.
func anywhere(have, want any) bool {
	if contains(have, want) {
		return true
	}
	switch have := have.(type) {
	case map[string]any:
		for _, one := range have {
			if anywhere(one, want) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(have, func(one any) bool { return anywhere(one, want) })
	}
	return false
}
