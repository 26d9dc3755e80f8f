package gemini_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/gemini"
)

// A transport answers requests without a network, and keeps them.
type transport struct {
	reply func(*http.Request) *http.Response

	mu     sync.Mutex // guards what follows
	bodies [][]byte
	asked  []*http.Request
}

func (tr *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		if err := req.Body.Close(); err != nil {
			return nil, err
		}
	}
	tr.mu.Lock()
	tr.bodies, tr.asked = append(tr.bodies, body), append(tr.asked, req)
	tr.mu.Unlock()
	res := tr.reply(req)
	res.Request = req
	return res, nil
}

func reply(status int, body io.Reader, header ...string) *http.Response {
	res := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body), ProtoMajor: 1, ProtoMinor: 1}
	for i := 0; i < len(header); i += 2 {
		res.Header.Set(header[i], header[i+1])
	}
	return res
}

// offline is a model whose every answer has that body.
func offline(t testing.TB, body []byte) *gemini.Model {
	return connect(t, gemini.Config{}, &transport{reply: func(*http.Request) *http.Response { return reply(200, bytes.NewReader(body)) }})
}

func offlineReader(t testing.TB, body io.Reader) *gemini.Model {
	return connect(t, gemini.Config{}, &transport{reply: func(*http.Request) *http.Response { return reply(200, body) }})
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

// sent returns the body that a request is sent with.
func sent(t testing.TB, req *provider.Request) map[string]json.RawMessage {
	t.Helper()
	text, err := sentText(t, req)
	require.NoError(t, err)
	var body map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &body))
	return body
}

func sentText(t testing.TB, req *provider.Request) ([]byte, error) {
	tr := &transport{reply: func(*http.Request) *http.Response {
		return reply(200, bytes.NewReader([]byte(`{"candidates":[{"finishReason":"STOP"}]}`)))
	}}
	_, err := provider.Generate(t.Context(), connect(t, gemini.Config{}, tr), req)
	if err != nil {
		return nil, err
	}
	return tr.bodies[0], nil
}
