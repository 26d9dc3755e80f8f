package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/examples/coder/internal/coding"
	"github.com/pawlkit/pawl/examples/coder/internal/standin"
)

// page returns a function that serves the page of a folder until its context ends.
func (o *options) page(c *coding.Coder, out io.Writer, log *slog.Logger) (func(context.Context) error, error) {
	access := serve.Local{User: user}
	pages, err := serve.Page(c.Hub, serve.Config{Authorize: access.Authorize, Title: "Coder",
		Examples: standin.Requests, Logger: log, Input: func(_ *http.Request, in *agent.Input) error {
			in.Owner = user
			return nil
		}})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", o.addr)
	if err != nil && o.addr == defaultAddr { // another program is there
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, err
	}
	if addr, ok := listener.Addr().(*net.TCPAddr); !ok || !addr.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("-addr %s isn't an address of this computer, such as %s: nobody has to sign in",
			o.addr, defaultAddr), listener.Close())
	}
	at := "http://" + listener.Addr().String() + "/"
	if o.session != "" {
		at += "?session=" + url.QueryEscape(o.session)
	}
	fmt.Fprintln(out, "The page is at", at)
	server := &http.Server{Handler: pages, ReadHeaderTimeout: 10 * time.Second}
	return func(ctx context.Context) error { return live.Serve(ctx, c.Hub, server, listener) }, nil
}
