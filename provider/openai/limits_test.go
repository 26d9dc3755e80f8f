package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

func TestAnAnswerHasTheProvidersRateLimits(t *testing.T) {
	limits := http.Header{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range limits {
			w.Header()[name] = values
		}
		io.WriteString(w,
			`{"id":"1","model":"m","choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	m, err := New(Config{Model: "m", BaseURL: server.URL + "/v1", API: Chat, HTTPClient: server.Client()})
	require.NoError(t, err)
	for _, limits = range []http.Header{nil,
		{"X-Ratelimit-Limit-Requests": {"60"}, "X-Ratelimit-Remaining-Requests": {"59"}}} {
		var first *provider.Extra
		for c, err := range m.Stream(t.Context(), hi()) {
			require.NoError(t, err)
			if c.Kind == provider.KindStart {
				first = c.Extra
			}
		}
		if limits == nil {
			require.Nil(t, first)
			continue
		}
		require.Equal(t, &provider.Extra{RateLimits: limits}, first)
	}
}
