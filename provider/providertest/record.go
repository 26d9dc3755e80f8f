package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// RecordConfig says what a [Recorder] records beyond the usual. Its zero value is of use.
type RecordConfig struct {
	// Name is the name of the case; empty: that of the file, without its extension.
	Name string
	// Provider and Wire say whose exchanges these are; empty: as the first request's address tells.
	Provider, Wire string
	// Next makes the requests; nil: what http.DefaultTransport is at the time.
	Next http.RoundTripper
	// Headers are kept in addition to the usual: content types, versions, request ids, rate limits
	// and advice to wait.
	Headers []string
	// Secrets are texts that must not be written, and Patterns match such texts, in addition to the
	// usual; see Recorder.
	Secrets  []string
	Patterns []*regexp.Regexp
}

// A Recorder is a [http.RoundTripper] that passes requests on, and writes them with their answers
// into a file, in the form that [ReadCase] reads and [Replay] serves: a [Case] of all exchanges
// that were made through it, in the order of the requests. Answers pass through it as they come; an
// exchange is in the file once its body was closed, also if that was before its end. A request that
// got no answer isn't recorded. It is safe for concurrent use.
//
//	client := &http.Client{Transport: providertest.Record("testdata/weather.json", providertest.RecordConfig{})}
//
// What is secret is replaced by "SCRUBBED" before anything is written: headers other than those
// named at [RecordConfig.Headers] aren't kept at all, and the values that the request sent as
// credentials (Authorization, X-Api-Key, Api-Key, X-Goog-Api-Key and the like, cookies, key= and
// the like in the address) and as organisation or project are replaced wherever else they occur, as
// is what looks like a key of a known service or an organisation's id. A secret in pieces, such as
// a model repeats it word by word in a stream, isn't found: look at a recording before it is
// shared.
type Recorder struct {
	path string
	cfg  RecordConfig

	file sync.Mutex // held while the file is written, so that an older state never replaces a newer one

	mu    sync.Mutex  // guards what follows
	begun []*Exchange // in the order of the requests; nil: not at its end yet, or without an answer
	scrub scrubber
	info  Case // without exchanges
	err   error
}

// Record returns a Recorder that writes to the file, whose folder is made if need be. A file that
// stands there is replaced with the first exchange.
func Record(path string, cfg RecordConfig) *Recorder {
	r := &Recorder{path: path, cfg: cfg}
	r.info = Case{Name: cfg.Name, Provider: cfg.Provider, Wire: cfg.Wire}
	if r.info.Name == "" {
		r.info.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	r.scrub.patterns = slices.Concat(secretPatterns, cfg.Patterns)
	for _, s := range cfg.Secrets {
		r.scrub.learn(s)
	}
	return r
}

// RoundTrip passes the request on.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	there, sent := captured(req)
	slot := r.begin(req)
	res, err := r.next().RoundTrip(there)
	if err != nil || res == nil || res.StatusCode < 200 || res.Body == nil {
		return res, err
	}
	res.Body = &recordedBody{ReadCloser: res.Body, done: func(body []byte, ending string) {
		r.end(slot, req, sent.bytes(), res, body, ending)
	}}
	return res, nil
}

// CloseIdleConnections passes the wish on.
func (r *Recorder) CloseIdleConnections() {
	if c, ok := r.next().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Case returns what is recorded so far. It shares nothing with the Recorder.
func (r *Recorder) Case() *Case {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.info
	for _, x := range r.begun {
		if x == nil {
			continue
		}
		x := r.scrub.exchange(*x) // of what was learned since
		c.Streaming = c.Streaming || x.Response.Stream
		c.Exchanges = append(c.Exchanges, x)
	}
	return &c
}

// Err returns the first error of writing the file. An error of the file is none of the exchange,
// which goes on.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *Recorder) next() http.RoundTripper {
	if r.cfg.Next != nil {
		return r.cfg.Next
	}
	return http.DefaultTransport
}

// begin keeps a place for the exchange, and learns what is secret.
func (r *Recorder) begin(req *http.Request) (slot int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scrub.learnFrom(req)
	r.begun = append(r.begun, nil)
	return len(r.begun) - 1
}

// end records the exchange and writes the file.
func (r *Recorder) end(slot int, req *http.Request, sent []byte, res *http.Response, body []byte, ending string) {
	r.keep(slot, req, sent, res, body, ending)
	r.file.Lock()
	defer r.file.Unlock()
	if err := r.Case().WriteFile(r.path); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.err == nil {
			r.err = err
		}
	}
}

