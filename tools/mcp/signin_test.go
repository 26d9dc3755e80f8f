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
