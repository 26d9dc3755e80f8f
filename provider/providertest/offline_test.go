package providertest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/stretchr/testify/require"
)

func TestRealCallsAreRefusedAndLoopbackIsNot(t *testing.T) {
	before := http.DefaultTransport
	t.Run("while it is on", func(t *testing.T) {
		NoNetwork(t)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/away" {
				http.Redirect(w, r, "https://api.example.com/", http.StatusFound)
				return
			}
			io.WriteString(w, "hello")
		}))
		defer server.Close()

		for _, url := range []string{"https://api.example.com/v1", "http://192.0.2.1/", "http://localhost.example.com/",
			server.URL + "/away"} {
			_, err := http.Post(url, "text/plain", strings.NewReader("x"))
			require.ErrorContains(t, err, "over the network")
			require.Equal(t, fault.Permanent, fault.Of(err))
		}
		for _, url := range []string{server.URL, strings.Replace(server.URL, "127.0.0.1", "localhost", 1)} {
			res, err := http.Get(url)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, "hello", string(body))
		}
		http.DefaultClient.CloseIdleConnections()
	})
	require.Same(t, before, http.DefaultTransport)
}

type closer struct {
	io.Reader
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

func TestARefusedRequestsBodyIsClosed(t *testing.T) {
	body := &closer{Reader: strings.NewReader("x")}
	req, err := http.NewRequest(http.MethodPost, "http://example.com", nil)
	require.NoError(t, err)
	req.Body = body
	_, err = Offline().RoundTrip(req)
	require.Error(t, err)
	require.True(t, body.closed)
	_, err = Offline().RoundTrip(&http.Request{})
	require.Error(t, err)
}

func TestNoNetworkKeepsParallelTestsOut(t *testing.T) {
	NoNetwork(t)
	require.Panics(t, func() { t.Parallel() })
}
