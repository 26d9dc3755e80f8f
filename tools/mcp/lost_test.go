package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

func readOnly(t *sdk.Tool) { t.Annotations = &sdk.ToolAnnotations{ReadOnlyHint: true} }

// After a restart of the server, or the end of its session, the next call works: the server has
// refused it before it ran.
func TestACallAfterARestartOfTheServerWorks(t *testing.T) {
	for name, stateless := range map[string]bool{"2026-07-28": true, "2025-11-25": false} {
		t.Run(name, func(t *testing.T) {
			var writes atomic.Int32
			build := func(s *sdk.Server) {
				tool(s, "write", func(context.Context, file) (string, error) { writes.Add(1); return "written", nil })
			}
			s := newSite(t, stateless, build)
			server := s.connect(mcp.Config{})
			for range 3 {
				out := execute(t, server, "files.write", file{"x"})
				require.Equal(t, tools.OK, out.Status, "%v", out.Err)
				s.restart(build)
			}
			require.EqualValues(t, 3, writes.Load())
		})
	}
}

// The connection is cut after the call has begun. A call that may be repeated is made again;
// another one stays in doubt.
func TestACallWhoseConnectionIsCut(t *testing.T) {
	for name, trusted := range map[string]bool{"a read is repeated": true, "a write is in doubt": false} {
		t.Run(name, func(t *testing.T) {
			var runs atomic.Int32
			var cut func()
			s, disconnect := inMemoryCut(t, mcp.Config{Trusted: trusted}, func(server *sdk.Server) {
				tool(server, "work", func(ctx context.Context, in file) (string, error) {
					if runs.Add(1) == 1 {
						cut()
						<-ctx.Done()
						return "", ctx.Err()
					}
					return "done", nil
				}, readOnly)
			})
			cut = disconnect
			out := execute(t, s, "files.work", file{"x"})
			if trusted {
				require.Equal(t, tools.OK, out.Status, "%v", out.Err)
				require.EqualValues(t, 2, runs.Load())
				return
			}
			require.Equal(t, tools.InDoubt, out.Status, "%v", out.Err)
			require.Contains(t, text(&out), "It isn't known whether the call had its effect")
			require.EqualValues(t, 1, runs.Load())
			out = execute(t, s, "files.work", file{"x"})
			require.Equal(t, tools.OK, out.Status, "the next call connects again: %v", out.Err)
		})
	}
}

// A connection that was cut between two calls is replaced: the second call was never sent.
func TestACallAfterTheConnectionWasCut(t *testing.T) {
	s, cut := inMemoryCut(t, mcp.Config{}, func(server *sdk.Server) { tool(server, "work", echo) })
	d := list(t, s)["files.work"]
	for range 50 {
		cut()
		out := run(t.Context(), d)
		require.Equal(t, tools.OK, out.Status, "%v", out.Err)
	}
}

