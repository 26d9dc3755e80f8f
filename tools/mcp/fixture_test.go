package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

type object = map[string]any

type file struct {
	Path string `json:"path"`
}

// A site is a server of MCP over HTTP that can be replaced while its address stays: as after a
// restart.
type site struct {
	t         *testing.T
	http      *httptest.Server
	stateless bool

	mu      sync.Mutex
	handler http.Handler
	servers []*sdk.Server // the newest last
	header  http.Header   // of the last request
	posts   atomic.Int32
}

func newSite(t *testing.T, stateless bool, build func(*sdk.Server)) *site {
	t.Helper()
	s := &site{t: t, stateless: stateless}
	s.restart(build)
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		h := s.handler
		s.header = r.Header.Clone()
		s.mu.Unlock()
		if r.Method == http.MethodPost {
			s.posts.Add(1)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.http.Close()
		for _, server := range s.servers {
			for session := range server.Sessions() {
				_ = session.Close()
			}
		}
	})
	return s
}

// restart puts another process in the place of the server: it knows no sessions.
func (s *site) restart(build func(*sdk.Server)) {
	server := sdk.NewServer(&sdk.Implementation{Name: "files", Version: "1"}, nil)
	build(server)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = append(s.servers, server)
	s.handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		return server
	}, &sdk.StreamableHTTPOptions{Stateless: s.stateless})
}

// connect returns a Server for a site.
func (s *site) connect(cfg mcp.Config) *mcp.Server {
	s.t.Helper()
	cfg.URL = s.http.URL
	return connect(s.t, cfg)
}

func connect(t *testing.T, cfg mcp.Config) *mcp.Server {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "files"
	}
	s, err := mcp.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// inMemory returns a Server that is connected to a server of this process.
func inMemory(t *testing.T, cfg mcp.Config, build func(*sdk.Server)) *mcp.Server {
	t.Helper()
	s, _ := inMemoryCut(t, cfg, build)
	return s
}

// inMemoryCut is inMemory with a function that cuts the current connection, as a process that dies
// does. Closing the session of the SDK's server wouldn't: that waits for the calls under way.
func inMemoryCut(t *testing.T, cfg mcp.Config, build func(*sdk.Server)) (*mcp.Server, func()) {
	t.Helper()
	var last atomic.Pointer[line]
	cfg.Transport = func(context.Context, string) (sdk.Transport, error) {
		server := sdk.NewServer(&sdk.Implementation{Name: "files", Version: "1"}, nil)
		build(server)
		here, there := sdk.NewInMemoryTransports()
		last.Store(&line{Transport: there})
		if _, err := server.Connect(context.Background(), last.Load(), nil); err != nil {
			return nil, err
		}
		return here, nil
	}
	return connect(t, cfg), func() { _ = last.Load().conn.Close() }
}

// A line is a transport whose connection can be closed by others.
type line struct {
	sdk.Transport
	conn sdk.Connection
}

func (l *line) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := l.Transport.Connect(ctx)
	l.conn = conn
	return conn, err
}

// tool adds a tool that answers with a text.
func tool(s *sdk.Server, name string, run func(ctx context.Context, in file) (string, error),
	change ...func(*sdk.Tool)) {
	t := &sdk.Tool{Name: name, Description: "The tool " + name}
	for _, c := range change {
		c(t)
	}
	sdk.AddTool(s, t, func(ctx context.Context, _ *sdk.CallToolRequest, in file) (*sdk.CallToolResult, any, error) {
		text, err := run(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
	})
}

func echo(_ context.Context, in file) (string, error) { return "read " + in.Path, nil }

// list returns the tools of a server by their names.
func list(t *testing.T, s *mcp.Server) map[string]*tools.Definition {
	t.Helper()
	found, err := s.List(t.Context())
	require.NoError(t, err)
	byName := make(map[string]*tools.Definition)
	for _, one := range found {
		d, err := one.Define()
		require.NoError(t, err)
		byName[d.Name()] = d
	}
	return byName
}

// asking returns an agent with the tools of servers.
func asking(t *testing.T, store journal.Store, sources []tools.Source, steps ...providertest.Step) (*agent.Agent,
	*providertest.Model) {
	t.Helper()
	model := providertest.Script(steps...)
	a, err := agent.New(agent.Config{Name: "a", Provider: model, Journal: store, Sources: sources})
	require.NoError(t, err)
	return a, model
}

// execute executes a tool directly.
func execute(t *testing.T, s *mcp.Server, name string, input any) tools.Outcome {
	t.Helper()
	d := list(t, s)[name]
	require.NotNil(t, d, name)
	raw, err := json.Marshal(input)
	require.NoError(t, err)
	return runCall(t.Context(), d, tools.Call{ID: "c-1", Input: raw, IdempotencyKey: "k-1"}, nil)
}

// runCall runs a call of a tool that was listed, as if a person had approved it.
func runCall(ctx context.Context, d *tools.Definition, c tools.Call, breakers *circuit.Set) tools.Outcome {
	reg, err := tools.NewRegistry(d)
	if err != nil {
		return tools.Outcome{Err: err}
	}
	c.Name = d.Name()
	out := reg.Run(ctx, c, tools.Options{Breakers: breakers})
	if out.Question != nil {
		out = reg.Run(ctx, c, tools.Options{Breakers: breakers, Approved: out.Question.Hash})
	}
	return out
}

func text(o *tools.Outcome) string {
	if len(o.Parts) == 0 {
		return ""
	}
	return o.Parts[0].Text
}
