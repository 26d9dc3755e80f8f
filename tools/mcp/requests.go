package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/pawlkit/pawl/circuit/fault"
)

// maxReply is how many bytes a reply may have. The SDK limits the events of streams, and lines, to
// the same figure.
const maxReply = 16 << 20

// requests makes the requests of a connection over HTTP. The SDK ends a connection, with all calls
// on it, for most of what can be wrong with one reply. So what is wrong with a request ends here as
// the error of that request, which the SDK hands to its caller alone. What is wrong with a
// notification, or with the stream that belongs to no request, is only logged.
type requests struct {
	client     *http.Client // see redirecting
	header     func(context.Context, string) (http.Header, error)
	credential string
	session    *session
	signIn     *authorizing // has the tokens; nil: nobody has to sign in
	stale      func()       // called if the server doesn't know the session any more
	logger     *slog.Logger

	streamed atomic.Bool // the stream that belongs to no request was open before

	// query is that of Config.URL. It is added here to the requests with path, because errors of
	// the client name the address.
	query, path string
}

// An exchange is what is known of a request of ours. It is in the context of the request.
type exchange struct {
	sent       atomic.Bool // the server may have it
	redirected atomic.Bool // the server has had it, and named another address

	// of a stream that has ended before the reply: the event after which it was asked to go on, and
	// how often
	event   string
	resumed int
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// discoverMethod is the request with which the SDK asks which version a server speaks. It has to
// see how a server refuses that.
const discoverMethod = "server/discover"

const (
	initializeMethod = "initialize"
	pingMethod       = "ping"
)

// RoundTrip makes a request.
func (r *requests) RoundTrip(req *http.Request) (*http.Response, error) {
	switch req.Method {
	case http.MethodPost:
	case http.MethodGet:
		return r.listen(req)
	default: // the end of a session: nothing depends on it
		return r.send(req)
	}
	var asked struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if body, err := req.GetBody(); err != nil || json.NewDecoder(body).Decode(&asked) != nil {
		return nil, errors.New("mcp: the request isn't JSON") // it is the SDK's
	}
	if len(asked.ID) == 0 || asked.Method == "" {
		return r.notify(req, asked.Method), nil
	}
	x := exchangeOf(req.Context())
	if x != nil {
		x.sent.Store(true)
	}
	res, err := r.send(req)
	if err == nil && r.signIn != nil && asked.Method != pingMethod &&
		(res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden) {
		res, err = r.authorize(req, res)
	}
	if err != nil {
		if x != nil && unsent(err) && !x.redirected.Load() {
			x.sent.Store(false)
		}
		return nil, err
	}
	switch {
	case asked.Method == discoverMethod && res.StatusCode >= 300:
		return bound(res), nil
	case res.StatusCode < 200 || res.StatusCode >= 300:
		return nil, r.refusal(req, res)
	}
	if asked.Method != initializeMethod {
		res.Header.Del(sessionHeader) // another one would end the connection
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch kind {
	case "text/event-stream":
		res.Body = r.events(res.Body)
		return res, nil
	case "application/json":
		return r.whole(res, asked.ID)
	}
	_ = res.Body.Close()
	return nil, fmt.Errorf("mcp: the reply is of the type %q, not JSON", kind)
}

const sessionHeader = "Mcp-Session-Id"

// redirecting returns the client of a Config for requests. It notes that a server has redirected a
// request, which it may have run before, and leaves a redirect that would make another request of
// it as it is.
func redirecting(of *http.Client) *http.Client {
	own, check := *of, of.CheckRedirect
	own.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if x := exchangeOf(req.Context()); x != nil {
			x.redirected.Store(true)
		}
		switch {
		case req.Method != via[0].Method:
			return http.ErrUseLastResponse
		case check != nil:
			return check(req, via)
		case len(via) >= 10: // as without CheckRedirect
			return errors.New("mcp: the server redirects 10 times")
		}
		return nil
	}
	return &own
}

// unsent reports whether an error says that a request can't have reached the server.
func unsent(err error) bool {
	var dial *net.OpError
	var header *headerError
	return errors.As(err, &header) || errors.As(err, &dial) && dial.Op == "dial"
}

// authorize gets another token after a 401 or 403, and makes the request once more. The SDK would
// end the connection if the caller gives up meanwhile, or the request is refused again.
func (r *requests) authorize(req *http.Request, refused *http.Response) (*http.Response, error) {
	if err := r.signIn.Authorize(req.Context(), req, bound(refused)); err != nil {
		return nil, &headerError{err}
	}
	again := req.Clone(req.Context())
	var err error
	if again.Body, err = req.GetBody(); err != nil {
		return nil, err
	}
	return r.send(again)
}

// whole reads a reply to its end. Otherwise the SDK would, and end the connection if it is cut.
func (r *requests) whole(res *http.Response, id json.RawMessage) (*http.Response, error) {
	body, err := io.ReadAll(bound(res).Body)
	_ = res.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("mcp: the reply was cut: %w", err)
	}
	body = bytes.TrimPrefix(bytes.TrimSpace(body), byteOrderMark)
	m, err := jsonrpc.DecodeMessage(body)
	if err != nil {
		return nil, fmt.Errorf("mcp: the reply isn't a message: %w", err)
	}
	answer, ok := m.(*jsonrpc.Response)
	var same json.RawMessage
	if ok {
		same, err = json.Marshal(answer.ID.Raw())
	}
	if !ok || err != nil || !bytes.Equal(same, bytes.TrimSpace(id)) {
		return nil, errors.New("mcp: the reply is that of another request")
	}
	r.session.observe(m)
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return res, nil
}

