package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/semaphore"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A conn is the connection to a server with one credential: open, or to be opened.
type conn struct {
	server     *Server
	credential string
	// held while the connection is opened or the tools are listed: one attempt for all who wait
	gate *semaphore.Weighted // of one

	mu       sync.Mutex // guards what follows
	closed   bool
	session  *session // nil: not connected
	tools    []tools.Tool
	listed   bool      // tools are those that the server has now
	asked    time.Time // when it was asked for them
	failures int
	next     time.Time // when the next attempt may be made
	err      error     // of the last one
	idle     *time.Timer
	handler  auth.OAuthHandler // of all sessions
	signIn   *flow             // under way
	begun    chan *flow        // receives each sign-in that begins
}

// A session is an open connection.
type session struct {
	*mcp.ClientSession

	mu    sync.Mutex          // guards what follows
	calls map[string]*running // by progress token
	begun int                 // calls so far
	tasks map[string]bool     // own names of the tools that can only be called as tasks
}

// backoff is how long after a failure there is no other attempt: 1 s, 2 s, 4 s and so on.
const (
	backoff    = time.Second
	maxBackoff = 30 * time.Second
)

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
	if c.gate.Acquire(ctx, 1) != nil {
		return nil, context.Cause(ctx)
	}
	defer c.gate.Release(1)
	return c.connect(ctx)
}

// connect is open for a caller that holds the gate.
func (c *conn) connect(ctx context.Context) (*session, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil, ErrClosed
	}
	if s := c.session; s != nil {
		c.touch()
		c.mu.Unlock()
		return s, nil
	}
	if c.err != nil && time.Now().Before(c.next) {
		defer c.mu.Unlock()
		return nil, c.err
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, c.server.cfg.Connect,
		fault.Errorf(fault.Transient, "it didn't answer within %s", c.server.cfg.Connect))
	defer cancel()
	s, err := c.dial(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = c.install(s)
	}
	if err != nil {
		return nil, c.backOff(err)
	}
	return s, nil
}

// backOff notes that an attempt has failed, and returns the error until the next one.
func (c *conn) backOff(err error) error {
	if fault.Of(err) == fault.None || errors.Is(err, errSignIn) || errors.Is(err, ErrClosed) {
		// the caller has given up
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = time.Now().Add(min(backoff<<min(c.failures, 10), maxBackoff))
	c.failures++
	c.err = &ConnectError{Server: c.server.cfg.Name, Until: c.next, Err: err}
	return c.err
}

// dial makes a connection.
func (c *conn) dial(ctx context.Context) (*session, error) {
	cfg := &c.server.cfg
	s := &session{calls: make(map[string]*running), tasks: make(map[string]bool)}
	transport, observed, err := c.transport(ctx, s)
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
	if !observed {
		options.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			s.progress(r.Params)
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "pawl", Version: "1"}, options)
	// Connect may ignore the end of its context: a server that accepts the connection and says
	// nothing, for example. And it goes on while somebody signs in.
	dialing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() {
		err := errors.New("mcp: connecting has ended its goroutine") // until it has returned
		defer func() { done <- err }()
		defer contain("connecting by Config.Transport", &err)
		s.ClientSession, err = client.Connect(dialing, transport, nil)
	}()
	select {
	case err := <-done:
		cancel()
		return s, err
	case f := <-c.begun:
		c.server.background.Go(func() {
			defer close(f.done)
			defer cancel()
			if err := <-done; err == nil && c.install(s) == nil {
				c.server.notify()
			}
		})
		return nil, errSignIn
	case <-ctx.Done():
		cancel()
		c.server.background.Go(func() {
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
	defer c.mu.Unlock()
	c.session, c.listed, c.err = s, false, nil
	c.touch()
	c.server.background.Go(func() { c.watch(s) })
	return nil
}

// transport returns the transport of a new connection, and whether the session observes its
// messages.
func (c *conn) transport(ctx context.Context, s *session) (t mcp.Transport, observed bool, err error) {
	cfg := &c.server.cfg
	switch {
	case cfg.Transport != nil:
		t, err = cfg.Transport(ctx, c.credential)
		switch t.(type) {
		case *mcp.InMemoryTransport, *mcp.IOTransport, *mcp.CommandTransport:
			t, observed = &observedTransport{t, s}, true
		}
		return t, observed, err
	case len(cfg.Command) > 0:
		return &observedTransport{&command{cfg}, s}, true, nil
	}
	t, err = c.overHTTP(s)
	return t, true, err
}

// overHTTP returns the transport of a new connection to Config.URL.
func (c *conn) overHTTP(s *session) (mcp.Transport, error) {
	cfg := &c.server.cfg
	client := *cfg.Client
	endpoint, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	client.Transport = &requests{next: client.Transport, header: cfg.Header, credential: c.credential, session: s,
		query: endpoint.RawQuery, path: endpoint.Path}
	endpoint.RawQuery = ""
	t := &mcp.StreamableClientTransport{Endpoint: endpoint.String(), HTTPClient: &client}
	if cfg.SignIn != nil {
		handler, err := c.oauth()
		if err != nil {
			return nil, err
		}
		t.OAuthHandler = handler
	}
	return t, nil
}

// watch waits for the end of a session.
func (c *conn) watch(s *session) {
	err := s.Wait()
	if c.drop(s) {
		c.server.cfg.Logger.Warn("mcp: the connection has ended", "server", c.server.cfg.Name, "error", err)
		c.server.notify()
	}
}

// drop forgets a session, and closes it. It reports whether that was the current one.
func (c *conn) drop(s *session) bool {
	c.mu.Lock()
	current := c.session == s
	if current {
		c.session, c.listed = nil, false
		if c.idle != nil {
			c.idle.Stop()
		}
	}
	c.mu.Unlock()
	_ = s.Close() // the server may be gone
	return current
}

// stale says that the server's tools have changed.
func (c *conn) stale(s *session) {
	c.mu.Lock()
	if c.session == s {
		c.listed = false
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
		c.session = nil // the list stays: the next call connects again
		c.mu.Unlock()
		_ = s.Close()
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
