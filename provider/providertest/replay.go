package providertest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Replay serves a recorded case over HTTP on loopback until the test ends, and fails the test if a
// request comes for which there is no exchange. See [NewReplayer].
func Replay(t testing.TB, c *Case) *Replayer {
	t.Helper()
	r, err := NewReplayer(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		if extra := len(r.Requests()) - len(c.Exchanges); extra > 0 {
			t.Errorf("providertest: the case %s has %s, and there %s %s", c.Name,
				count(len(c.Exchanges), "exchange"), were(extra), count(extra, "more request"))
		}
	})
	return r
}

// A Replayer is an HTTP server on loopback that answers its first request as the first exchange of
// a [Case] was answered, its second as the second was, and so on, whatever it is asked: requests
// are kept, for comparison, and not judged. A request beyond the last exchange is answered with
// status 501.
//
// It is safe for concurrent use. After Close nothing of it is left.
type Replayer struct {
	// URL is the address of the server, without a slash at its end.
	URL string

	transport replayTransport
	server    *http.Server
	serving   sync.WaitGroup // of Serve
	answering sync.RWMutex   // held for reading while a request is answered
	exchanges []Exchange

	mu       sync.Mutex // guards what follows
	requests []RecordedRequest
}

// NewReplayer starts a server that answers as c was answered; c must not be changed while it runs.
// The caller must Close it.
func NewReplayer(c *Case) (*Replayer, error) {
	if c == nil {
		return nil, errors.New("providertest: there is no case to replay: nil")
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("providertest: the case %s: %w", c.Name, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("providertest: no server on loopback: %w", err)
	}
	host := l.Addr().String()
	r := &Replayer{URL: "http://" + host, exchanges: c.Exchanges,
		transport: replayTransport{&http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}, host}}
	r.server = &http.Server{Handler: http.HandlerFunc(r.handle), ReadHeaderTimeout: time.Minute}
	r.serving.Go(func() { _ = r.server.Serve(l) }) // ends with ErrServerClosed
	return r, nil
}

// Client returns the client to be used. It brings every request to this server, whatever host the
// request names.
func (r *Replayer) Client() *http.Client { return &http.Client{Transport: r.transport} }

// Requests returns what the server was asked, in order, with all headers. The host in an URL is the
// one that was asked for, also if Client brought the request here instead.
func (r *Replayer) Requests() []RecordedRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// Close ends the server, the requests it is answering, and the connections of Client. It may be
// called more than once.
func (r *Replayer) Close() {
	_ = r.server.Close()
	r.serving.Wait()
	r.answering.Lock() // waits for those that are answered
	defer r.answering.Unlock()
	r.transport.CloseIdleConnections()
}

func (r *Replayer) handle(w http.ResponseWriter, req *http.Request) {
	r.answering.RLock()
	defer r.answering.RUnlock()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // net/http's way to drop the connection; it contains the panic
	}
	asked := RecordedRequest{Method: req.Method, URL: "http://" + req.Host + req.URL.RequestURI(),
		Headers: map[string]string{}}
	asked.Body, asked.Base64 = bodyText(body)
	for name := range req.Header {
		asked.Headers[strings.ToLower(name)] = req.Header.Get(name)
	}
	r.mu.Lock()
	i := len(r.requests)
	r.requests = append(r.requests, asked)
	r.mu.Unlock()
	if i >= len(r.exchanges) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotImplemented)
		const text = `{"error":{"type":"replay","message":"providertest: the case has %s, and this is request %d"}}`
		fmt.Fprintf(w, text, count(len(r.exchanges), "exchange"), i+1)
		return
	}
	answer := &r.exchanges[i].Response
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Status)
	text, _ := answer.Bytes() // was checked
	_, _ = w.Write(text)      // the client may have gone
}

// replayTransport brings requests to the server.
type replayTransport struct {
	*http.Transport
	host string
}

// RoundTrip asks the server.
func (t replayTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	there := req.Clone(req.Context())
	there.Host = cmp.Or(req.Host, req.URL.Host)
	there.URL.Scheme, there.URL.Host = "http", t.host
	res, err := t.Transport.RoundTrip(there)
	if err == nil {
		res.Request = req
	}
	return res, err
}
