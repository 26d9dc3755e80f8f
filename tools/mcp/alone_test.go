package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// before has a site's handler give way to another one for the requests with a text in their body.
func (s *site) before(text string, answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inner := s.handler
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(raw))
		if bytes.Contains(raw, []byte(text)) {
			answer(w, r)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// run executes a tool of those that were listed.
func run(ctx context.Context, d *tools.Definition) tools.Outcome {
	return runCall(ctx, d, tools.Call{ID: "c", Input: []byte(`{"path":"x"}`), IdempotencyKey: "k"}, nil)
}

// A request that is refused says nothing about other tools of the server.
func TestARequestThatIsTooLargeLeavesOtherToolsAvailable(t *testing.T) {
	s := newSite(t, false, func(s *sdk.Server) {
		tool(s, "big", echo)
		tool(s, "small", echo)
	})
	s.before(`"big"`, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) })
	byName := list(t, s.connect(mcp.Config{}))
	breakers := circuit.NewSet(circuit.Tool())
	call := func(name string) tools.Outcome {
		return runCall(t.Context(), byName[name], tools.Call{Input: []byte(`{"path":"x"}`)}, breakers)
	}
	for range 6 {
		out := call("files.big")
		require.Equal(t, tools.Failed, out.Status)
		require.Contains(t, text(&out), "status 413 Request Entity Too Large: it hasn't run the call")
	}
	out := call("files.small")
	require.Equal(t, tools.OK, out.Status, "%v", out.Err)
}

// While the server is asked for its tools again, calls go on.
func TestCallsDoNotWaitForAList(t *testing.T) {
	s := newSite(t, false, func(s *sdk.Server) { tool(s, "small", echo) })
	server := s.connect(mcp.Config{Refresh: time.Nanosecond})
	d := list(t, server)["files.small"]
	asked, listed := make(chan struct{}), make(chan error)
	s.before("tools/list", func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := server.List(ctx)
		listed <- err
	}()
	<-asked
	out := run(t.Context(), d)
	require.Equal(t, tools.OK, out.Status, "%v", out.Err)
	cancel()
	require.ErrorIs(t, <-listed, context.Canceled)
}

// After 5 statuses of 500 and above in a row, calls of all tools fail without being sent. Other
// statuses show that the server is there.
func TestAServerThatIsDownIsLeftAlone(t *testing.T) {
	s := newSite(t, true, func(s *sdk.Server) {
		tool(s, "a", echo)
		tool(s, "b", echo)
	})
	byName := list(t, s.connect(mcp.Config{}))
	var calls atomic.Int32
	var code atomic.Int32
	s.before("tools/call", func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(int(code.Load()))
	})
	for _, status := range []int32{500, 502, 503, 500, 404, 500, 503, 500, 500, 429, 413, 401, 403, 400} {
		code.Store(status)
		run(t.Context(), byName["files.a"])
	}
	require.EqualValues(t, 14, calls.Load())
	code.Store(503)
	for range 5 {
		out := run(t.Context(), byName["files.a"])
		require.Equal(t, tools.InDoubt, out.Status)
	}
	out := run(t.Context(), byName["files.b"])
	require.Equal(t, tools.Failed, out.Status, "it isn't in doubt")
	require.ErrorAs(t, out.Err, new(*circuit.OpenError))
	require.EqualValues(t, 19, calls.Load())
}

// Close doesn't wait for the calls under way.
func TestClosingDoesNotWaitForCalls(t *testing.T) {
	for name, build := range map[string]func(cfg mcp.Config, build func(*sdk.Server)) *mcp.Server{
		"over HTTP": func(cfg mcp.Config, build func(*sdk.Server)) *mcp.Server {
			return newSite(t, true, build).connect(cfg)
		},
		"in memory": func(cfg mcp.Config, build func(*sdk.Server)) *mcp.Server { return inMemory(t, cfg, build) },
	} {
		t.Run(name, func(t *testing.T) {
			began, over := make(chan struct{}), make(chan struct{})
			s := build(mcp.Config{}, func(s *sdk.Server) {
				tool(s, "hang", func(context.Context, file) (string, error) {
					close(began)
					<-over
					return "", nil
				})
			})
			d, ended := list(t, s)["files.hang"], make(chan tools.Outcome, 1)
			go func() { ended <- run(context.Background(), d) }()
			<-began
			require.NoError(t, s.Close())
			out := <-ended
			require.Equal(t, tools.InDoubt, out.Status, "%v", out.Err)
			require.ErrorIs(t, out.Err, mcp.ErrClosed)
			close(over)
		})
	}
}

