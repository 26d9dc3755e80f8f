package providertest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/internal/httpguard"
	"github.com/pawlkit/pawl/provider/secret"
)

// A Recorder is a [http.RoundTripper] that passes requests on, and writes them with their answers
// into a file, in the form that [ReadCase] reads and [Replay] serves: a [Case] of all exchanges
// that were made through it, in the order of the requests. Answers pass through it as they come; an
// exchange is in the file once its body was closed, also if that was before its end. A request that
// got no answer isn't recorded. It is safe for concurrent use.
//
//	client := &http.Client{Transport: providertest.Record("testdata/weather.json", nil)}
//
// What is secret is replaced by [secret.Redacted] before anything is written. Of headers only
// content types, versions, request ids, rate limits and advice to wait are kept. The values of the
// request's other headers and of its address's query, of cookies, and of the secrets that were
// passed to [Record] are replaced wherever else they occur, as is what looks like a key of a known
// service or an organization's id. Texts of less than 8 bytes stay. A secret in pieces, such as a
// model repeats it word by word in a stream, isn't found: look at a recording before it is shared.
type Recorder struct {
	path string
	next http.RoundTripper

	mu      sync.Mutex  // guards what follows, and the file
	begun   []*Exchange // with secrets, in the order of the requests; nil: no answer, or not at its end yet
	secrets []string
	err     error
}

// Record returns a Recorder that writes to the file, whose folder is made if need be. A file that
// stands there is replaced with the first exchange. next makes the requests; nil:
// [http.DefaultTransport].
func Record(path string, next http.RoundTripper, secrets ...string) *Recorder {
	return &Recorder{path: path, next: next, secrets: secrets}
}

// RoundTrip passes the request on.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	there := req.Clone(req.Context())
	var sent []byte
	if req.Body != nil {
		var err error
		sent, err = io.ReadAll(req.Body)
		if err = cmp.Or(err, req.Body.Close()); err != nil {
			return nil, err
		}
		there.Body = io.NopCloser(bytes.NewReader(sent))
		there.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(sent)), nil }
	}
	r.mu.Lock()
	slot := len(r.begun)
	r.begun = append(r.begun, nil)
	r.secrets = append(r.secrets, secretsOf(req, nil)...) // also of one that gets no answer
	r.mu.Unlock()
	next := r.next
	if next == nil {
		next = http.DefaultTransport
	}
	res, err := next.RoundTrip(there)
	if err != nil || res.StatusCode < 200 {
		return res, err
	}
	header := res.Header.Clone()
	res.Body = &recordedBody{ReadCloser: res.Body, done: func(body []byte, end error) {
		r.end(slot, req, sent, res.StatusCode, header, body, end)
	}}
	return res, nil
}

