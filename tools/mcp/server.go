package mcp

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A Server is an MCP server whose tools agents can call. It is a [tools.Source]: put it into
// agent.Config.Sources. It opens connections when they are needed, and opens them again when they
// were lost. It is safe for concurrent use.
type Server struct {
	cfg     Config
	breaker *circuit.Breaker // of the server itself; each tool has its own
	life    context.Context  // ends with Close
	end     context.CancelFunc

	background sync.WaitGroup // what ends after a connection

	mu      sync.Mutex // guards what follows
	conns   conns
	known   map[[sha256.Size]byte]*known // by the JSON of the tool
	changed chan struct{}                // closed when a list of tools may differ
	closed  bool
}

// ErrClosed is the error for uses of a [Server] after its Close.
var ErrClosed = fault.New(fault.Permanent, "mcp: the server was closed")

// New returns a Server. It connects to nothing yet. The error is a *[ConfigError].
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, breaker: newBreaker(cfg.Name), changed: make(chan struct{})}
	s.known = make(map[[sha256.Size]byte]*known)
	s.conns.byCredential, s.conns.handlers = make(map[string]*conn), make(map[string]auth.OAuthHandler)
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

// Name returns Config.Name.
func (s *Server) Name() string { return s.cfg.Name }

// List returns the tools of the server for a run, sorted by name. It connects if there is no
// connection, and otherwise returns the list that it has. A tool that can't be used is left out:
// see Config.OnChange. A server that needs somebody to sign in has one tool, Name.connect: see
// [SignIn].
func (s *Server) List(ctx context.Context) ([]tools.Tool, error) {
	l, _ := tools.ListingOf(ctx)
	c, done, err := s.use(s.credential(l))
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, stop := s.whileOpen(ctx)
	defer stop()
	return c.list(ctx)
}

// Changed returns a channel that is closed when the server says that its tools have changed, or the
// connection was lost.
func (s *Server) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Close closes all connections, and ends child processes. Calls under way end: as in doubt, if they
// can't be repeated. It returns when the connections have ended, which may take 6 s. The server
// can't be used any more.
func (s *Server) Close() error {
	s.mu.Lock()
	all := s.conns.byCredential
	s.known = make(map[[sha256.Size]byte]*known)
	s.conns.byCredential, s.closed = nil, true
	s.mu.Unlock()
	s.end()
	var closing sync.WaitGroup
	for _, c := range all {
		closing.Go(c.close)
	}
	closing.Wait()
	s.background.Wait()
	return nil
}

// whileOpen returns a context that ends with ErrClosed if the server is closed.
func (s *Server) whileOpen(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.life, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// inBackground does something for which no call waits, and Close does.
func (s *Server) inBackground(do func()) {
	s.mu.Lock()
	if !s.closed {
		s.background.Go(do)
		do = func() {}
	}
	s.mu.Unlock()
	do()
}

func (s *Server) credential(l tools.Listing) string {
	if s.cfg.Credential == nil {
		return ""
	}
	return s.cfg.Credential(l)
}

// notify says that a list of tools may differ.
func (s *Server) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}
