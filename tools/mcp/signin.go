package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A SignIn has people sign in to a server with OAuth. As long as nobody has, the server has one
// tool, Name.connect. Its call is suspended with the address to open in a browser. The host
// receives the redirect at the end of the sign-in, passes on its query, and answers the pause with
// nothing, so that no journal has the code:
//
//	err := server.SignedIn(credential, mcp.SignedIn{Code: q.Get("code"), State: q.Get("state"), Issuer: q.Get("iss")})
//	…
//	agent.Answer(pause.ID, struct{}{})
//
// The tools of the server are there from the next run on. A call that needs another sign-in,
// because the old one has ended or doesn't cover it, is suspended in the same way, and made when it
// is answered.
type SignIn struct {
	// Handler returns the handler of the SDK for a credential, which does everything else:
	// discovery, registration, tokens and their refreshing. It gets the function with which the
	// handler asks for a code: AuthorizationCodeHandlerConfig.AuthorizationCodeFetcher. It is
	// called once for a credential; the handler, which keeps the tokens, stays until the server is
	// closed.
	Handler func(credential string, fetch auth.AuthorizationCodeFetcher) (auth.OAuthHandler, error)
	// Time is how long somebody may take to sign in; 0: 10 min. After that, or a restart, the call
	// asks again with another address.
	Time time.Duration
}

// SignedIn is the query of the redirect at the end of a sign-in.
type SignedIn struct {
	Code   string // the parameter "code"
	State  string // "state"
	Issuer string // "iss"
}

// ErrNoSignIn is the error of [Server.SignedIn] if no sign-in is under way: it took too long, or
// this process was started after it began.
var ErrNoSignIn = fault.NewFixable("mcp: no sign-in is under way",
	"answer the pause; it then asks again with another address", nil)

// SignedIn takes the end of a sign-in with a credential. It returns when the handler has what it
// needs, or the handler's error.
func (s *Server) SignedIn(credential string, a SignedIn) error {
	c, done, err := s.use(credential)
	if err != nil {
		return err
	}
	defer done()
	c.mu.Lock()
	f := c.signIn
	c.mu.Unlock()
	if f == nil || !f.waits() {
		return ErrNoSignIn
	}
	select {
	case f.answer <- a:
	default: // another one was faster
	}
	select {
	case <-f.done:
		return f.err
	case <-time.After(s.cfg.Connect):
		return fault.New(fault.Transient, "mcp: the server doesn't complete the sign-in")
	}
}

const defaultSignIn = 10 * time.Minute

// mostSignIns is how often somebody is asked to sign in, for a call or until a request works.
const mostSignIns = 3

var errNotAccepted = fault.NewFixable("mcp: the server doesn't accept the sign-ins",
	"look whether the account may use this server, and sign in once more after a restart", nil)

// A flow is the handler's work for a credential that the server refuses: it asks for another token,
// or has somebody sign in.
type flow struct {
	asked  chan struct{} // closed when somebody has to sign in, with url
	url    string
	answer chan SignedIn
	done   chan struct{} // closed at the end, with err
	err    error
	cancel context.CancelFunc
}

// waits reports whether somebody has to sign in.
func (f *flow) waits() bool {
	select {
	case <-f.asked:
		return true
	default:
		return false
	}
}

// A signInError ends a request that needs somebody to sign in.
type signInError struct{ url string }

func (e *signInError) Error() string {
	return "mcp: somebody has to sign in: call the server's connect tool"
}

// Fault returns user-fixable.
func (e *signInError) Fault() fault.Class { return fault.UserFixable }

// signingIn reports whether a sign-in is under way.
func (c *conn) signingIn() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.signIn != nil
}

// asks returns the error of requests while somebody has to sign in; nil: nobody has to.
func (c *conn) asks() *signInError {
	c.mu.Lock()
	f := c.signIn
	c.mu.Unlock()
	if f == nil || !f.waits() {
		return nil
	}
	return &signInError{f.url}
}

// oauth returns the handler of requests. There is one for a credential: it keeps the tokens.
func (c *conn) oauth() (*authorizing, error) {
	s := c.server
	s.mu.Lock()
	h := s.conns.handlers[c.credential]
	s.mu.Unlock()
	if h == nil {
		own, err := s.cfg.SignIn.Handler(c.credential, s.fetch(c.credential))
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if h = s.conns.handlers[c.credential]; h == nil {
			h = own
			s.conns.handlers[c.credential] = h
		}
	}
	return &authorizing{h, c}, nil
}

// An authorizing is a handler that doesn't hold up a request while somebody signs in.
type authorizing struct {
	auth.OAuthHandler
	c *conn
}

// token returns the token for a request; empty: there is none.
func (a *authorizing) token(ctx context.Context) (token string, err error) {
	defer contain("the handler of SignIn", &err)
	source, err := a.TokenSource(context.WithoutCancel(ctx)) // others use it after this request
	if err != nil || source == nil {
		return "", err
	}
	t, err := source.Token()
	refused := (*oauth2.RetrieveError)(nil)
	switch {
	case errors.As(err, &refused) && refused.ErrorCode == "invalid_grant": // the server refuses the request
		return "", nil
	case err != nil || t == nil:
		return "", err
	}
	return t.AccessToken, nil
}

