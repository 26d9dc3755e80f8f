package adapter

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/httpguard"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/secret"
	"github.com/pawlkit/pawl/stream"
)

// A ClientConfig configures a [Client].
type ClientConfig struct {
	Name string // the provider's, for errors
	// Base is the address before the path of each request. Its query goes with each request.
	Base *url.URL
	// HTTPClient sends the requests; nil: http.DefaultClient.
	HTTPClient *http.Client
	// Header has the adapter's headers. Those of Host, which are the user's, override them and the
	// key.
	Header, Host http.Header
	// Key returns the key; "": requests go without one. It is called before each request, and once
	// more after a refusal.
	Key Key
	// Authorize puts a key into the headers of a request.
	Authorize func(h http.Header, key string)
	// Decode returns the error that a server describes in the body of an answer. Secrets are
	// removed from the body before.
	Decode func(status int, body []byte) *provider.Error
	// Refused reports whether a request may succeed with another key; nil: if its status is 401.
	Refused func(*provider.Error) bool

	// AsksHost says that Key calls a function of the host, which may ignore its context.
	AsksHost bool

	cloud *Cloud // see In
}

// A Client sends the requests of a Model. It is safe for concurrent use. A nil *Client returns an
// error for each request.
type Client struct {
	setup func() *setup // a function, because fmt prints only its address
}

// A setup is what the requests of a Client share.
type setup struct {
	ClientConfig
	http   *http.Client
	hidden []string // what is secret in each request, besides the key
}

// NewClient returns a Client.
//
// It follows redirects only within the scheme and the host of the address, and only if
// HTTPClient.CheckRedirect, if there is one, permits them: net/http would send the headers with
// keys that it doesn't know along to any host.
func NewClient(cfg ClientConfig) *Client {
	s := &setup{cfg, httpguard.SameHost(cfg.HTTPClient), hiddenIn(cfg.Base, cfg.Host)}
	if s.Refused == nil {
		s.Refused = func(e *provider.Error) bool { return e.Status == http.StatusUnauthorized }
	}
	return &Client{func() *setup { return s }}
}

// EndsWithContext reports whether requests are sure to end with their context: if they are sent by
// a transport of net/http, and no function of the host is called for them.
func (c *Client) EndsWithContext() bool {
	if c == nil {
		return false
	}
	s := c.setup()
	transport := s.http.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	_, own := transport.(*http.Transport)
	return own && !s.AsksHost
}