// notify makes a request that has no reply. Whether it arrives says nothing about others.
func (r *requests) notify(req *http.Request, method string) *http.Response {
	res, err := r.send(req)
	if err == nil {
		_ = res.Body.Close()
		if res.StatusCode >= 300 {
			err = &fault.HTTPError{Status: res.StatusCode}
		}
	}
	if err != nil {
		r.logger.Debug("mcp: a notification was not accepted", "method", method, "error", err)
	}
	return reply(req, http.StatusAccepted, "", http.NoBody)
}

// reply returns a reply that the server hasn't given.
func reply(req *http.Request, status int, kind string, body io.ReadCloser) *http.Response {
	return &http.Response{Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, Header: http.Header{"Content-Type": {kind}}, Body: body, ContentLength: -1, Request: req}
}

// A headerError says why there are no headers for a request, a token for example. It wasn't sent,
// or was refused without them.
type headerError struct{ error }

func (e *headerError) Unwrap() error { return e.error }

// headers asks the host for headers. A panic is an error: requests are made on goroutines of the
// SDK, too, where nobody else would contain it.
func (r *requests) headers(ctx context.Context) (h http.Header, err error) {
	defer contain("Config.Header", &err)
	return r.header(ctx, r.credential)
}

// contain makes a panic of a function of the host an error. It must be deferred.
func contain(who string, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("mcp: %s panicked: %v", who, v)
	}
}

// send sends a request, with the headers and the query that the host has given.
func (r *requests) send(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if r.query != "" && req.URL.Path == r.path && req.URL.RawQuery == "" {
		req.URL.RawQuery = r.query
	}
	if r.signIn != nil {
		token, err := r.signIn.token(req.Context())
		if err != nil {
			return nil, &headerError{err}
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
	}
	if r.header != nil {
		more, err := r.headers(req.Context())
		if err != nil {
			return nil, &headerError{err}
		}
		for name, values := range more {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	res, err := r.client.Do(req)
	if named := (*url.Error)(nil); errors.As(err, &named) {
		err = named.Err // without the address, which may have a key
	}
	return res, err
}

// bound limits the body of a reply.
func bound(res *http.Response) *http.Response {
	res.Body = &bounded{ReadCloser: res.Body, left: maxReply}
	return res
}

// A bounded is the body of a reply, which ends with an error if it is too long.
type bounded struct {
	io.ReadCloser
	left int
}

// Read reads from the body.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, fault.Errorf(fault.Permanent, "mcp: the reply has more than %d bytes", maxReply)
	}
	return n, err
}
