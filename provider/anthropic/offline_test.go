package anthropic_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

// offline returns a model that always gets that body as its answer.
func offline(t testing.TB, body []byte) *anthropic.Model {
	return connect(t, anthropic.Config{}, &wire.Offline{Reply: wire.Always(200, string(body))})
}

func offlineReader(t testing.TB, body io.Reader) *anthropic.Model {
	return connect(t, anthropic.Config{},
		&wire.Offline{Reply: func(*http.Request) *http.Response { return wire.Reply(200, body) }})
}

func connect(t testing.TB, cfg anthropic.Config, tr http.RoundTripper) *anthropic.Model {
	t.Helper()
	cfg.HTTPClient = &http.Client{Transport: tr}
	if cfg.BaseURL == "" {
		cfg.BaseURL = "http://localhost"
	}
	m, err := anthropic.New(cfg)
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
	tr := &wire.Offline{Reply: wire.Always(200, `{"type":"message","content":[],"stop_reason":"end_turn"}`)}
	_, err := provider.Generate(t.Context(), connect(t, anthropic.Config{}, tr), req)
	if err != nil {
		return nil, err
	}
	return tr.Bodies[0], nil
}
