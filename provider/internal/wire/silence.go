package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pawlkit/pawl/provider"
)

// A silence is where a server stops sending before it gets to the body of an answer.
type silence struct {
	name    string
	scheme  string
	sends   string // once the request has begun to come in
	request int    // the bytes of text in the request, of which the server reads only the first
}

var silences = []silence{
	{name: "in the TLS handshake", scheme: "https"},
	{name: "within the request", scheme: "http", request: 16 << 20},
	{name: "before the answer", scheme: "http"},
	{name: "within the headers", scheme: "http", sends: "HTTP/1.1 200 OK\r\nContent-Type: text/"},
	{name: "within an error", scheme: "http",
		sends: "HTTP/1.1 500 Broken\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"error\":"},
}

// call makes a call that is canceled while the server is silent, and must end.
func (s silence) call(t *testing.T, fresh New, c *Case) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 1))
		_, _ = io.WriteString(conn, s.sends)
		<-ended
	}()
	defer func() {
		close(ended)
		listener.Close()
		<-gone
	}()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	p := fresh(t, s.scheme+"://"+listener.Addr().String(), client, c)
	if !provider.EndsWithContext(p) {
		t.Errorf("wire: the adapter doesn't declare that it ends with its context")
	}
	req := question()
	req.Messages = append(req.Messages, provider.User("Hello?"+strings.Repeat(" ", s.request)))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	timer := time.AfterFunc(30*time.Millisecond, func() { cancel(errEnough) })
	defer timer.Stop()
	_, err = provider.Generate(ctx, p, req)
	if !errors.Is(err, errEnough) || !provider.Canceled(err) {
		t.Errorf("wire: silent %s, canceled: got the error %v, which isn't the context's cause of class none", s.name,
			err)
	}
}
