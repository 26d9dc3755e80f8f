package serve

import (
	"context"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/pawlkit/pawl/agent"
)

// forwarded is the header of a request that another server has passed on. It isn't passed on again.
const forwarded = "Pawl-Forwarded"

// toHubs connects to the servers of other hubs. Each connection is for one stream. A server that
// doesn't take a connection in time may be gone, and its run with it.
var toHubs = &http.Transport{
	DialContext:       (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
	DisableKeepAlives: true,
}

// forward has another server answer a request for a stream, if its hub drives the session's run and
// has an address ([live.Config.Address]): that hub alone has the text of a model call in progress.
// It reports whether the request is answered. If that server can't be reached, it isn't.
func (s *server) forward(w http.ResponseWriter, r *http.Request, g *grant) bool {
	if !g.running || r.Header.Get(forwarded) != "" {
		return false
	}
	address, err := s.hub.Elsewhere(r.Context(), g.session.ID())
	if err != nil || address == "" {
		return false
	}
	target, err := url.Parse(address)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() { // this server goes away
		select {
		case <-s.hub.Closing():
			cancel()
		case <-ctx.Done():
		}
	}()
	head := w.Header()
	own := head.Clone() // the other server sets the same
	clear(head)
	reached := true
	proxy := &httputil.ReverseProxy{
		Transport:     toHubs,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) {
			path, err := url.ParseRequestURI(p.In.RequestURI) // as it came, before a prefix was removed
			if err != nil {
				path = p.In.URL
			}
			p.Out.URL = &url.URL{Scheme: target.Scheme, Host: target.Host, Path: path.Path, RawPath: path.RawPath,
				RawQuery: path.RawQuery}
			p.Out.Host = p.In.Host
			for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
				if v, ok := p.In.Header[name]; ok {
					p.Out.Header[name] = v
				}
			}
			p.Out.Header.Set(forwarded, "1")
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			reached = false
			if r.Context().Err() == nil {
				s.log.WarnContext(r.Context(), "serve: the server that drives a run can't be reached; its text isn't streamed",
					"session", g.session.ID(), "address", address, "error", err)
			}
		},
	}
	proxy.ServeHTTP(w, r.WithContext(ctx))
	if !reached {
		maps.Copy(head, own)
		g.local = true
	}
	return reached
}

// isElsewhere reports whether ev begins or resumes a run that the hub of another address drives, so
// that readers should connect again to get its text.
func (s *server) isElsewhere(ctx context.Context, g *grant, ev agent.Event) bool {
	switch ev.(type) {
	case *agent.RunStarted, *agent.StepStarted:
	default:
		return false
	}
	if ev.Envelope().Session() != g.session.ID() {
		return false
	}
	address, err := s.hub.Elsewhere(ctx, g.session.ID())
	return err == nil && address != ""
}
