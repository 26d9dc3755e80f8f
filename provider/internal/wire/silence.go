package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// A silence is where a server stops sending.
type silence struct {
	name    string
	scheme  string
	sends   string // once the request has begun to come in
	request int    // the bytes of text in the request, of which the server reads only the first
}

var errEnough = errors.New("enough")

// Hanging checks that calls to a server that stops sending end, as the adapter declares
// ([provider.Cancelable]): before it gets to the body of exchange 0 of c, before, and within it. A
// call must end with its context, with the context's cause, which is of class none after a
// cancellation and a *[stream.TimeoutError] after a time limit; and its connection must end.
func Hanging(t *testing.T, fresh New, c *Case) {
	t.Helper()
	r := &c.Exchanges[0].Response
	body, err := r.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf("HTTP/1.1 %d OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", r.Status,
		r.Header().Get("Content-Type"), len(body))
	silences := []silence{
		{name: "in the TLS handshake", scheme: "https"},
		{name: "within the request", scheme: "http", request: 16 << 20},
		{name: "before the answer", scheme: "http"},
		{name: "within the headers", scheme: "http", sends: head[:len(head)/2]},
		{name: "within an error", scheme: "http", sends: "HTTP/1.1 500 Broken\r\nContent-Type: application/json\r\n" +
			"Content-Length: 1000\r\n\r\n{\"error\":"},
	}
	for _, at := range []int{0, len(body) / 2, len(body) * 3 / 4} {
		silences = append(silences, silence{name: fmt.Sprintf("after %d bytes of %d", at, len(body)), scheme: "http",
			sends: head + string(body[:at])})
	}
	for _, s := range silences {
		ctx, cancel := context.WithCancelCause(t.Context())
		timer := time.AfterFunc(patience, func() { cancel(errEnough) })
		s.call(t, ctx, fresh, c, errEnough)
		timer.Stop()
		cancel(nil)
		if s.request > 0 {
			continue
		}
		late := &stream.TimeoutError{Kind: stream.TimeoutIdle, After: patience}
		ctx, stop := context.WithTimeoutCause(t.Context(), patience, late)
		s.call(t, ctx, fresh, c, late)
		stop()
	}
}

// patience is how long a server is silent before its call ends.
const patience = 30 * time.Millisecond

// call makes a call of a silent server, and checks that it ends with the cause of its context, and
// that its connection ends.
func (s silence) call(t *testing.T, ctx context.Context, fresh New, c *Case, cause error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended, gone := make(chan struct{}), make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			defer conn.Close()
			_, _ = conn.Read(make([]byte, 1))
			_, _ = io.WriteString(conn, s.sends)
			<-ended
			if s.scheme == "http" { // else net/http goes on with the handshake, for later requests
				_ = conn.SetReadDeadline(time.Now().Add(timeout))
				_, err = io.Copy(io.Discard, conn)
			}
		}
		gone <- err
	}()
	// A connection that is made after its call has ended is closed, and not kept for later ones.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	defer client.CloseIdleConnections()
	p := fresh(t, s.scheme+"://"+listener.Addr().String(), client, c)
	if !provider.EndsWithContext(p) {
		t.Errorf("wire: the adapter doesn't declare that it ends with its context")
	}
	req := question()
	req.Messages = append(req.Messages, provider.User("Hello?"+strings.Repeat(" ", s.request)))
	_, err = provider.Generate(ctx, p, req)
	if !errors.Is(err, cause) || cause == errEnough && !provider.Canceled(err) {
		t.Errorf("wire: silent %s: got the error %v, which isn't the context's cause %v", s.name, err, cause)
	}
	close(ended)
	listener.Close()
	if errors.Is(<-gone, os.ErrDeadlineExceeded) {
		t.Errorf("wire: silent %s: a call that has ended still holds its connection", s.name)
	}
}