// The session is lost to the request for the rest of the call's stream, with a transport of the
// host's: the call may have had its effect.
func TestACallIsntMadeAgainBecauseItsStreamCantBeResumed(t *testing.T) {
	for name, trusted := range map[string]bool{"a read is repeated": true, "a write is in doubt": false} {
		t.Run(name, func(t *testing.T) {
			var runs atomic.Int32
			here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var q struct {
					ID     json.RawMessage
					Method string
				}
				_ = json.NewDecoder(r.Body).Decode(&q)
				reply := func(result string) {
					body(jsonType, `{"jsonrpc":"2.0","id":ID,"result":`+result+`}`, false)(w, string(q.ID))
				}
				switch {
				case r.Header.Get("Last-Event-Id") != "":
					w.WriteHeader(http.StatusNotFound)
				case r.Method != http.MethodPost || q.Method == "server/discover":
					w.WriteHeader(http.StatusMethodNotAllowed)
				case q.Method == "initialize":
					w.Header().Set("Mcp-Session-Id", "one")
					reply(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},` +
						`"serverInfo":{"name":"x","version":"1"}}`)
				case q.Method == "tools/list":
					reply(`{"tools":[{"name":"work","inputSchema":{},"annotations":{"readOnlyHint":true}}]}`)
				case q.Method == "tools/call" && runs.Add(1) == 1:
					body(streamType, "id: 1\ndata:\n\n", false)(w, "")
				case q.Method == "tools/call":
					reply(`{"content":[]}`)
				default:
					w.WriteHeader(http.StatusAccepted)
				}
			}))
			defer here.Close()
			host := func(context.Context, string) (sdk.Transport, error) {
				return &sdk.StreamableClientTransport{Endpoint: here.URL}, nil
			}
			s := connect(t, mcp.Config{Trusted: trusted, Transport: host})
			out := execute(t, s, "files.work", file{"x"})
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

// A model reads that its call is in doubt, and the run goes on.
func TestAModelReadsThatACallIsInDoubt(t *testing.T) {
	var cut func()
	s, disconnect := inMemoryCut(t, mcp.Config{}, func(server *sdk.Server) {
		tool(server, "work", func(ctx context.Context, in file) (string, error) {
			cut()
			<-ctx.Done()
			return "", ctx.Err()
		})
	})
	cut = disconnect
	a, model := asking(t, &journal.MapStore{}, []tools.Source{s}, providertest.Call("files.work", file{"x"}),
		providertest.Say("I look first."))
	res, err := a.Run(t.Context(), agent.Input{Prompt: "Go."})
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	model.AssertSaw(t, 1, providertest.ToolResultText("files.work", "It isn't known whether the call had its effect"))
}

func TestOneAttemptToConnectForAllWhoWait(t *testing.T) {
	var dials atomic.Int32
	release := make(chan struct{})
	s := connect(t, mcp.Config{Transport: func(context.Context, string) (sdk.Transport, error) {
		dials.Add(1)
		<-release
		return nil, errors.New("it is down")
	}})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, err := s.List(context.Background())
			var failed *mcp.ConnectError
			if !errors.As(err, &failed) || fault.Of(err) != fault.Transient {
				t.Error(err)
			}
		})
	}
	close(release)
	wg.Wait()
	require.EqualValues(t, 1, dials.Load(),
		"those who waited get the same error, and there is no other attempt for a second")
}

// A server that accepts connections and says nothing doesn't hold anybody up for longer than
// Config.Connect.
func TestAServerThatHangs(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	s := connect(t, mcp.Config{URL: "http://" + l.Addr().String(), Connect: 50 * time.Millisecond})
	_, err = s.List(t.Context())
	require.ErrorContains(t, err, "it didn't answer within 50ms")
	require.Equal(t, fault.Transient, fault.Of(err))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = connect(t, mcp.Config{URL: "http://" + l.Addr().String()}).List(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// A server that answers, but doesn't list its tools: not every run waits for it.
func TestAServerThatDoesNotListItsTools(t *testing.T) {
	s := newSite(t, true, func(*sdk.Server) {})
	inner, asked := s.handler, atomic.Int32{}
	s.mu.Lock()
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "tools/list") {
			asked.Add(1)
			<-r.Context().Done()
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r)
	})
	s.mu.Unlock()
	server := s.connect(mcp.Config{Connect: 200 * time.Millisecond})
	for range 3 {
		_, err := server.List(t.Context())
		require.ErrorContains(t, err, "it didn't list its tools within 200ms")
	}
	require.EqualValues(t, 1, asked.Load())
}

func TestARedirectToAnotherHostIsRefused(t *testing.T) {
	var visited atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visited.Store(true) }))
	defer other.Close()
	here := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer here.Close()
	s := connect(t, mcp.Config{URL: here.URL, Header: func(context.Context, string) (http.Header, error) {
		return http.Header{"Authorization": {"Bearer hunter2"}}, nil
	}})
	_, err := s.List(t.Context())
	require.ErrorContains(t, err, "the server redirects to")
	require.NotContains(t, err.Error(), "hunter2")
	require.False(t, visited.Load())
}

// A panickingTransport panics when it connects.
type panickingTransport struct{}

func (panickingTransport) Connect(context.Context) (sdk.Connection, error) { panic("no line") }

func TestAFunctionOfTheHostThatPanicsWhileConnectingIsAnError(t *testing.T) {
	here := httptest.NewServer(http.NotFoundHandler())
	defer here.Close()
	for want, cfg := range map[string]mcp.Config{
		"Config.Header panicked: no key": {URL: here.URL,
			Header: func(context.Context, string) (http.Header, error) { panic("no key") }},
		"connecting by Config.Transport panicked: no line": {
			Transport: func(context.Context, string) (sdk.Transport, error) { return panickingTransport{}, nil }},
	} {
		_, err := connect(t, cfg).List(t.Context())
		var failed *mcp.ConnectError
		require.ErrorAs(t, err, &failed)
		require.ErrorContains(t, err, want)
	}
}

// A call whose context ends doesn't hurt the connection.
func TestACallThatIsCanceled(t *testing.T) {
	canceled := make(chan struct{})
	s := inMemory(t, mcp.Config{}, func(server *sdk.Server) {
		tool(server, "hang", func(ctx context.Context, in file) (string, error) {
			<-ctx.Done()
			close(canceled)
			return "", ctx.Err()
		})
		tool(server, "read", echo)
	})
	d := list(t, s)["files.hang"]
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	out := run(ctx, d)
	require.Equal(t, tools.Canceled, out.Status, "%v", out.Err)
	<-canceled // the server was told
	out = execute(t, s, "files.read", file{"x"})
	require.Equal(t, tools.OK, out.Status)
}

func TestAConnectionThatNobodyUsesIsClosed(t *testing.T) {
	var dials atomic.Int32
	ended := make(chan struct{}, 8)
	s := connect(t,
		mcp.Config{Idle: 30 * time.Millisecond, Transport: func(context.Context, string) (sdk.Transport, error) {
			dials.Add(1)
			server := sdk.NewServer(&sdk.Implementation{Name: "files", Version: "1"}, nil)
			tool(server, "read", echo)
			here, there := sdk.NewInMemoryTransports()
			session, err := server.Connect(context.Background(), there, nil)
			if err == nil {
				go func() { _ = session.Wait(); ended <- struct{}{} }()
			}
			return here, err
		}})
	require.Len(t, list(t, s), 1)
	<-ended
	require.Len(t, list(t, s), 1)
	require.EqualValues(t, 1, dials.Load(), "the list is known")
	out := execute(t, s, "files.read", file{"x"})
	require.Equal(t, tools.OK, out.Status)
	require.EqualValues(t, 2, dials.Load())
	<-ended
}

func TestEachCredentialHasItsConnection(t *testing.T) {
	var seen sync.Map
	s := newSite(t, true, func(server *sdk.Server) { tool(server, "read", echo) })
	server := s.connect(mcp.Config{
		Credential: func(l tools.Listing) string { return l.User },
		Header: func(_ context.Context, credential string) (http.Header, error) {
			seen.Store(credential, true)
			return http.Header{"X-Api-Key": {"key of " + credential}}, nil
		},
	})
	for _, user := range []string{"ann", "tom", "ann"} {
		a, model := asking(t, &journal.MapStore{}, []tools.Source{server}, providertest.Call("files.read", file{"x"}),
			providertest.Say("Done."))
		_, err := a.Run(t.Context(), agent.Input{Prompt: "Go.", User: user})
		require.NoError(t, err)
		model.AssertSaw(t, 1, providertest.ToolResultText("files.read", "read x"))
		s.mu.Lock()
		require.Equal(t, "key of "+user, s.header.Get("X-Api-Key"))
		s.mu.Unlock()
	}
	for _, user := range []string{"ann", "tom"} {
		_, ok := seen.Load(user)
		require.True(t, ok)
	}
}
