package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// A door is a handler that asks for a code, and takes one as the token.
type door struct {
	fetch auth.AuthorizationCodeFetcher
	token atomic.Pointer[string]
}

func (d *door) TokenSource(context.Context) (oauth2.TokenSource, error) {
	token := d.token.Load()
	if token == nil {
		return nil, nil //nolint:nilnil // as the interface says
	}
	return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: *token, TokenType: "Bearer"}), nil
}

func (d *door) Authorize(ctx context.Context, _ *http.Request, res *http.Response) error {
	_ = res.Body.Close()
	got, err := d.fetch(ctx, &auth.AuthorizationArgs{URL: "https://login.example/authorize?state=st"})
	if err != nil {
		return err
	}
	d.token.Store(&got.Code)
	return nil
}

func TestAServerThatNeedsASignInOffersOneToolThatWaitsForIt(t *testing.T) {
	s := newSite(t, true, func(s *sdk.Server) { tool(s, "read", echo) })
	s.mu.Lock()
	inner := s.handler
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer the-code-of-the-sign-in" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
	s.mu.Unlock()
	server := s.connect(mcp.Config{
		SignIn: &mcp.SignIn{Handler: func(_ string, fetch auth.AuthorizationCodeFetcher) (auth.OAuthHandler, error) {
			return &door{fetch: fetch}, nil
		}}})
	a, model := asking(t, &journal.MapStore{}, []tools.Source{server},
		providertest.Call("files.connect", object{}), providertest.Say("You are signed in."),
		providertest.Call("files.read", file{"x"}), providertest.Say("Done."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "Read x."})
	require.ErrorAs(t, err, new(*agent.PausedError))
	model.AssertTools(t, 0, "files.connect")
	require.Equal(t, "Sign in to files: https://login.example/authorize?state=st", res.Pending[0].Reason)
	require.EqualValues(t, "sign_in", res.Pending[0].Kind)

	res, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, struct{}{})))
	require.ErrorAs(t, err, new(*agent.PausedError), "nobody has signed in")
	require.NoError(t, server.SignedIn("", mcp.SignedIn{Code: "the-code-of-the-sign-in", State: "st"}))
	require.ErrorIs(t, server.SignedIn("", mcp.SignedIn{}), mcp.ErrNoSignIn)
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, struct{}{})))
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	model.AssertSaw(t, 1, providertest.ToolResultText("files.connect", "Signed in."))
	_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "Now read x."})
	require.NoError(t, err)
	model.AssertSaw(t, 3, providertest.ToolResultText("files.read", "read x"))
	facts, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	stored, err := json.Marshal(facts)
	require.NoError(t, err)
	require.NotContains(t, string(stored), "the-code-of-the-sign-in")
}

// A call that needs a further scope waits for a sign-in, at once, and is made when somebody has
// signed in. Calls that don't need it go on meanwhile. Nobody is asked without an end.
func TestACallThatNeedsAFurtherScopeWaitsForASignIn(t *testing.T) {
	for version, stateless := range map[string]bool{"2026-07-28": true, "2025-11-25": false} {
		t.Run(version, func(t *testing.T) {
			s := newSite(t, stateless, func(s *sdk.Server) {
				tool(s, "read", echo)
				tool(s, "write", func(context.Context, file) (string, error) { return "written", nil })
			})
			s.before(`"write"`, scoped(s.handler))
			server := s.connect(mcp.Config{SignIn: &mcp.SignIn{
				Handler: func(_ string, fetch auth.AuthorizationCodeFetcher) (auth.OAuthHandler, error) {
					return &door{fetch: fetch}, nil
				}}})
			a, model := asking(t, &journal.MapStore{}, []tools.Source{server},
				providertest.Call("files.write", file{"x"}), providertest.Say("Done."))
			res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "Write."})
			require.ErrorAs(t, err, new(*agent.PausedError))
			require.EqualValues(t, "sign_in", res.Pending[0].Kind)
			require.Equal(t, "Sign in to files: https://login.example/authorize?state=st", res.Pending[0].Reason)
			out := execute(t, server, "files.read", file{"x"})
			require.Equal(t, tools.OK, out.Status, "%v", out.Err)

			require.NoError(t, server.SignedIn("", mcp.SignedIn{Code: "wide", State: "st"}))
			_, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, struct{}{})))
			require.NoError(t, err)
			model.AssertSaw(t, 1, providertest.ToolResultText("files.write", "written"))
		})
	}
}

func TestNobodyIsAskedToSignInWithoutAnEnd(t *testing.T) {
	s := newSite(t, true, func(s *sdk.Server) { tool(s, "write", echo) })
	s.before(`"write"`, scoped(s.handler))
	server := s.connect(mcp.Config{SignIn: &mcp.SignIn{
		Handler: func(_ string, fetch auth.AuthorizationCodeFetcher) (auth.OAuthHandler, error) {
			return &door{fetch: fetch}, nil
		}}})
	a, model := asking(t, &journal.MapStore{}, []tools.Source{server}, providertest.Call("files.write", file{"x"}),
		providertest.Say("It can't be written."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "Write."})
	for range 3 {
		require.ErrorAs(t, err, new(*agent.PausedError))
		require.NoError(t, server.SignedIn("", mcp.SignedIn{Code: "narrow", State: "st"}))
		res, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, struct{}{})))
	}
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	model.AssertSaw(t, 1, providertest.ToolResultText("files.write", "the server doesn't accept the sign-ins"))
}

