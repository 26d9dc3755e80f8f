package gemini

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"google.golang.org/genai"
)

// placeholder is the SDK's key. The SDK has one key for all calls; the captureTransport replaces it by that of the call.
const placeholder = "-"

// A captureTransport is the transport of the SDK's client. It sends the SDK's requests, and keeps the answers for this
// package: the SDK gets an empty one. The SDK's own decoder would drop unknown parts and finish reasons, frames
// that aren't server-sent events and the headers of errors, and would return calls that come in pieces as several calls.
type captureTransport struct {
	client http.Client
	header http.Header
}

func newCaptureTransport(cfg *Config) *captureTransport {
	t := &captureTransport{client: *http.DefaultClient, header: cfg.Header.Clone()}
	if cfg.HTTPClient != nil {
		t.client = *cfg.HTTPClient
	}
	// A redirect to another host, or to one without TLS, would get the key, because net/http doesn't know that this header is secret.
	next := t.client.CheckRedirect
	t.client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch {
		case req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme || len(via) >= mostRedirects:
			return http.ErrUseLastResponse
		case next != nil:
			return next(req, via)
		}
		return nil
	}
	return t
}

// mostRedirects is the default limit of net/http.
const mostRedirects = 10

// A capture is the request and the answer of one call. It is in the context of the SDK's request.
type capture struct {
	key string
	res *http.Response
	err error
}

type captureKey struct{}

// RoundTrip sends a request of Model.capture, and keeps its answer, whose body the caller of capture must close.
func (t *captureTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	d, ok := req.Context().Value(captureKey{}).(*capture)
	if !ok || d.res != nil {
		return nil, http.ErrNotSupported // not a request of this package
	}
	out := req.Clone(req.Context())
	out.Header.Set("Accept", "text/event-stream, application/json")
	out.Header.Del(keyHeader)
	if d.key != "" {
		out.Header.Set(keyHeader, d.key)
	}
	for name, values := range t.header {
		out.Header[http.CanonicalHeaderKey(name)] = values
	}
	if d.res, d.err = t.client.Do(out); d.err != nil {
		return nil, d.err
	}
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}, nil
}

// A method is a method of the SDK that makes a request.
type method func(ctx context.Context, c *genai.Client, model string, options *genai.HTTPOptions) error

func streamContent(ctx context.Context, c *genai.Client, model string, options *genai.HTTPOptions) error {
	once := false // the SDK would repeat a request with an empty answer
	for _, err := range c.Models.GenerateContentStream(ctx, model, nil,
		&genai.GenerateContentConfig{HTTPOptions: options, AutomaticContinuation: &once}) {
		if err != nil {
			return err
		}
	}
	return nil
}

func countTokens(ctx context.Context, c *genai.Client, model string, options *genai.HTTPOptions) error {
	_, err := c.Models.CountTokens(ctx, model, nil, &genai.CountTokensConfig{HTTPOptions: options})
	return err
}

// capture makes one request through the SDK, with this body instead of the SDK's.
func (m *Model) capture(ctx context.Context, call method, p *prepared, key string) (*http.Response, error) {
	d := &capture{key: key}
	err := call(context.WithValue(ctx, captureKey{}, d), m.client, p.model, &genai.HTTPOptions{
		ExtrasRequestProvider: func(map[string]any) map[string]any { return loose(p.body) },
	})
	if d.res != nil {
		return d.res, nil
	}
	if d.err != nil {
		err = d.err
	}
	return nil, err
}

func loose(body map[string]json.RawMessage) map[string]any {
	out := make(map[string]any, len(body))
	for key, value := range body {
		out[key] = value
	}
	return out
}
