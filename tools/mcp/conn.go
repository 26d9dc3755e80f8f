package mcp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/semaphore"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/backoff"
	"github.com/pawlkit/pawl/tools"
)

// A conn is the connection to a server with one credential: open, or to be opened.
type conn struct {
	server     *Server
	credential string
	connecting *semaphore.Weighted // of one: one attempt to connect for all who wait
	listing    *semaphore.Weighted // of one, held while the tools are listed; calls don't wait for it

	users int       // that use it now; guarded by the server's mu
	used  time.Time // when the last one has ended; guarded by the server's mu

	mu      sync.Mutex // guards what follows
	closed  bool
	session *session // nil: not connected
	tools   []tools.Tool
	listed  bool      // tools are those that the server has now
	changes int       // that the tools may have had so far
	asked   time.Time // when it was asked for them
	dials   failures
	lists   failures
	idle    *time.Timer
	signIn  *flow // under way
	signIns int   // since the last request that worked
}

// A session is an open connection.
type session struct {
	*mcp.ClientSession
	server   string
	observed bool          // its messages pass through this package
	said     func() string // the end of what its process has written to its standard error; nil: it has none

	mu     sync.Mutex          // guards what follows
	calls  map[string]*running // by progress token
	begun  int                 // calls so far
	users  int                 // requests under way
	tasks  map[string]bool     // own names of the tools that can only be called as tasks
	pinged bool                // a ping is under way
}

// A failures has the last failure of something, and how long there is no other attempt: 1 s, 2 s,
// 4 s … 30 s.
type failures struct {
	inRow int
	err   *ConnectError
}

var delays = backoff.Delays{Min: time.Second, Max: 30 * time.Second}

// failed notes that an attempt has failed, and returns the error until the next one.
func (f *failures) failed(server string, err error) error {
	f.inRow++
	advised, _ := fault.RetryAfter(err)
	f.err = &ConnectError{Server: server, Until: time.Now().Add(max(advised, delays.After(f.inRow))), Err: err}
	return f.err
}

// wait returns the error of the last attempt, if there may be no other yet.
func (f *failures) wait() error {
	if f.err != nil && time.Now().Before(f.err.Until) {
		return f.err
	}
	return nil
}

// A ConnectError says that a server can't be reached. Its class is transient, unless the server
// says that the credential is wrong.
type ConnectError struct {
	Server string
	Until  time.Time // when the next attempt is made; until then this error is returned at once
	Err    error
}

// Error names the server.
func (e *ConnectError) Error() string {
	return fmt.Sprintf("mcp: the server %q can't be reached: %s", e.Server, tools.Cut(e.Err.Error(), maxMessage))
}

// Unwrap returns the cause.
func (e *ConnectError) Unwrap() error { return e.Err }

// Fault returns transient, unless the cause is about the configuration or the credential.
func (e *ConnectError) Fault() fault.Class {
	switch class := fault.Of(e.Err); class {
	case fault.UserFixable, fault.Denied, fault.Invalid:
		return class
	}
	return fault.Transient
}

// open returns the session, and makes the connection if there is none. Several callers wait for one
// attempt.
func (c *conn) open(ctx context.Context) (*session, error) {
	if s, err := c.current(); s != nil || err != nil {
		return s, err
	}
	if c.connecting.Acquire(ctx, 1) != nil {
		return nil, context.Cause(ctx)
	}
	defer c.connecting.Release(1)
	if s, err := c.current(); s != nil || err != nil {
		return s, err
	}
	s, err := c.dial(ctx)
	if err == nil {
		err = c.install(s)
	}
	switch {
	case err == nil:
		return s, nil
	case fault.Of(err) == fault.None || errors.Is(err, ErrClosed): // the caller has given up
		return nil, err
	}
	// The SDK goes on with the older protocol after a 401, so that the error may be another one.
	if ask := c.asks(); ask != nil {
		return nil, ask
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return nil, c.dials.failed(c.server.cfg.Name, err)
}

// current returns the session, if there is one, or why no attempt to connect is made.
func (c *conn) current() (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, ErrClosed
	case c.session != nil:
		c.touch()
		return c.session, nil
	}
	return nil, c.dials.wait()
}

