package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools/web"
)

func TestTheEnvironmentNamesTheSources(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		fmt.Fprint(w, `{"results":[{"title":"News","url":"https://example.com/news","content":"new","score":0.9}]}`)
	}))
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	tavily, searxng := map[string]string{"TAVILY_API_KEY": " secret-key ", "TAVILY_BASE_URL": srv.URL},
		map[string]string{"SEARXNG_URL": srv.URL}
	for _, tc := range []struct {
		set   []map[string]string
		about string
		asked []string
	}{
		{nil, "", nil},
		{[]map[string]string{{"TAVILY_API_KEY": "k"}}, "tavily", nil},
		{[]map[string]string{tavily}, "tavily at " + host, []string{"POST /search Bearer secret-key"}},
		{[]map[string]string{searxng}, "searxng at " + host, []string{"GET /search "}},
		{[]map[string]string{tavily, searxng}, "tavily at " + host + ", searxng at " + host,
			[]string{"POST /search Bearer secret-key", "GET /search "}},
	} {
		found, about, err := web.From(func(name string) string {
			for _, vars := range tc.set {
				if v, ok := vars[name]; ok {
					return v
				}
			}
			return ""
		})
		require.NoError(t, err)
		require.Equal(t, tc.about, about)
		if asked = nil; tc.asked == nil {
			continue
		}
		for _, s := range found {
			results, err := s.Search(t.Context(), "news", 3)
			require.NoError(t, err)
			require.Len(t, results, 1)
		}
		require.Equal(t, tc.asked, asked)
	}
}

func TestAWrongVariableIsNamedWithoutItsValue(t *testing.T) {
	for name, value := range map[string]string{"TAVILY_API_KEY": "sec\nret", "SEARXNG_URL": "ftp://secret"} {
		_, _, err := web.From(func(n string) string {
			if n == name {
				return value
			}
			return ""
		})
		require.ErrorContains(t, err, name)
		require.NotContains(t, err.Error(), "secret")
	}
	found, about, err := web.From(nil)
	require.NoError(t, err)
	require.Empty(t, found)
	require.Empty(t, about)
	t.Setenv("TAVILY_API_KEY", "")
	t.Setenv("SEARXNG_URL", "http://localhost:8888")
	_, about, err = web.FromEnv()
	require.NoError(t, err)
	require.Equal(t, "searxng at localhost:8888", about)
}
