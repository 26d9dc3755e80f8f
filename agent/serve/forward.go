package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/stream/sse"
)

// forwarded is the header of a request that another server has passed on, and of its answer. Such a
// request isn't passed on again, and an answer without the header isn't one of this package.
const forwarded = "Pawl-Forwarded"

const (
	// reachTime is how long the server of another hub may take to accept a connection: it may be
	// gone, and its run with it.
	reachTime = 2 * time.Second
	// beginTime is how long it may take to begin an answer.
	beginTime = 20 * time.Second
	// forwardSilence is how long its stream may be silent, which has a heartbeat.
	forwardSilence = 2*heartbeat + 5*time.Second
	// slowWrite is how long the client may take to read a part of it.
	slowWrite = 30 * time.Second
)

// toHubs connects to the servers of other hubs, for one stream each.
var toHubs = &http.Transport{
	DialContext:         (&net.Dialer{Timeout: reachTime}).DialContext,
	TLSHandshakeTimeout: reachTime, ResponseHeaderTimeout: beginTime, DisableKeepAlives: true,
}

// hops are the headers of a connection, which aren't passed on.
var hops = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te",
	"Trailer", "Transfer-Encoding", "Upgrade"}

// forward has another server answer a request for a stream, if its hub drives the session's run and
// has an address ([live.Config.Address]): that hub alone has the text of a model call in progress.
// It reports whether the request is answered: it isn't if that server can't be reached, goes away,
// or isn't one of this package. away tells the client to connect again if this server goes away.
func (s *server) forward(w http.ResponseWriter, r *http.Request, g *grant, away func(*response)) bool {
	if !g.running || r.Header.Get(forwarded) != "" {
		return false
	}
	address, err := s.hub.Elsewhere(r.Context(), g.session.ID())
	if err != nil || address == "" {
		return false
	}
	raw, p := s.body(w, r) // also of a GET: its time limit would cut the stream
	if p != nil {
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(raw)) // if this server answers itself
	ctx, cancel := context.WithCancelCause(r.Context())
	var closing sync.WaitGroup
	defer closing.Wait()
	defer cancel(nil)
	closing.Go(func() {
		select {
		case <-s.hub.Closing():
			cancel(errClosing)
		case <-ctx.Done():
		}
	})
	res, err := passOn(ctx, r, address, raw)
	if err != nil {
		if r.Context().Err() == nil {
			s.log.WarnContext(r.Context(), "serve: the server that drives a run can't be reached; its text isn't streamed",
				"session", g.session.ID(), "address", address, "error", err)
		}
		g.unreachable = true
		return false
	}
	defer res.Body.Close()
	head := w.Header()
	for name, values := range res.Header {
		if name != "Set-Cookie" && name != forwarded { // this server's own middleware has set its cookies
			head[name] = values
		}
	}
	w.WriteHeader(res.StatusCode)
	if whole := copyStream(w, res.Body, cancel); whole && errors.Is(context.Cause(ctx), errClosing) && away != nil {
		away(&response{Writer: sse.NewWriter(w), ctx: ctx, hints: true})
	}
	return true
}

// passOn makes the request to another server. Its answer is one of this package.
func passOn(ctx context.Context, r *http.Request, address string, body []byte) (*http.Response, error) {
	uri := r.RequestURI // as it came, before a prefix was removed
	if u, err := url.ParseRequestURI(uri); err == nil {
		uri = u.RequestURI()
	}
	out, err := http.NewRequestWithContext(ctx, r.Method, address+uri, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header, out.Host = r.Header.Clone(), r.Host
	for _, name := range hops {
		out.Header.Del(name)
	}
	out.Header.Set(forwarded, "1")
	res, err := toHubs.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	if res.Header.Get(forwarded) == "" || res.StatusCode == http.StatusServiceUnavailable {
		res.Body.Close()
		return nil, errors.New("it answers " + res.Status)
	}
	for _, name := range hops {
		res.Header.Del(name)
	}
	return res, nil
}

var errSilent = errors.New("serve: the server that drives the run is silent")

// copyStream copies a stream as it comes, until it ends, is silent for too long, or the client
// doesn't read it. It reports whether the last event is whole.
func copyStream(w http.ResponseWriter, from io.Reader, cancel context.CancelCauseFunc) (whole bool) {
	to, part := http.NewResponseController(w), make([]byte, 32<<10)
	silent := time.AfterFunc(forwardSilence, func() { cancel(errSilent) })
	defer silent.Stop()
	for whole = true; ; {
		n, err := from.Read(part)
		silent.Reset(forwardSilence)
		if n > 0 {
			_ = to.SetWriteDeadline(time.Now().Add(slowWrite)) // not every writer has one
			if _, failed := w.Write(part[:n]); failed != nil {
				return false
			}
			if to.Flush() != nil {
				return false
			}
			whole = bytes.HasSuffix(part[:n], []byte("\n\n"))
		}
		if err != nil {
			return whole
		}
	}
}

// isElsewhere reports whether ev begins or resumes a run that the hub of another address drives, so
// that readers should connect again to get its text.
func (s *server) isElsewhere(ctx context.Context, g *grant, ev agent.Event) bool {
	switch ev.(type) {
	case *agent.RunStarted, *agent.StepStarted:
	default:
		return false
	}
	if meta := ev.Envelope(); meta.Session() != g.session.ID() || meta.Seq <= g.facts { // what was there before
		return false
	}
	address, err := s.hub.Elsewhere(ctx, g.session.ID())
	return err == nil && address != ""
}