// Authorize has the handler ask for another token. All requests that are refused meanwhile wait for
// that. If somebody has to sign in, they end, and the handler waits in the background.
func (a *authorizing) Authorize(ctx context.Context, req *http.Request, res *http.Response) error {
	c := a.c
	c.mu.Lock()
	f := c.signIn
	if f == nil && !c.closed {
		f = &flow{asked: make(chan struct{}), answer: make(chan SignedIn, 1), done: make(chan struct{})}
		var detached context.Context
		detached, f.cancel = context.WithTimeout(context.WithoutCancel(ctx),
			cmp.Or(c.server.cfg.SignIn.Time, defaultSignIn))
		c.signIn = f
		c.mu.Unlock()
		c.server.inBackground(func() { c.authorize(detached, f, a.OAuthHandler, req, res) })
	} else {
		c.mu.Unlock()
		_ = res.Body.Close()
	}
	if f == nil {
		return ErrClosed
	}
	select {
	case <-f.asked:
		return &signInError{f.url}
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// authorize does the work of a flow.
func (c *conn) authorize(ctx context.Context, f *flow, h auth.OAuthHandler, req *http.Request, res *http.Response) {
	defer f.cancel()
	err := errors.New("mcp: the handler of SignIn has ended its goroutine")
	defer func() {
		c.mu.Lock()
		c.signIn, f.err = nil, err
		c.mu.Unlock()
		close(f.done)
		if f.waits() {
			c.server.notify()
		}
	}()
	defer contain("the handler of SignIn", &err)
	err = h.Authorize(ctx, req, res)
}

// fetch returns the function with which a credential's handler, which outlives connections, asks
// for a code: for the connection that there is then.
func (s *Server) fetch(credential string) auth.AuthorizationCodeFetcher {
	return func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		s.mu.Lock()
		c := s.conns.byCredential[credential]
		s.mu.Unlock()
		if c == nil {
			return nil, errUnasked
		}
		return c.fetch(ctx, args)
	}
}

var errUnasked = errors.New("mcp: the handler of SignIn asks for a code when it shouldn't")

// fetch waits for the code of a sign-in.
func (c *conn) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	c.mu.Lock()
	f, tries := c.signIn, c.signIns
	c.mu.Unlock()
	if f == nil || f.waits() {
		return nil, errUnasked
	}
	if tries >= mostSignIns {
		return nil, errNotAccepted
	}
	f.url = args.URL
	close(f.asked)
	c.server.notify()
	select {
	case a := <-f.answer:
		c.mu.Lock()
		c.signIns++
		c.mu.Unlock()
		return &auth.AuthorizationResult{Code: a.Code, State: a.State, Iss: a.Issuer}, nil
	case <-ctx.Done():
		return nil, &signInError{f.url}
	}
}

// suspension is the pause of a call until somebody has signed in.
func (e *signInError) suspension(server string, state any) tools.Suspend {
	return tools.Suspend{Kind: "sign_in", Prompt: "Sign in to " + server + ": " + e.url, Again: true,
		Schema: json.RawMessage(`{"type":"object"}`), State: state}
}

// signIn returns the error with which the call waits until somebody has signed in. What has been
// answered stays answered.
func (r *running) signIn(server string, ask *signInError, params *mcp.CallToolParams) error {
	if r.signIns >= mostSignIns {
		return errNotAccepted
	}
	w := waiting{State: params.RequestState, Within: len(r.answers) > 0, Answers: r.answers, SignIns: r.signIns + 1}
	if w.Within {
		return ask.suspension(server, w)
	}
	w.Answers = make(map[string]answer)
	for id, a := range params.InputResponses {
		if e, ok := a.(*mcp.ElicitResult); ok {
			w.Answers[id] = answer{Action: e.Action, Content: e.Content}
		}
	}
	return ask.suspension(server, w)
}

// signInTool returns the tool that has somebody sign in.
func (c *conn) signInTool() *tools.Definition {
	server, credential, name := c.server, c.credential, c.server.cfg.Name
	d, err := tools.Raw{
		Spec: tools.Spec{
			Name: name + ".connect", Description: "Has the user sign in to " + name +
				". Its tools can be used after that.",
			Category: "mcp", Tags: []string{"mcp:" + name}, Idempotent: true, NoRetries: true, NoBreaker: true,
		},
		Run: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
			c, done, err := server.use(credential)
			if err != nil {
				return tools.Result{}, err
			}
			defer done()
			ask := c.asks() // nobody has signed in yet
			if ask == nil {
				if _, err = c.open(ctx); err != nil && !errors.As(err, &ask) {
					return tools.Result{}, err
				}
			}
			if ask != nil {
				return tools.Result{}, ask.suspension(name, nil)
			}
			return tools.Text("Signed in. The tools of " + name + " are there in the next run."), nil
		},
	}.Define()
	if err != nil { // it is ours
		c.server.cfg.Logger.Error("mcp: the tool for signing in can't be defined", "error", err)
	}
	return d
}
