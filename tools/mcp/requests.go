package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/circuit/fault"
)

// maxReply is how many bytes a reply may have. The SDK limits the events of streams, and lines, to
// the same figure.
const maxReply = 16 << 20

// requests adds headers to the requests of a connection, limits the replies, has the session
// observe them, and notes which calls the server can't have run.
type requests struct {
	next       http.RoundTripper
	header     func(context.Context, string) (http.Header, error)
	credential string
	session    *session

	// query is that of Config.URL. It is added here to the requests with path, because errors of
	// the client name the address.
	query, path string
}

// An exchange is the request of a call. It is in the context of the call, because the SDK's errors
// don't say whether the request has arrived.
type exchange struct {
	mu  sync.Mutex
	err error // why the server can't have run the call; nil: it may have run
}

type exchangeKey struct{}

func (x *exchange) refused() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}

// RoundTrip makes a request.
func (r *requests) RoundTrip(req *http.Request) (*http.Response, error) {
	res, refused, err := r.send(req)
	if x, ok := req.Context().Value(exchangeKey{}).(*exchange); ok && req.Method == http.MethodPost {
		x.mu.Lock()
		x.err = refused
		x.mu.Unlock()
	}
	return res, err
}

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

// send makes a request. refused is why the server can't have done what it asks for; nil: it may
// have done it.
func (r *requests) send(req *http.Request) (res *http.Response, refused, err error) {
	next := r.next
	if next == nil {
		next = http.DefaultTransport
	}
	if r.query != "" && req.URL.Path == r.path && req.URL.RawQuery == "" {
		req = req.Clone(req.Context())
		req.URL.RawQuery = r.query
	}
	if r.header != nil {
		more, err := r.headers(req.Context())
		if err != nil {
			return nil, err, err
		}
		req = req.Clone(req.Context())
		for name, values := range more {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	res, err = next.RoundTrip(req)
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return nil, err, err
	case err != nil:
		return nil, nil, err
	}
	stream := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	if !stream {
		res.Body = &bounded{ReadCloser: res.Body, left: maxReply}
	}
	res.Body = &observedBody{ReadCloser: res.Body, s: r.session, stream: stream}
	return res, statusError(res.StatusCode), nil
}

// statusError returns why a server that answers with a status hasn't run a call; nil: it may have
// run it.
func statusError(status int) error {
	if status < 400 || status >= 500 || status == http.StatusRequestTimeout {
		return nil
	}
	return &fault.HTTPError{Status: status}
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
