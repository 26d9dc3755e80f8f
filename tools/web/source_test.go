package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools/web"
)

// service starts a search service and returns its address.
func service(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return srv.URL
}

// The answer is the example of Tavily's documentation, with a second result.
func TestTavilyIsAskedAsDocumented(t *testing.T) {
	address := service(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "POST /search", r.Method+" "+r.URL.Path)
		require.Equal(t, "Bearer tvly-secret-key", r.Header.Get("Authorization"))
		require.Equal(t, "application/json", r.Header.Get("Content-Type"))
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		require.JSONEq(t,
			`{"query":"who is Leo Messi?","max_results":5,"include_domains":["reddit.com"]}`, string(body))
		fmt.Fprint(w, `{"query":"who is Leo Messi?","answer":null,"images":[],"results":[
			{"title":"Lionel Messi Facts","url":"https://www.britannica.com/facts/Lionel-Messi","content":"Lionel Messi, an Argentine footballer","score":0.81025416,"raw_content":null,"favicon":"https://britannica.com/favicon.png"},
			{"title":"Other","url":"https://example.com/","content":"x","score":0.4}],
			"response_time":"1.67","auto_parameters":{},"usage":{"credits":1},"request_id":"123e4567"}`)
	})
	s, err := web.NewTavily(web.TavilyConfig{Key: " tvly-secret-key\n", Domains: []string{"reddit.com"},
		BaseURL: address + "/"})
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", s, s, s), "secret")
	found, err := web.Find(t.Context(), "who is Leo Messi?", 5, web.AtLeast(0.6, s))
	require.NoError(t, err)
	require.Equal(t,
		[]web.SearchResult{{Title: "Lionel Messi Facts", URL: "https://www.britannica.com/facts/Lionel-Messi",
			Text: "Lionel Messi, an Argentine footballer", Score: 0.81025416, Source: "tavily"}}, found.Results)
}

func TestErrorsOfTavily(t *testing.T) {
	status, body := 0, ""
	address := service(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "http://127.0.0.1:1/")
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	s, err := web.NewTavily(web.TavilyConfig{Key: "tvly-secret-key", BaseURL: address})
	require.NoError(t, err)
	for _, c := range []struct {
		status int
		body   string
		class  fault.Class
		says   string
	}{
		{401, `{"detail":{"error":"Unauthorized: missing or invalid API key tvly-secret-key."}}`, fault.UserFixable,
			"missing or invalid API key [redacted]"},
		{400, `{"detail":{"error":"Invalid topic."}}`, fault.Permanent, "Invalid topic."},
		{429, `{"detail":{"error":"Too many requests"}}`, fault.RateLimited, "Too many requests"},
		{432, `{"detail":{"error":"This request exceeds your plan's set usage limit."}}`, fault.UserFixable,
			"limit of the Tavily account"},
		{433, `{"detail":{"error":"limit"}}`, fault.UserFixable, "limit of the Tavily account"},
		{500, `<html>`, fault.Degraded, "status 500"},
		{302, ``, fault.Permanent, "status 302"},
		{200, `<html>`, fault.Permanent, "isn't the JSON"},
		{200, `{"results":[{"url":1}]}`, fault.Permanent, "isn't the JSON"},
		{200, `{"results":"` + strings.Repeat("x", 5<<20), fault.Permanent, "longer than"},
	} {
		status, body = c.status, c.body
		_, err := s.Search(t.Context(), "q", 5)
		var e *web.Error
		if errors.As(err, &e) && e.Sent != "" {
			require.NotContains(t, err.Error(), "opic", "the service wrote this text")
			require.NotContains(t, e.Sent, "secret-key")
			require.Contains(t, err.Error()+" "+e.Sent, c.says)
		} else {
			require.ErrorContains(t, err, c.says)
		}
		require.NotContains(t, err.Error(), "secret-key")
		require.Equal(t, c.class, fault.Of(err), c.says)
		if c.status == 429 {
			_, ok := fault.RetryAfter(err)
			require.True(t, ok)
		}
	}
}

func TestSearXNGIsAskedAsDocumented(t *testing.T) {
	address := service(t, func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "GET /searx/search", r.Method+" "+r.URL.Path)
		require.Equal(t, map[string][]string{"q": {"climate & tech"}, "format": {"json"}},
			map[string][]string(r.URL.Query()))
		require.NoError(t, json.NewEncoder(w).Encode(map[string]any{
			"query": "climate & tech", "number_of_results": 0, "answers": []any{}, "corrections": []any{},
			"infoboxes":   []any{},
			"suggestions": []string{"x"}, "unresponsive_engines": []any{[]string{"google", "timeout"}},
			"results": []map[string]any{
				{"title": "A", "url": "https://a.example/", "content": "Text", "engine": "startpage",
					"engines": []string{"startpage"}, "positions": []int{1},
					"score": 4.0, "category": "general", "parsed_url": []string{"https", "a.example"},
					"publishedDate": nil},
				{"title": "B", "url": "https://b.example/", "content": nil, "score": 1.0},
				{"title": "C", "url": "https://c.example/", "score": 0.5},
			},
		}))
	})
	s, err := web.NewSearXNG(address + "/searx")
	require.NoError(t, err)
	found, err := web.Find(t.Context(), "climate & tech", 2, s)
	require.NoError(t, err)
	require.Equal(t,
		[]web.SearchResult{{Title: "A", URL: "https://a.example/", Text: "Text", Score: 1, Source: "searxng"},
			{Title: "B", URL: "https://b.example/", Score: 0.25, Source: "searxng"}}, found.Results)
}

func TestErrorsOfSearXNG(t *testing.T) {
	address := service(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	s, err := web.NewSearXNG(strings.Replace(address, "http://", "http://user:hunter22@", 1))
	require.NoError(t, err)
	_, err = s.Search(t.Context(), "q", 5)
	remedy, ok := fault.Remedy(err)
	require.True(t, ok)
	require.Contains(t, remedy, "search.formats")
	require.NotContains(t, err.Error(), "hunter22")

	s, err = web.NewSearXNG("http://user:hunter22@127.0.0.1:1")
	require.NoError(t, err)
	_, err = s.Search(t.Context(), "private question", 5)
	require.ErrorContains(t, err, "no answer")
	require.Equal(t, fault.Degraded, fault.Of(err))
	require.NotContains(t, err.Error(), "hunter22")
	require.NotContains(t, err.Error(), "question")
}

func TestTheConfigurationOfASourceIsChecked(t *testing.T) {
	for _, c := range []struct {
		cfg  web.TavilyConfig
		says string
	}{
		{web.TavilyConfig{}, "Key of Tavily is empty"},
		{web.TavilyConfig{Key: "a\nb"}, "Key of Tavily"},
		{web.TavilyConfig{Key: "k", BaseURL: "api.tavily.com"}, "address of Tavily"},
	} {
		_, err := web.NewTavily(c.cfg)
		require.ErrorContains(t, err, c.says)
	}
	for _, address := range []string{"", "ftp://x", "http://x/?q=secret"} {
		_, err := web.NewSearXNG(address)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestASourceThatIsAskedForNoResultsReturnsNone(t *testing.T) {
	address := service(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"results": [{"title": "A", "url": "https://a.example/", "score": 1}]}`))
	})
	s, err := web.NewSearXNG(address)
	require.NoError(t, err)
	for _, most := range []int{0, -1} {
		results, err := s.Search(t.Context(), "q", most)
		require.NoError(t, err)
		require.Empty(t, results)
	}
}
