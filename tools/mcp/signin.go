package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

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
// The tools of the server are there from the next run on.
type SignIn struct {
	// Handler returns the handler of the SDK for a credential, which does everything else:
	// discovery, registration, tokens and their refreshing. It gets the function with which the
	// handler asks for a code: AuthorizationCodeHandlerConfig.AuthorizationCodeFetcher.
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

// SignedIn takes the end of a sign-in with a credential.
func (s *Server) SignedIn(credential string, a SignedIn) error {
	c, err := s.conn(credential)
	if err != nil {
		return err
	}
	c.mu.Lock()
	f := c.signIn
	c.mu.Unlock()
	if f == nil {
		return ErrNoSignIn
	}
	select {
	case f.answer <- a:
	default: // another one was faster
	}
	select {
	case <-f.done:
		return nil
	case <-time.After(s.cfg.Connect):
		return fault.New(fault.Transient, "mcp: the server doesn't complete the sign-in")
	}
}

const defaultSignIn = 10 * time.Minute

// A flow is a sign-in under way.
type flow struct {
	url    string
	answer chan SignedIn
	done   chan struct{}
	cancel context.CancelFunc
}

// errSignIn ends an attempt to connect: somebody has to sign in.
var errSignIn = fault.NewFixable("mcp: somebody has to sign in", "call the server's connect tool", nil)

// oauth returns the handler of requests. It keeps the tokens.
func (c *conn) oauth() (auth.OAuthHandler, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handler != nil {
		return c.handler, nil
	}
	h, err := c.server.cfg.SignIn.Handler(c.credential, c.fetch)
	if err == nil {
		c.handler = h
	}
	return h, err
}

// fetch waits for the code of a sign-in. The attempt to connect goes on in the background
// meanwhile.
func (c *conn) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.server.cfg.SignIn.Time, defaultSignIn))
	defer cancel()
	f := &flow{url: args.URL, answer: make(chan SignedIn, 1), done: make(chan struct{}), cancel: cancel}
	c.mu.Lock()
	if c.signIn != nil { // a request of an open session needs another sign-in while one is under way
		c.mu.Unlock()
		return nil, errSignIn
	}
	c.signIn = f
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.signIn = nil
		c.mu.Unlock()
		select {
		case <-c.begun: // a request of an open session has begun it, so nobody else waits
			close(f.done)
		default:
		}
	}()
	select {
	case c.begun <- f:
	default:
		return nil, errSignIn
	}
	c.server.notify()
	select {
	case a := <-f.answer:
		return &auth.AuthorizationResult{Code: a.Code, State: a.State, Iss: a.Issuer}, nil
	case <-ctx.Done():
		return nil, errSignIn
	}
}

// signInTool returns the tool that has somebody sign in.
func (c *conn) signInTool() *tools.Definition {
	d, err := tools.Raw{
		Spec: tools.Spec{
			Name: c.server.cfg.Name + ".connect", Description: "Has the user sign in to " + c.server.cfg.Name +
				". Its tools can be used after that.",
			Category: "mcp", Tags: []string{"mcp:" + c.server.cfg.Name}, Idempotent: true, NoRetries: true,
			NoBreaker: true,
		},
		Run: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
			_, err := c.open(ctx)
			c.mu.Lock()
			f := c.signIn
			c.mu.Unlock()
			switch {
			case f != nil: // nobody has signed in yet, or the address is another one after a restart
				return tools.Result{}, tools.Suspend{
					Kind: "sign_in", Prompt: "Sign in to " + c.server.cfg.Name + ": " + f.url, Again: true,
					Schema: json.RawMessage(`{"type":"object"}`),
				}
			case err != nil:
				return tools.Result{}, err
			}
			return tools.Text("Signed in. The tools of " + c.server.cfg.Name + " are there in the next run."), nil
		},
	}.Define()
	if err != nil { // it is ours
		c.server.cfg.Logger.Error("mcp: the tool for signing in can't be defined", "error", err)
	}
	return d
}