// Err returns the first error of writing the file. An error of the file is none of the exchange,
// which goes on.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// end records an exchange and writes the file.
func (r *Recorder) end(slot int, req *http.Request, sent []byte, status int, header http.Header, body []byte,
	end error) {
	x := &Exchange{
		Request: RecordedRequest{Method: cmp.Or(req.Method, http.MethodGet), URL: address(req.URL),
			Headers: kept(req.Header), Body: string(sent)},
		Response: RecordedResponse{Status: status, Headers: kept(header), Body: string(body),
			Stream: isStream(header.Get("Content-Type"))},
	}
	switch encoding := header.Get("Content-Encoding"); {
	case encoding != "": // secrets can't be found in what is compressed
		x.Response.Body, x.Notes = "", []string{fmt.Sprintf("the body was left out: its encoding is %q", encoding)}
	case end == nil:
		x.Notes = []string{fmt.Sprintf("the client closed the body after %d bytes, before its end was read", len(body))}
	case end != io.EOF:
		x.Notes = []string{fmt.Sprintf("the body broke off after %d bytes: %v", len(body), end)}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun[slot] = x
	r.secrets = append(r.secrets, secretsOf(req, header)...)
	if err := r.clean().WriteFile(r.path); err != nil && r.err == nil {
		r.err = err
	}
}

// clean returns what is recorded so far, without secrets. mu is held.
func (r *Recorder) clean() *Case {
	values := secret.NewValues(r.secrets...)
	clean := func(text string) string {
		return looksSecret.ReplaceAllLiteralString(values.Text(text), secret.Redacted)
	}
	c := &Case{Name: strings.TrimSuffix(filepath.Base(r.path), filepath.Ext(r.path))}
	for _, begun := range r.begun {
		if begun == nil {
			continue
		}
		x := *begun
		x.Request.URL = clean(x.Request.URL)
		x.Request.Body, x.Request.Base64 = bodyText([]byte(clean(x.Request.Body)))
		x.Response.Body, x.Response.Base64 = bodyText([]byte(clean(x.Response.Body)))
		x.Notes = slices.Clone(x.Notes)
		for i, note := range x.Notes {
			x.Notes[i] = clean(note)
		}
		for _, headers := range []*map[string]string{&x.Request.Headers, &x.Response.Headers} {
			cleaned := map[string]string{}
			for name, value := range *headers {
				cleaned[name] = clean(value)
			}
			*headers = cleaned
		}
		c.Exchanges = append(c.Exchanges, x)
	}
	return c
}

// looksSecret matches keys of known services and ids of organizations, wherever they stand.
var looksSecret = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9._-]{16,}|` +
	`(?:gsk_|xai-|pplx-|hf_|ghp_|r8_|nvapi-)[A-Za-z0-9_-]{20,}|(?i:bearer) [A-Za-z0-9._~+/=-]{8,}|` +
	`eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}|(?:org-|proj_)[A-Za-z0-9]{8,}|` +
	`user-[A-Za-z0-9]{16,})`)

// secretsOf returns what an exchange tells of secrets.
func secretsOf(req *http.Request, answered http.Header) (secrets []string) {
	for name, values := range req.Header {
		if httpguard.IsSecret(name) {
			secrets = append(secrets, values...)
		}
	}
	for _, c := range append(req.Cookies(), (&http.Response{Header: answered}).Cookies()...) {
		secrets = append(secrets, c.Value)
	}
	for _, h := range []http.Header{req.Header, answered} {
		for _, name := range []string{"Openai-Organization", "Openai-Project", "Anthropic-Organization-Id"} {
			secrets = append(secrets, h.Values(name)...)
		}
	}
	if user := req.URL.User; user != nil {
		password, _ := user.Password()
		secrets = append(secrets, user.Username(), password)
	}
	return append(secrets, httpguard.QuerySecrets(req.URL.Query())...)
}

// address returns an address without its credentials.
func address(u *url.URL) string {
	public := *u
	public.User = nil
	query := public.Query()
	for name := range query {
		if len(httpguard.QuerySecrets(url.Values{name: {""}})) > 0 {
			query.Set(name, secret.Redacted)
			public.RawQuery = query.Encode()
		}
	}
	return public.String()
}

var keptHeaders = []string{"content-type", "accept", "anthropic-version", "anthropic-beta", "openai-beta",
	"retry-after", "retry-after-ms",
	"request-id", "x-request-id", "apim-request-id", "x-ms-request-id", "x-amzn-requestid"}

func kept(h http.Header) map[string]string {
	out := map[string]string{}
	for name := range h {
		lower := strings.ToLower(name)
		if slices.Contains(keptHeaders, lower) || strings.Contains(lower, "ratelimit") {
			out[lower] = h.Get(name)
		}
	}
	return out
}

// recordedBody passes a body through, and hands over what came of it once it is closed.
type recordedBody struct {
	io.ReadCloser
	done func(body []byte, end error)

	mu     sync.Mutex // a body may be closed while it is read
	read   []byte
	end    error // that ended it
	closed bool
}

// Read reads on, and keeps what came.
func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.read = append(b.read, p[:n]...)
		if b.end == nil {
			b.end = err
		}
	}
	return n, err
}

// Close closes the body and records the exchange.
func (b *recordedBody) Close() error {
	err := b.ReadCloser.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.closed = true
		b.done(b.read, b.end)
	}
	return err
}