// Near reports whether the server is in the host's own network: its address is localhost, a name
// without a domain or one that ends in .local or .internal, or an IP address that isn't public.
func (c *Client) Near() bool {
	if c == nil {
		return false
	}
	name := strings.TrimSuffix(strings.ToLower(c.setup().Base.Hostname()), ".")
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	for _, suffix := range []string{"localhost", ".local", ".internal"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return !strings.Contains(name, ".")
}

// hiddenIn returns what is secret in an address and in the headers of a user.
func hiddenIn(base *url.URL, header http.Header) (secrets []string) {
	if base != nil {
		if base.User != nil {
			password, _ := base.User.Password()
			secrets = append(secrets, password)
		}
		secrets = append(secrets, httpguard.QuerySecrets(base.Query())...)
	}
	for name, values := range header {
		if httpguard.IsSecret(name) {
			secrets = append(secrets, values...)
		}
	}
	return secrets
}

// A Response is the answer to a request. Its caller closes the body.
type Response struct {
	*http.Response
	name, model string
	secrets     *secret.Values
	cloud       *Cloud
}

// mostError is how many bytes of an error's body are read.
const mostError = 1 << 20

// Post sends a body to a path below the address and returns the answer once its headers have come.
// After a refusal of the key, it tries once more if there is another one. An error is a
// *[provider.Error], or [Over]'s if ctx is done, and contains no secret of the request.
func (c *Client) Post(ctx context.Context, model, path string, query url.Values, body []byte) (*Response, error) {
	return c.do(ctx, http.MethodPost, model, path, query, body)
}

// Get is Post for a request without a body.
func (c *Client) Get(ctx context.Context, model, path string, query url.Values) (*Response, error) {
	return c.do(ctx, http.MethodGet, model, path, query, nil)
}

func (c *Client) do(ctx context.Context, method, model, path string, query url.Values, body []byte) (*Response, error) {
	if c == nil {
		return nil, fault.New(fault.Permanent, "provider: the Model is empty; make it with New")
	}
	s := c.setup()
	if strings.ContainsAny(path, "?#") || slices.Contains(strings.Split(path, "/"), "..") {
		// of a model's name, for example
		return nil, &provider.Error{Class: fault.Permanent, Provider: s.Name, Model: model,
			Message: fmt.Sprintf("%q can't be part of an address", path)}
	}
	path, body, err := s.cloud.converted(model, path, body)
	if err != nil {
		return nil, err
	}
	key, err := s.Key(ctx)
	if err != nil {
		return nil, err
	}
	res, err := s.send(ctx, method, model, path, query, body, key)
	var e *provider.Error
	if !errors.As(err, &e) || !s.Refused(e) {
		return res, err
	}
	again, keyErr := s.Key(ctx)
	switch {
	case keyErr != nil:
		return nil, keyErr
	case again != key:
		return s.send(ctx, method, model, path, query, body, again)
	}
	return nil, err
}

// send makes one attempt. The path is escaped.
func (s *setup) send(ctx context.Context, method, model, path string, query url.Values, body []byte,
	key string) (*Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.address(path, query), bytes.NewReader(body))
	if err != nil {
		return nil, &provider.Error{Class: fault.Permanent, Provider: s.Name, Model: model,
			Message: "the address of the request is invalid"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", "pawl")
	maps.Copy(req.Header, s.Header)
	if key != "" && s.cloud == nil {
		s.Authorize(req.Header, key)
	}
	for name, values := range s.Host {
		req.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	hidden := append(slices.Clone(s.hidden), key)
	if s.cloud != nil {
		secrets, err := s.cloud.Authorize(req, body, key)
		if err != nil {
			return nil, err
		}
		hidden = append(hidden, secrets...)
	}
	out := &Response{name: s.Name, model: model, secrets: secret.NewValues(hidden...), cloud: s.cloud}
	if out.Response, err = s.http.Do(req); err != nil {
		if ctx.Err() != nil {
			return nil, Over(ctx)
		}
		err = withoutAddress(err)
		return nil, out.Clean(&provider.Error{Class: Unreached(err), Message: "no answer: " + err.Error(), Err: err})
	}
	if out.StatusCode < http.StatusMultipleChoices {
		out.Body = aliveBody{out.Body, stream.Alive(ctx)}
		if s.cloud != nil && s.cloud.Receive != nil {
			s.cloud.Receive(out.Response)
		}
		return out, nil
	}
	defer out.Body.Close()
	if out.StatusCode < http.StatusBadRequest {
		return nil, out.Clean(redirected(out.Response))
	}
	text, err := io.ReadAll(io.LimitReader(out.Body, mostError)) // of a broken body, the part that came is used
	if err != nil && ctx.Err() != nil {
		return nil, Over(ctx)
	}
	e := s.Decode(out.StatusCode, out.Redact(text))
	e.Message = cmp.Or(e.Message, http.StatusText(out.StatusCode))
	return nil, out.Clean(e)
}

// aliveBody is the body of an answer, of which each piece is a sign of life.
type aliveBody struct {
	io.ReadCloser
	alive func()
}

func (l aliveBody) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if n > 0 {
		l.alive()
	}
	return n, err
}

// Count is Ask for an answer with a number of tokens in this field.
func (c *Client) Count(ctx context.Context, model, path string, body []byte, field string) (n int, err error) {
	var answer map[string]json.RawMessage
	if _, err := c.Ask(ctx, model, path, body, &answer); err != nil {
		return 0, err
	}
	if IsNull(answer[field]) || json.Unmarshal(answer[field], &n) != nil {
		return 0, fault.New(fault.Permanent, c.setup().Name+": the answer has no token count")
	}
	return n, nil
}

// Ask is Post for an answer that is one JSON value, which it decodes into v. It returns the answer,
// whose body is closed, to clean errors that the value contains.
func (c *Client) Ask(ctx context.Context, model, path string, body []byte, v any) (*Response, error) {
	res, err := c.Post(ctx, model, path, nil, body)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := Whole(c.setup().Name, res.Body)
	switch {
	case ctx.Err() != nil:
		return nil, Over(ctx)
	case err != nil:
		return nil, res.Clean(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return nil, res.Clean(&provider.Error{Class: fault.Permanent, Status: res.StatusCode, Err: err,
			Message: "the answer can't be decoded: " + Brief(res.secrets.Text(string(text)))})
	}
	return res, nil
}

// address returns the address of a request. The path is escaped.
func (s *setup) address(path string, query url.Values) string {
	u := *s.Base
	u.RawPath = strings.TrimRight(u.EscapedPath(), "/") + "/" + path
	plain, err := url.PathUnescape(path)
	if err != nil {
		plain = path
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/" + plain
	all := u.Query()
	maps.Copy(all, query)
	u.RawQuery, u.Fragment = all.Encode(), ""
	return u.String()
}

// redirected returns the error of an address that redirects to another host.
func redirected(res *http.Response) *provider.Error {
	e := &provider.Error{Class: fault.UserFixable, Status: res.StatusCode, Message: "the address redirects",
		Remedy: "set Config.BaseURL to the address of the API itself"}
	if to, err := res.Location(); err == nil {
		e.Message += " to " + to.Scheme + "://" + to.Host
	}
	return e
}

// Clean returns err without the secrets of the request, in no field and no error that it wraps. A
// *[provider.Error] also gets the names of the provider and the model, the server's id of the
// request, and how long the server wants to be left alone.
func (r *Response) Clean(err error) error {
	var e *provider.Error
	if !errors.As(err, &e) {
		if clean := r.secrets.Error(err); clean != err {
			return fault.Wrap(fault.Of(err), clean)
		}
		return err
	}
	own := *e
	own.Provider, own.Model = r.name, r.model
	if r.Response != nil {
		if r.cloud != nil && r.cloud.Explain != nil {
			r.cloud.Explain(&own, r.Header)
		}
		for _, name := range []string{"Request-Id", "X-Request-Id", "Apim-Request-Id", "X-Amzn-Requestid"} {
			if id := r.secrets.Text(r.Header.Get(name)); id != "" { // before it is shortened
				own.RequestID = id[:min(len(id), 128)]
				break
			}
		}
		wait, ok := fault.ParseRetryAfter(r.Header, time.Now())
		if !ok && own.Wait == nil && own.Class == fault.RateLimited {
			wait, ok = resetWait(r.Header, time.Now())
		}
		if ok && (own.Wait == nil || *own.Wait < wait) {
			own.Wait = &wait
		}
	}
	for _, text := range []*string{&own.Message, &own.Type, &own.Code, &own.RequestID, &own.Remedy} {
		*text = r.secrets.Text(*text)
	}
	own.Err = r.secrets.Error(own.Err)
	return &own
}

// Redact returns a part of the answer without the secrets of the request. It is for texts of errors
// that are shortened, which could leave half of a secret. A nil Response changes nothing.
func (r *Response) Redact(text []byte) []byte {
	if r == nil || r.secrets == nil {
		return text
	}
	return []byte(r.secrets.Text(string(text)))
}

// withoutAddress removes net/http's description of the request, whose address may contain secrets,
// from an error.
func withoutAddress(err error) error {
	var transport *url.Error
	for errors.As(err, &transport) && transport.Err != nil {
		err = transport.Err
	}
	return err
}