// scoped refuses requests without the wide token.
func scoped(inner http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer wide" {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		inner.ServeHTTP(w, r)
	}
}

// A clerk is a handler that gets tokens without asking anybody.
type clerk struct {
	door
	authorize func(context.Context) error
}

func (c *clerk) Authorize(ctx context.Context, _ *http.Request, res *http.Response) error {
	_ = res.Body.Close()
	return c.authorize(ctx)
}

// withClerk returns the tools of a site of which one waits for release, and signs in with a clerk.
func withClerk(t *testing.T, s *site, authorize func(context.Context) error) map[string]*tools.Definition {
	t.Helper()
	return list(t, s.connect(mcp.Config{
		SignIn: &mcp.SignIn{Handler: func(string, auth.AuthorizationCodeFetcher) (auth.OAuthHandler, error) {
			return &clerk{authorize: authorize}, nil
		}},
		Adjust: func(t *sdk.Tool, spec *tools.Spec) {
			if t.Name == "hang" {
				spec.Timeout = 50 * time.Millisecond
			}
		}}))
}

// Somebody who gives up while a token is asked for ends no other call.
func TestACallerThatGivesUpWhileATokenIsAskedForEndsNoOtherCall(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	s := newSite(t, false, func(s *sdk.Server) {
		tool(s, "write", echo)
		tool(s, "wait", func(context.Context, file) (string, error) { close(begun); <-release; return "done", nil })
		tool(s, "read", echo)
	})
	s.before(`"write"`, scoped(s.handler))
	authorizing := make(chan struct{})
	byName := withClerk(t, s, func(ctx context.Context) error {
		close(authorizing)
		<-release
		return nil
	})
	waited := make(chan tools.Outcome, 1)
	go func() { waited <- run(t.Context(), byName["files.wait"]) }()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-authorizing; cancel() }()
	out := run(ctx, byName["files.write"])
	require.Equal(t, tools.Canceled, out.Status, "%v", out.Err)
	out = run(t.Context(), byName["files.read"]) // a connection that ends does so meanwhile
	require.Equal(t, tools.OK, out.Status, "%v", out.Err)
	close(release)
	out = <-waited
	require.Equal(t, tools.OK, out.Status, "%v", out.Err)
}

// A ping that is refused is answered: the connection stays, and nobody has to sign in for it.
func TestAPingThatIsRefusedEndsNoCall(t *testing.T) {
	for _, code := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		begun, release := make(chan struct{}), make(chan struct{})
		s := newSite(t, false, func(s *sdk.Server) {
			tool(s, "hang", func(ctx context.Context, _ file) (string, error) { <-ctx.Done(); return "", ctx.Err() })
			tool(s, "wait", func(context.Context, file) (string, error) { close(begun); <-release; return "done", nil })
			tool(s, "read", echo)
		})
		pinged := make(chan struct{}, 8)
		s.before(`"ping"`, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code); pinged <- struct{}{} })
		var asked atomic.Int32
		byName := withClerk(t, s, func(context.Context) error { asked.Add(1); return nil })
		waited := make(chan tools.Outcome, 1)
		go func() { waited <- run(t.Context(), byName["files.wait"]) }()
		<-begun
		run(t.Context(), byName["files.hang"])
		<-pinged
		out := run(t.Context(), byName["files.read"]) // a connection that ends does so meanwhile
		require.Equal(t, tools.OK, out.Status, "%v", out.Err)
		close(release)
		out = <-waited
		require.Equal(t, tools.OK, out.Status, "%v", out.Err)
		require.Zero(t, asked.Load())
	}
}

// A token that is asked for in vain: the call hasn't been run, and the server isn't down.
func TestATokenThatCantBeHad(t *testing.T) {
	var runs atomic.Int32
	s := newSite(t, false, func(s *sdk.Server) {
		tool(s, "write", func(context.Context, file) (string, error) { runs.Add(1); return "written", nil })
		tool(s, "read", echo)
	})
	s.before(`"write"`, scoped(s.handler))
	byName := withClerk(t, s, func(context.Context) error {
		return &net.OpError{Op: "dial", Err: errors.New("the issuer is down")}
	})
	for range 6 {
		out := run(t.Context(), byName["files.write"])
		require.Equal(t, tools.Failed, out.Status, "%v", out.Err)
		require.ErrorContains(t, out.Err, "the issuer is down")
	}
	out := run(t.Context(), byName["files.read"])
	require.Equal(t, tools.OK, out.Status, "%v", out.Err)
	require.Zero(t, runs.Load())
}
