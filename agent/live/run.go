package live

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// lastRequests is how long requests in progress may take after the hub is closed.
const lastRequests = 5 * time.Second

// Run listens at server.Addr and serves until ctx ends or the process gets SIGINT or SIGTERM. Then
// it closes the hub, as [Hub.Close] does: runs come to a safe point, requests of readers end, and
// new ones are refused. At last it shuts the server down, with 5 s for requests in progress.
//
// A second signal isn't caught, and ends the process at once: runs are then resumed as after a
// crash. The hub is closed whatever the outcome, also if the server can't listen. The error is nil
// if all has ended in order; a part of a run that had to be cut off is an error, as of [Hub.Close].
//
// With certificates in server.TLSConfig it serves HTTPS.
func Run(ctx context.Context, hub *Hub, server *http.Server) error {
	switch {
	case hub == nil || hub.topics == nil:
		return errNoHub
	case server == nil:
		return errors.Join(errNoServer, hub.Close())
	}
	listener, err := net.Listen("tcp", cmp.Or(server.Addr, ":http"))
	if err != nil {
		return errors.Join(err, hub.Close())
	}
	return Serve(ctx, hub, server, listener)
}

var errNoServer = fault.New(fault.Permanent, "live: the http.Server or its listener is nil")

// Serve is [Run] for a listener, which it closes.
func Serve(ctx context.Context, hub *Hub, server *http.Server, listener net.Listener) error {
	if ctx == nil {
		ctx = context.Background()
	}
	switch {
	case listener == nil || server == nil:
		return errors.Join(errNoServer, hub.Close())
	case hub == nil || hub.topics == nil:
		return errors.Join(errNoHub, listener.Close())
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- serve(server, listener) }()
	var err error
	running := true
	select {
	case err = <-ended:
		running = false
	case <-ctx.Done():
	}
	stop() // before the hub is closed, so that a second signal ends the process
	closed := hub.Close()
	limit, cancel := context.WithTimeout(context.Background(), lastRequests)
	defer cancel()
	if server.Shutdown(limit) != nil {
		_ = server.Close() // what hasn't ended by now
	}
	if running {
		err = <-ended
	}
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, closed)
}

// serve serves HTTPS if there are certificates, else HTTP.
func serve(server *http.Server, listener net.Listener) error {
	if c := server.TLSConfig; c != nil && (len(c.Certificates) > 0 || c.GetCertificate != nil) {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(listener)
}
