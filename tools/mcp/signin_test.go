package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"

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
	a, model := asking(t, journal.NewMemory(), []tools.Source{server},
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
			a, model := asking(t, journal.NewMemory(), []tools.Source{server},
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
	a, model := asking(t, journal.NewMemory(), []tools.Source{server}, providertest.Call("files.write", file{"x"}),
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