func (r *Recorder) keep(slot int, req *http.Request, sent []byte, res *http.Response, body []byte, ending string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scrub.learnHeaders(res.Header)
	x := &Exchange{Request: RecordedRequest{Method: req.Method, Headers: r.headers(req.Header)}}
	if x.Request.Method == "" {
		x.Request.Method = http.MethodGet // net/http's own default
	}
	if req.URL != nil {
		x.Request.URL = r.scrub.address(req.URL)
	}
	body, note := decoded(res.Header.Get("Content-Encoding"), body)
	x.Request.Body, x.Request.Base64 = bodyText(r.scrub.body(sent))
	x.Response = RecordedResponse{Status: res.StatusCode, Headers: r.headers(res.Header),
		Stream: isStream(res.Header.Get("Content-Type"))}
	x.Response.Body, x.Response.Base64 = bodyText(r.scrub.body(body))
	for _, n := range []string{ending, note} {
		if n != "" {
			x.Notes = append(x.Notes, r.scrub.text(n))
		}
	}
	r.begun[slot] = x
	r.describe(req, sent)
}

// describe fills in what the first requests tell of the case.
func (r *Recorder) describe(req *http.Request, sent []byte) {
	if req.URL == nil {
		return
	}
	if r.info.Wire == "" {
		r.info.Wire = wireOf(req.URL.Path)
	}
	if r.info.Provider == "" {
		r.info.Provider = providerOf(r.info.Wire)
	}
	if r.info.Model == "" {
		var asked struct {
			Model string `json:"model"`
		}
		if json.Unmarshal(sent, &asked) == nil {
			r.info.Model = r.scrub.text(asked.Model)
		}
		if m := modelInPath.FindStringSubmatch(req.URL.Path); r.info.Model == "" && m != nil {
			r.info.Model = m[1]
		}
	}
}

func (r *Recorder) headers(h http.Header) map[string]string {
	out := map[string]string{}
	for name := range h {
		lower := strings.ToLower(name)
		if slices.Contains(keptHeaders, lower) || strings.Contains(lower, "ratelimit") ||
			slices.ContainsFunc(r.cfg.Headers, func(s string) bool { return strings.EqualFold(s, name) }) {
			out[lower] = r.scrub.text(h.Get(name))
		}
	}
	return out
}

var keptHeaders = []string{"content-type", "accept", "anthropic-version", "anthropic-beta", "openai-beta",
	"retry-after", "retry-after-ms",
	"request-id", "x-request-id", "apim-request-id", "x-ms-request-id", "x-amzn-requestid"}

var modelInPath = regexp.MustCompile(`/models/([^/:]+)`)

func wireOf(path string) string {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return "anthropic-messages"
	case strings.HasSuffix(path, "/chat/completions"):
		return "openai-chat"
	case strings.HasSuffix(path, "/responses"):
		return "openai-responses"
	case strings.HasSuffix(path, "enerateContent"):
		return "gemini-generate-content"
	}
	return ""
}

func providerOf(wire string) string {
	switch wire {
	case "anthropic-messages":
		return "anthropic"
	case "gemini-generate-content":
		return "gemini"
	}
	return wire
}

// captured returns the request with a body whose bytes are kept as they are read.
func captured(req *http.Request) (*http.Request, *capture) {
	kept := &capture{}
	if req.Body == nil || req.Body == http.NoBody {
		return req, kept
	}
	there := req.Clone(req.Context())
	there.Body = kept.tee(req.Body)
	if again := req.GetBody; again != nil {
		there.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return kept.tee(body), nil
		}
	}
	return there, kept
}

// A capture keeps what was read of a request's body last. The transport may still read when the
// answer is there.
type capture struct {
	mu  sync.Mutex
	buf *bytes.Buffer
}

func (c *capture) tee(body io.ReadCloser) io.ReadCloser {
	buf := &bytes.Buffer{}
	c.mu.Lock()
	c.buf = buf
	c.mu.Unlock()
	return &tee{ReadCloser: body, c: c, buf: buf}
}

func (c *capture) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.buf == nil {
		return nil
	}
	return bytes.Clone(c.buf.Bytes())
}

type tee struct {
	io.ReadCloser
	c   *capture
	buf *bytes.Buffer
}

// Read reads on, and keeps what came.
func (t *tee) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	t.c.mu.Lock()
	t.buf.Write(p[:n])
	t.c.mu.Unlock()
	return n, err
}

// recordedBody passes a body through, and hands over what came of it once it is closed.
type recordedBody struct {
	io.ReadCloser
	done func(body []byte, ending string)

	mu     sync.Mutex // a body may be closed while it is read
	buf    bytes.Buffer
	err    error // that ended it
	closed bool
}

// Read reads on, and keeps what came.
func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.buf.Write(p[:n])
		if err != nil && b.err == nil {
			b.err = err
		}
	}
	return n, err
}

// Close closes the body and records the exchange.
func (b *recordedBody) Close() error {
	err := b.ReadCloser.Close()
	b.mu.Lock()
	first := !b.closed
	b.closed = true
	body, end := b.buf.Bytes(), b.err
	b.mu.Unlock()
	if first {
		b.done(body, endingNote(len(body), end))
	}
	return err
}

func endingNote(n int, end error) string {
	switch end {
	case io.EOF:
		return ""
	case nil:
		return fmt.Sprintf("the client closed the body after %d bytes, before its end was read", n)
	}
	return fmt.Sprintf("the body broke off after %d bytes: %v", n, end)
}
