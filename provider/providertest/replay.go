package providertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Replay serves a recorded case over HTTP on loopback until the test ends, and fails the test if a
// request comes for which there is no exchange. See [NewReplayer].
func Replay(t testing.TB, c *Case, opts ...ReplayOption) *Replayer {
	t.Helper()
	r, err := NewReplayer(c, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		if extra := r.extra(); extra > 0 {
			t.Errorf("providertest: the case %s has %s, and there were %s more than that", c.Name,
				count(len(r.answers), "exchange"), count(extra, "request"))
		}
	})
	return r
}

// A Replayer is an HTTP server on loopback that answers its first request as the first exchange of
// a [Case] was answered, its second as the second was, and so on, whatever it is asked: requests
// are kept, for comparison, and not judged. A request beyond the last exchange is answered with
// status 501, unless [Loop] says otherwise.
//
// It is safe for concurrent use. After Close nothing of it is left.
type Replayer struct {
	// URL is the address of the server, without a slash at its end.
	URL string

	client   *http.Client
	wire     *http.Transport
	server   *http.Server
	answers  []*answer
	loop     bool
	closing  chan struct{} // closed by Close: whatever hangs lets go
	once     sync.Once
	serving  sync.WaitGroup // of Serve
	handling sync.WaitGroup // of the requests being answered

	mu       sync.Mutex // guards what follows
	requests []ReplayedRequest
	open     int           // requests being answered
	idle     chan struct{} // closed when none is; nil while nobody waits
	closed   bool
}

// A ReplayedRequest is a request that a [Replayer] got.
type ReplayedRequest struct {
	Method string
	Host   string // that was asked for, also if Client brought the request here instead
	Path   string // with its query
	Header http.Header
	Body   []byte
}

// NewReplayer starts a server that answers as c was answered; c must not be changed while it runs.
// The caller must Close it.
func NewReplayer(c *Case, opts ...ReplayOption) (*Replayer, error) {
	if c == nil {
		return nil, errors.New("providertest: there is no case to replay: nil")
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("providertest: the case %s: %w", c.Name, err)
	}
	p := plan{loop: false, each: make([]manner, len(c.Exchanges))}
	for _, opt := range opts {
		if opt != nil {
			opt(&p, -1)
		}
	}
	r := &Replayer{closing: make(chan struct{}), loop: p.loop}
	for i := range c.Exchanges {
		r.answers = append(r.answers, newAnswer(&c.Exchanges[i].Response, p.each[i]))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("providertest: no server on loopback: %w", err)
	}
	r.URL = "http://" + l.Addr().String()
	r.server = &http.Server{Handler: http.HandlerFunc(r.handle), ReadHeaderTimeout: time.Minute}
	r.wire = &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}
	r.client = &http.Client{Transport: &replayTransport{r: r, host: l.Addr().String()}}
	r.serving.Go(func() { _ = r.server.Serve(l) }) // ends with ErrServerClosed
	return r, nil
}

// Client returns the client to be used. It brings every request to this server, whatever host the
// request names, and reads bodies in exactly the pieces that [SplitBytes], [SplitRandom] and
// [SplitAt] ask for; the network alone may join them, or cut them once more.
func (r *Replayer) Client() *http.Client { return r.client }

// Requests returns what the server was asked, in order.
func (r *Replayer) Requests() []ReplayedRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]ReplayedRequest(nil), r.requests...)
}

// Wait waits until no request is being answered: every answer was given, or its client has gone. It
// returns the cause of ctx's end if that comes first.
func (r *Replayer) Wait(ctx context.Context) error {
	r.mu.Lock()
	if r.open == 0 {
		r.mu.Unlock()
		return nil
	}
	if r.idle == nil {
		r.idle = make(chan struct{})
	}
	idle := r.idle
	r.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends the server, the requests it is answering, and the connections of Client. It may be
// called more than once.
func (r *Replayer) Close() {
	r.once.Do(func() {
		r.mu.Lock()
		r.closed = true
		r.mu.Unlock()
		close(r.closing)
		r.wire.CloseIdleConnections()
		_ = r.server.Close()
		r.serving.Wait()
		r.handling.Wait()
		r.wire.CloseIdleConnections()
	})
}

// extra returns how many requests came beyond the last exchange.
func (r *Replayer) extra() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loop {
		return 0
	}
	return max(0, len(r.requests)-len(r.answers))
}

func (r *Replayer) handle(w http.ResponseWriter, req *http.Request) {
	if !r.enter() {
		panic(http.ErrAbortHandler) // net/http's way to drop the connection; it contains the panic
	}
	defer r.leave()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	host := req.Header.Get(hostHeader)
	req.Header.Del(hostHeader)
	if host == "" {
		host = req.Host
	}
	r.mu.Lock()
	i := len(r.requests)
	r.requests = append(r.requests, ReplayedRequest{
		Method: req.Method, Host: host, Path: req.URL.RequestURI(), Header: req.Header.Clone(), Body: body,
	})
	r.mu.Unlock()
	if i >= len(r.answers) && !r.loop {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotImplemented)
		const text = `{"error":{"type":"replay","message":"providertest: the case has %s, and this is request %d"}}`
		fmt.Fprintf(w, text, count(len(r.answers), "exchange"), i+1)
		return
	}
	i %= len(r.answers)
	w.Header().Set(exchangeHeader, strconv.Itoa(i))
	r.answers[i].serve(w, req.Context(), r.closing)
}

func (r *Replayer) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.handling.Add(1)
	r.open++
	return true
}

func (r *Replayer) leave() {
	r.mu.Lock()
	if r.open--; r.open == 0 && r.idle != nil {
		close(r.idle)
		r.idle = nil
	}
	r.mu.Unlock()
	r.handling.Done()
}

// The headers in which the server and its client talk to each other; neither side's user sees them.
const (
	exchangeHeader = "Pawl-Replay-Exchange"
	hostHeader     = "Pawl-Replay-Host"
)

// replayTransport brings requests to the server, and cuts what is read.
type replayTransport struct {
	r    *Replayer
	host string
}

// RoundTrip asks the server.
func (t *replayTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	there := req.Clone(req.Context())
	if there.Header == nil {
		there.Header = http.Header{}
	}
	if req.URL != nil {
		there.Header.Set(hostHeader, req.URL.Host)
		there.URL = &url.URL{Scheme: "http", Host: t.host, Path: req.URL.Path, RawPath: req.URL.RawPath,
			RawQuery: req.URL.RawQuery}
	}
	there.Host = ""
	res, err := t.r.wire.RoundTrip(there)
	if err != nil {
		return nil, err
	}
	res.Request = req
	i, err := strconv.Atoi(res.Header.Get(exchangeHeader))
	res.Header.Del(exchangeHeader)
	if err == nil && i < len(t.r.answers) && len(t.r.answers[i].ends) > 1 {
		res.Body = &cutBody{ReadCloser: res.Body, ends: t.r.answers[i].ends}
	}
	return res, nil
}

// CloseIdleConnections closes what no call uses.
func (t *replayTransport) CloseIdleConnections() { t.r.wire.CloseIdleConnections() }

// cutBody is a body of which no read goes beyond one of the ends.
type cutBody struct {
	io.ReadCloser
	ends []int
	at   int
}

// Read reads from the current piece.
func (p *cutBody) Read(b []byte) (int, error) {
	for len(p.ends) > 0 && p.at >= p.ends[0] {
		p.ends = p.ends[1:]
	}
	if len(p.ends) > 0 {
		b = b[:min(len(b), p.ends[0]-p.at)]
	}
	n, err := p.ReadCloser.Read(b)
	p.at += n
	return n, err
}
