package gemini_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

// offline returns a model that always gets that body as its answer.
func offline(t testing.TB, body []byte) *gemini.Model {
	return connect(t, gemini.Config{}, &wire.Offline{Reply: wire.Always(200, string(body))})
}

func offlineReader(t testing.TB, body io.Reader) *gemini.Model {
	return connect(t, gemini.Config{},
		&wire.Offline{Reply: func(*http.Request) *http.Response { return wire.Reply(200, body) }})
}

func connect(t testing.TB, cfg gemini.Config, tr http.RoundTripper) *gemini.Model {
	t.Helper()
	cfg.HTTPClient = &http.Client{Transport: tr}
	if cfg.BaseURL == "" {
		cfg.BaseURL = "http://localhost"
	}
	m, err := gemini.New(cfg)
	require.NoError(t, err)
	return m
}

// sent returns the body of a request.
func sent(t testing.TB, req *provider.Request) map[string]json.RawMessage {
	t.Helper()
	text, err := sentText(t, req)
	require.NoError(t, err)
	var body map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &body))
	return body
}

func sentText(t testing.TB, req *provider.Request) ([]byte, error) {
	tr := &wire.Offline{Reply: wire.Always(200, `{"candidates":[{"finishReason":"STOP"}]}`)}
	_, err := provider.Generate(t.Context(), connect(t, gemini.Config{}, tr), req)
	if err != nil {
		return nil, err
	}
	return tr.Bodies[0], nil
}
