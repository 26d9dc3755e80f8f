package mcp

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A Server is an MCP server whose tools agents can call. It is a [tools.Source]: put it into
// agent.Config.Sources. It opens connections when they are needed, and opens them again when they
// were lost. It is safe for concurrent use.
type Server struct {
	cfg        Config
	background sync.WaitGroup // what ends after a connection

	mu      sync.Mutex // guards what follows
	conns   map[string]*conn
	changed chan struct{} // closed when a list of tools may differ
	closed  bool
}

// ErrClosed is the error for uses of a [Server] after its Close.
var ErrClosed = fault.New(fault.Permanent, "mcp: the server was closed")

// New returns a Server. It connects to nothing yet. The error is a *[ConfigError].
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &Server{cfg: cfg, conns: make(map[string]*conn), changed: make(chan struct{})}, nil
}

// Name returns Config.Name.
func (s *Server) Name() string { return s.cfg.Name }

// List returns the tools of the server for a run, sorted by name. It connects if there is no
// connection, and otherwise returns the list that it has. A tool that can't be used is left out:
// see Config.OnChange. A server that needs somebody to sign in has one tool, Name.connect: see
// [SignIn].
func (s *Server) List(ctx context.Context) ([]tools.Tool, error) {
	l, _ := tools.ListingOf(ctx)
	c, err := s.conn(s.credential(l))
	if err != nil {
		return nil, err
	}
	return c.list(ctx)
}

// Changed returns a channel that is closed when the server says that its tools have changed, or the
// connection was lost.
func (s *Server) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Close closes all connections, and ends child processes. It returns when they have ended, which
// may take 6 s. The server can't be used any more.
func (s *Server) Close() error {
	s.mu.Lock()
	conns := s.conns
	s.conns, s.closed = nil, true
	s.mu.Unlock()
	for _, c := range conns {
		c.close()
	}
	s.background.Wait()
	return nil
}

func (s *Server) credential(l tools.Listing) string {
	if s.cfg.Credential == nil {
		return ""
	}
	return s.cfg.Credential(l)
}

// conn returns the connection with a credential.
func (s *Server) conn(credential string) (*conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	c := s.conns[credential]
	if c == nil {
		c = &conn{server: s, credential: credential, gate: semaphore.NewWeighted(1), begun: make(chan *flow, 1)}
		s.conns[credential] = c
	}
	return c, nil
}

// notify says that a list of tools may differ.
func (s *Server) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}