// A server that answers nothing any more, also no ping, is replaced. Nothing but time says so.
func TestAServerThatHangsInACallIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		s, err := mcp.New(mcp.Config{Name: "files", Transport: func(context.Context, string) (sdk.Transport, error) {
			dials++
			here, there := net.Pipe()
			go hang(there, dials == 1)
			return &sdk.IOTransport{Reader: here, Writer: here}, nil
		}})
		require.NoError(t, err)
		d := list(t, s)["files.a"]
		out := run(t.Context(), d)
		require.Equal(t, tools.TimedOut, out.Status, "%v", out.Err)
		time.Sleep(16 * time.Second) // the time of a ping
		out = run(t.Context(), d)
		require.Equal(t, tools.OK, out.Status, "%v", out.Err)
		require.Equal(t, 2, dials)
		require.NoError(t, s.Close())
		synctest.Wait()
	})
}

// hang serves a tool over a connection, up to the first call if dead.
func hang(c net.Conn, dead bool) {
	in := bufio.NewScanner(c)
	for in.Scan() {
		var q struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal(in.Bytes(), &q)
		result := ""
		switch q.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"a","inputSchema":{}}]}`
		case "tools/call":
			if dead {
				_, _ = io.Copy(io.Discard, c)
				return
			}
			result = `{"content":[]}`
		case "server/discover":
			fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", q.ID)
		}
		if result != "" {
			fmt.Fprintf(c, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", q.ID, result)
		}
	}
}

// A pipes is a listener whose connections are in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

// The stream that belongs to no request ends, and is refused when it is asked for again: a call
// that is under way isn't touched.
func TestTheStreamOfNotificationsEndsWithinACall(t *testing.T) {
	for name, code := range map[string]int{"the server doesn't know the session": 404, "it is down": 503,
		"it has no more streams": 405} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { endStream(t, code) })
		})
	}
}

func endStream(t *testing.T, code int) {
	over, gets := make(chan struct{}), atomic.Int32{}
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if r.Method == http.MethodGet {
			if gets.Add(1) > 1 {
				w.WriteHeader(code)
			} else {
				w.Header().Set("Content-Type", streamType)
			}
			return
		}
		_ = json.NewDecoder(r.Body).Decode(&q)
		w.Header().Set("Content-Type", jsonType)
		switch q.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "one")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},`+
				`"serverInfo":{"name":"x","version":"1"}}}`, q.ID)
		case "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"a","inputSchema":{}}]}}`, q.ID)
		case "tools/call":
			<-over
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, q.ID)
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	})}
	line := make(pipes)
	go func() { _ = web.Serve(line) }()
	transport := &http.Transport{DialContext: line.dial}
	s, err := mcp.New(mcp.Config{Name: "files", URL: "http://files.example/mcp", Call: 10 * time.Minute,
		Client: &http.Client{Transport: transport}})
	require.NoError(t, err)
	d, ended := list(t, s)["files.a"], make(chan tools.Outcome, 1)
	news := s.Changed()
	go func() { ended <- run(t.Context(), d) }()
	time.Sleep(5 * time.Minute)
	require.Greater(t, gets.Load(), int32(3), "it is asked for again")
	require.Less(t, gets.Load(), int32(20))
	if code == http.StatusNotFound {
		<-news // the tools may be others
	}
	close(over)
	out := <-ended
	require.Equal(t, tools.OK, out.Status, "%v", out.Err)
	require.NoError(t, s.Close())
	transport.CloseIdleConnections()
	close(line)
	require.NoError(t, web.Close())
	synctest.Wait()
}
