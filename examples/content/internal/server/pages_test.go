package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/server"
)

func TestThePagesAndTheirFilesAreServedWithAStrictPolicy(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(server.Pages())
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		srv.Close()
	})
	get := func(path string) (status int, body string) {
		res, err := http.Get(srv.URL + path)
		require.NoError(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Contains(t, res.Header.Get("Content-Security-Policy"), "default-src 'none'", path)
		require.NotContains(t, res.Header.Get("Content-Security-Policy"), "unsafe")
		return res.StatusCode, string(text)
	}
	for _, path := range []string{"/", "/login", "/portfolio", "/admin", "/artifacts/some-id"} {
		status, body := get(path)
		require.Equal(t, http.StatusOK, status, path)
		files := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(body, -1)
		require.Greater(t, len(files), 10)
		weight := len(body)
		for _, f := range files {
			status, text := get(f[1])
			require.Equal(t, http.StatusOK, status, f[1])
			weight += len(text)
		}
		require.Less(t, weight, 300_000, "of the page, uncompressed") // 276,000; what is loaded on demand isn't in it
	}
	status, _ := get("/elsewhere")
	require.Equal(t, http.StatusNotFound, status)
}
