package httpguard_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/httpguard"
)

func TestTheSecretsOfRequestsAreLearned(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		server.EnableHTTP2 = h2
		server.StartTLS()
		defer server.Close()
		ctx, secrets := httpguard.Watch(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1?key=in+the+query&alt=sse-events",
			strings.NewReader("hello"))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer odd-shape-1234")
		req.Header.Set("X-Gateway", "gateway word")
		req.Header.Set("User-Agent", "an-open-word")
		res, err := server.Client().Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())

		text := secrets.Text("odd-shape-1234, gateway word, an-open-word, sse-events, in the query")
		want := "[redacted], [redacted], an-open-word, sse-events, in the query"
		if h2 {
			want = "[redacted], [redacted], an-open-word, sse-events, [redacted]"
		}
		require.Equal(t, want, text)

		bad := fmt.Errorf("store: %w", fmt.Errorf("%w: odd-shape-1234", io.ErrUnexpectedEOF))
		clean := secrets.Error(bad)
		require.ErrorIs(t, clean, io.ErrUnexpectedEOF)
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", clean, clean, errors.Unwrap(clean)), "odd-shape")
		plain := errors.New("plain")
		require.Same(t, plain, secrets.Error(plain))
	}
}

func TestAnAddressWithAPortAndItsErrorStayAsTheyAre(t *testing.T) {
	_, secrets := httpguard.Watch(t.Context())
	for _, text := range []string{"http://127.0.0.1:1/x", "http://localhost:8080/users/ann@example.com?page=2"} {
		require.Equal(t, text, secrets.Text(text))
	}
	_, err := http.Get("http://127.0.0.1:1/x")
	clean := secrets.Error(err)
	require.Same(t, err, clean)
	var op *net.OpError
	require.ErrorAs(t, clean, &op)
}

func TestTheValueOfACookieIsASecret(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	ctx, secrets := httpguard.Watch(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	req.Header.Set("Cookie", `theme=dark; session="odd-shape-1234"; csrf=other-shape=56`)
	res, err := server.Client().Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, "dark [redacted] [redacted]", secrets.Text("dark odd-shape-1234 other-shape=56"))
}

func TestWhatLooksLikeASecretIsRemovedThoughNobodySentIt(t *testing.T) {
	_, secrets := httpguard.Watch(t.Context())
	require.Equal(t,
		"Post https://x/?key=[redacted]&x=1, Bearer [redacted] to postgres://me:[redacted]@db/x, [redacted]",
		secrets.Text("Post https://x/?key=abc&x=1, Bearer abcdefgh to postgres://me:hunter2@db/x, "+
			"sk-ant-"+strings.Repeat("a1B2", 12)))
}

func TestRequestsStayAtTheirHost(t *testing.T) {
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch r.URL.Path {
		case "/elsewhere":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case "/here":
			http.Redirect(w, r, "/", http.StatusPermanentRedirect)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusPermanentRedirect)
		}
	}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	post := func(c *http.Client, path string) int {
		res, err := httpguard.SameHost(c).Post(server.URL+path, "text/plain", strings.NewReader("the prompt"))
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	require.Equal(t, http.StatusTemporaryRedirect, post(nil, "/elsewhere"))
	require.Zero(t, reached)
	require.Equal(t, http.StatusOK, post(nil, "/here"))
	asked = 0
	require.Equal(t, http.StatusPermanentRedirect, post(nil, "/loop"))
	require.Equal(t, 10, asked)
	require.Equal(t, http.StatusPermanentRedirect, post(&http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, "/here"), "its own rule holds, too")
	require.Nil(t, http.DefaultClient.CheckRedirect)
}
