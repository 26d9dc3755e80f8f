package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// A server over HTTP that dies within a call: the request arrived, so the call may have had its
// effect.
func TestACallWhoseServerOverHTTPDies(t *testing.T) {
	for version, stateless := range map[string]bool{"2026-07-28": true, "2025-11-25": false} {
		for name, trusted := range map[string]bool{"a read is repeated": true, "a write is in doubt": false} {
			t.Run(version+" "+name, func(t *testing.T) {
				var runs atomic.Int32
				s := newSite(t, stateless, func(server *sdk.Server) {
					tool(server, "work", func(context.Context, file) (string, error) {
						runs.Add(1)
						return "done", nil
					}, readOnly)
				})
				inner := s.handler
				s.mu.Lock()
				s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					r.Body = io.NopCloser(bytes.NewReader(body))
					if !strings.Contains(string(body), `"tools/call"`) {
						inner.ServeHTTP(w, r)
						return
					}
					before, answer := runs.Load(), httptest.NewRecorder()
					inner.ServeHTTP(answer, r)
					if before == 0 && runs.Load() == 1 {
						panic(http.ErrAbortHandler) // it has run, and nobody gets the answer
					}
					maps.Copy(w.Header(), answer.Header())
					w.WriteHeader(answer.Code)
					_, _ = w.Write(answer.Body.Bytes())
				})
				s.mu.Unlock()
				out := execute(t, s.connect(mcp.Config{Trusted: trusted}), "files.work", file{"x"})
				if trusted {
					require.Equal(t, tools.OK, out.Status, "%v", out.Err)
					require.EqualValues(t, 2, runs.Load())
					return
				}
				require.Equal(t, tools.InDoubt, out.Status, "%v", out.Err)
				require.EqualValues(t, 1, runs.Load())
			})
		}
	}
}

// A call whose request can't have arrived isn't in doubt: nobody answers at the address, or there
// is no key.
func TestACallThatWasNeverSent(t *testing.T) {
	noKey := false
	s := newSite(t, true, func(server *sdk.Server) { tool(server, "work", echo) })
	unpooled := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	server := s.connect(mcp.Config{Client: unpooled, Header: func(context.Context, string) (http.Header, error) {
		if noKey {
			return nil, fault.New(fault.UserFixable, "there is no key")
		}
		return nil, nil
	}})
	d := list(t, server)["files.work"]
	call := func() tools.Outcome {
		return run(t.Context(), d)
	}
	inner := s.handler
	for status, class := range map[int]fault.Class{401: fault.UserFixable, 403: fault.Permanent, 429: fault.RateLimited,
		404: fault.Permanent} {
		s.mu.Lock()
		s.handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		s.mu.Unlock()
		out := call()
		require.Equal(t, tools.Failed, out.Status, "%v", out.Err)
		require.Equal(t, class, fault.Of(out.Err), "%v", out.Err)
		s.mu.Lock()
		s.handler = inner
		s.mu.Unlock()
		out = call()
		require.Equal(t, tools.OK, out.Status, "%v", out.Err)
	}
	noKey = true
	out := call()
	require.Equal(t, tools.Failed, out.Status, "%v", out.Err)
	require.ErrorContains(t, out.Err, "there is no key")
	noKey = false
	out = call()
	require.Equal(t, tools.OK, out.Status, "%v", out.Err)
	require.NoError(t, s.http.Listener.Close())
	out = call()
	require.Equal(t, tools.Failed, out.Status, "%v", out.Err)
	require.ErrorContains(t, out.Err, "connection refused")
}

// A server that redirects a call has had it, and may have run it.
func TestACallThatIsRedirected(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			var calls, others atomic.Int32
			s := newSite(t, true, func(server *sdk.Server) { tool(server, "work", echo) })
			var down atomic.Bool
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
				DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
					if down.Load() && calls.Load() > 0 {
						return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
					}
					return (&net.Dialer{}).DialContext(ctx, network, address)
				}}}
			d := list(t, s.connect(mcp.Config{Client: client}))["files.work"]
			inner := s.handler
			s.before("tools/call", func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/elsewhere" {
					others.Add(1)
					inner.ServeHTTP(w, r)
					return
				}
				calls.Add(1)
				http.Redirect(w, r, "/elsewhere", code)
			})
			down.Store(true)
			out := run(t.Context(), d)
			require.Equal(t, tools.InDoubt, out.Status, "%v", out.Err)
			require.EqualValues(t, 1, calls.Load())
			require.Zero(t, others.Load())

			down.Store(false)
			if out = run(t.Context(), d); code < 307 {
				require.Equal(t, tools.InDoubt, out.Status, "%v", out.Err)
				require.ErrorContains(t, out.Err, "status "+strconv.Itoa(code))
				require.Zero(t, others.Load(), "it isn't made a GET")
				return
			}
			require.Equal(t, tools.OK, out.Status, "%v", out.Err)
			require.EqualValues(t, 1, others.Load())
		})
	}
}

// A reply without an end doesn't fill the memory.
func TestAReplyWithoutAnEnd(t *testing.T) {
	var sent atomic.Int64
	s := newSite(t, true, func(server *sdk.Server) { tool(server, "work", echo) })
	server := s.connect(mcp.Config{})
	d := list(t, server)["files.work"]
	s.mu.Lock()
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		piece := []byte(strings.Repeat(" ", 1<<20))
		for range 200 {
			n, err := w.Write(piece)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	})
	s.mu.Unlock()
	out := run(t.Context(), d)
	require.Equal(t, tools.InDoubt, out.Status, "%v", out.Err)
	require.ErrorContains(t, out.Err, "more than")
	s.http.CloseClientConnections()
	require.Less(t, sent.Load(), int64(64<<20))
}