// dial makes a connection.
func (c *conn) dial(ctx context.Context) (*session, error) {
	cfg := &c.server.cfg
	ctx, cancel := context.WithTimeoutCause(ctx, cfg.Connect,
		fault.Errorf(fault.Transient, "it didn't answer within %s", cfg.Connect))
	defer cancel()
	s := &session{server: cfg.Name, calls: make(map[string]*running), tasks: make(map[string]bool)}
	transport, err := c.transport(ctx, s)
	if err != nil {
		return nil, err
	}
	options := &mcp.ClientOptions{
		Logger:                 cfg.Logger,
		Capabilities:           &mcp.ClientCapabilities{},
		ElicitationHandler:     s.elicit,
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { c.stale(s) },
		MultiRoundTrip:         &mcp.MultiRoundTripOptions{Disabled: true},
	}
	if !s.observed {
		options.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			s.progress(r.Params)
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "pawl", Version: "1"}, options)
	// Connect may ignore the end of its context: a server that accepts the connection and says
	// nothing, for example.
	dialing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	done := make(chan error, 1)
	go func() {
		err := errors.New("mcp: connecting has ended its goroutine") // until it has returned
		defer func() { done <- err }()
		defer contain("connecting by Config.Transport", &err)
		s.ClientSession, err = client.Connect(dialing, transport, nil)
	}()
	select {
	case err := <-done:
		if failure := ofServer(err); fault.Of(failure) != fault.None {
			c.server.count(failure)
		}
		if err != nil && s.said != nil {
			err = fmt.Errorf("%w%s", err, s.said())
		}
		return s, err
	case <-ctx.Done():
		stop()
		c.server.inBackground(func() {
			if <-done == nil {
				_ = s.Close()
			}
		})
		return nil, context.Cause(ctx)
	}
}

// install makes a session the current one. If the server was closed meanwhile, it closes the
// session.
func (c *conn) install(s *session) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		_ = s.Close()
		return ErrClosed
	}
	c.session, c.listed, c.dials = s, false, failures{}
	c.touch()
	c.mu.Unlock() // the server's mu is taken before it, never after
	c.server.inBackground(func() { c.watch(s) })
	return nil
}

// transport returns the transport of a new connection.
func (c *conn) transport(ctx context.Context, s *session) (mcp.Transport, error) {
	cfg := &c.server.cfg
	switch {
	case cfg.Transport != nil:
		t, err := cfg.Transport(ctx, c.credential)
		switch t.(type) {
		case *mcp.InMemoryTransport, *mcp.IOTransport, *mcp.CommandTransport:
			t, s.observed = &observedTransport{t, s}, true
		}
		return t, err
	case len(cfg.Command) > 0:
		said := &logged{cfg: cfg}
		s.observed, s.said = true, said.kept
		return &observedTransport{&command{cfg, said}, s}, nil
	}
	s.observed = true
	return c.overHTTP(s)
}

// overHTTP returns the transport of a new connection to Config.URL.
func (c *conn) overHTTP(s *session) (mcp.Transport, error) {
	cfg := &c.server.cfg
	endpoint, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	trip := &requests{client: redirecting(cfg.Client), header: cfg.Header, credential: c.credential, session: s,
		stale: func() { c.stale(s) }, logger: cfg.Logger,
		query: endpoint.RawQuery, path: endpoint.Path}
	endpoint.RawQuery = ""
	if cfg.SignIn != nil {
		if trip.signIn, err = c.oauth(); err != nil {
			return nil, err
		}
	}
	return &mcp.StreamableClientTransport{Endpoint: endpoint.String(), HTTPClient: &http.Client{Transport: trip},
		MaxRetries: math.MaxInt32}, nil // the stream that belongs to no request is never given up
}

// watch waits for the end of a session.
func (c *conn) watch(s *session) {
	err := s.Wait()
	if c.drop(s) {
		c.server.cfg.Logger.Warn("mcp: the connection has ended", "server", c.server.cfg.Name, "error", err)
		c.server.notify()
	}
}

// drop forgets a session, and closes it when its calls have ended. It reports whether that was the
// current one.
func (c *conn) drop(s *session) bool {
	c.mu.Lock()
	current := c.session == s
	if current {
		c.session, c.listed = nil, false
		c.changes++
		c.idle.Stop()
		c.idle = nil // it holds the session
	}
	c.mu.Unlock()
	if current {
		c.server.inBackground(func() { _ = s.Close() }) // the server may be gone
	}
	return current
}

// stale says that the server's tools have changed.
func (c *conn) stale(s *session) {
	c.mu.Lock()
	if c.session == s {
		c.listed = false
		c.changes++
	}
	c.mu.Unlock()
	c.server.notify()
}

// touch keeps the connection open for the time of Config.Idle. The caller holds mu.
func (c *conn) touch() {
	if c.idle != nil {
		c.idle.Stop()
	}
	s := c.session
	c.idle = time.AfterFunc(c.server.cfg.Idle, func() {
		c.mu.Lock()
		if c.session != s || s == nil {
			c.mu.Unlock()
			return
		}
		if s.busy() {
			c.touch()
			c.mu.Unlock()
			return
		}
		c.session, c.idle = nil, nil // the list stays: the next call connects again
		c.mu.Unlock()
		c.server.inBackground(func() { _ = s.Close() })
	})
}

// close closes the connection for good.
func (c *conn) close() {
	c.mu.Lock()
	s, flow := c.session, c.signIn
	c.session, c.signIn, c.closed = nil, nil, true
	if c.idle != nil {
		c.idle.Stop()
	}
	c.mu.Unlock()
	if flow != nil {
		flow.cancel()
	}
	if s != nil {
		_ = s.Close()
	}
}

// lost reports whether an error says that the session is over.
func lost(err error) bool {
	return errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, mcp.ErrSessionMissing)
}
