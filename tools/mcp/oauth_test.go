package mcp_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// An issuer is an authorization server: codes with a proof of possession (PKCE), tokens for a
// resource, refreshing with rotation.
type issuer struct {
	http *httptest.Server

	mu        sync.Mutex
	lifetime  int                   // of tokens, in seconds
	audience  string                // of tokens; empty: the resource that was asked for
	codes     map[string]url.Values // requests for authorization
	tokens    map[string]string     // the audiences of access tokens
	refreshes map[string]string     // the audiences of refresh tokens
	signIns   int
	refreshed int
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{lifetime: 3600, codes: map[string]url.Values{}, tokens: map[string]string{},
		refreshes: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, object{"issuer": i.http.URL, "authorization_endpoint": i.http.URL + "/authorize",
			"token_endpoint": i.http.URL + "/token", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported":      []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"client_secret_post"},
			"grant_types_supported":                 []string{"authorization_code", "refresh_token"}})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q, code := r.URL.Query(), rand.Text()
		i.mu.Lock()
		defer i.mu.Unlock()
		i.codes[code], i.signIns = q, i.signIns+1
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(),
			http.StatusFound)
	})
	mux.HandleFunc("POST /token", i.token)
	i.http = httptest.NewServer(mux)
	t.Cleanup(i.http.Close)
	return i
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// token exchanges a code, or refreshes.
func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	audience, ok := "", false
	if r.PostFormValue("client_id") == "agent" && r.PostFormValue("client_secret") == "s3cret" {
		switch r.PostFormValue("grant_type") {
		case "authorization_code":
			q := i.codes[r.PostFormValue("code")]
			sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
			ok = q != nil && q.Get("code_challenge") == base64.RawURLEncoding.EncodeToString(sum[:]) &&
				q.Get("redirect_uri") == r.PostFormValue("redirect_uri")
			audience = q.Get("resource")
			delete(i.codes, r.PostFormValue("code"))
		case "refresh_token":
			audience, ok = i.refreshes[r.PostFormValue("refresh_token")]
			delete(i.refreshes, r.PostFormValue("refresh_token"))
			i.refreshed++
		}
	}
	if !ok {
		answer(w, http.StatusBadRequest, object{"error": "invalid_grant"})
		return
	}
	if i.audience != "" {
		audience = i.audience
	}
	access, refresh := rand.Text(), rand.Text()
	i.tokens[access], i.refreshes[refresh] = audience, audience
	answer(w, http.StatusOK, object{"access_token": access, "token_type": "Bearer", "expires_in": i.lifetime,
		"refresh_token": refresh})
}

// revoke makes all tokens worthless.
func (i *issuer) revoke() {
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.tokens)
	clear(i.refreshes)
}

// protect lets only requests with a token for a site through to it.
func (i *issuer) protect(s *site) {
	const metadata = "/.well-known/oauth-protected-resource"
	inner := auth.RequireBearerToken(func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		i.mu.Lock()
		defer i.mu.Unlock()
		if audience, ok := i.tokens[token]; !ok || strings.TrimSuffix(audience, "/") != s.http.URL {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Expiration: time.Now().Add(time.Hour), UserID: "ann"}, nil
	}, &auth.RequireBearerTokenOptions{ResourceMetadataURL: s.http.URL + metadata})(s.handler)
	mux := http.NewServeMux()
	mux.Handle(metadata, auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource: s.http.URL, AuthorizationServers: []string{i.http.URL}}))
	mux.Handle("/", inner)
	s.mu.Lock()
	s.handler = mux
	s.mu.Unlock()
}

// signInConfig is for a site that an issuer protects, with the handler of the SDK.
func signInConfig() mcp.Config {
	return mcp.Config{SignIn: &mcp.SignIn{
		Handler: func(_ string, fetch auth.AuthorizationCodeFetcher) (auth.OAuthHandler, error) {
			return auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
				RedirectURL: "http://localhost:3000/callback", AuthorizationCodeFetcher: fetch,
				PreregisteredClient: &oauthex.ClientCredentials{ClientID: "agent",
					ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: "s3cret"}}})
		}}}
}

// signInAs runs until nothing waits for a sign-in, and returns how often somebody has signed in.
func signInAs(t *testing.T, a *agent.Agent, server *mcp.Server, prompt string) (n int) {
	t.Helper()
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: prompt})
	for ; err != nil; n++ {
		require.ErrorAs(t, err, new(*agent.PausedError))
		require.EqualValues(t, "sign_in", res.Pending[0].Kind)
		_, address, _ := strings.Cut(res.Pending[0].Reason, ": ")
		require.NoError(t, visit(server, address))
		res, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, struct{}{})))
	}
	require.Equal(t, agent.Completed, res.Status)
	return n
}

// A protected server, with an authorization server: somebody signs in; the token is refreshed
// without asking; after all was revoked, the call waits for another sign-in.
func TestAProtectedServer(t *testing.T) {
	for version, stateless := range map[string]bool{"2026-07-28": true, "2025-11-25": false} {
		t.Run(version, func(t *testing.T) {
			i, s := newIssuer(t), newSite(t, stateless, func(s *sdk.Server) { tool(s, "read", echo) })
			i.protect(s)
			i.lifetime = 1 // the SDK refreshes 10 s before the end
			server := s.connect(signInConfig())
			read := providertest.Call("files.read", file{"x"})
			a, model := asking(t, &journal.MapStore{}, []tools.Source{server},
				providertest.Call("files.connect", object{}), providertest.Say("You are signed in."),
				read, providertest.Say("Done."), read, providertest.Say("Done."))
			require.Equal(t, 1, signInAs(t, a, server, "Connect."))
			require.Zero(t, signInAs(t, a, server, "Read x."))
			model.AssertSaw(t, 3, providertest.ToolResultText("files.read", "read x"))
			require.Positive(t, i.refreshed)
			require.Equal(t, 1, i.signIns)

			i.revoke()
			require.Equal(t, 1, signInAs(t, a, server, "Read x again."))
			model.AssertSaw(t, 5, providertest.ToolResultText("files.read", "read x"))
			require.Equal(t, 2, i.signIns)
		})
	}
}

// A token that is for another server is refused. Nobody is asked without an end.
func TestATokenForAnotherServer(t *testing.T) {
	i, s := newIssuer(t), newSite(t, true, func(s *sdk.Server) { tool(s, "read", echo) })
	i.protect(s)
	i.audience = "https://other.example"
	server := s.connect(signInConfig())
	a, model := asking(t, &journal.MapStore{}, []tools.Source{server},
		providertest.Call("files.connect", object{}), providertest.Say("It can't be used."))
	require.Equal(t, 3, signInAs(t, a, server, "Connect."))
	require.Equal(t, 3, i.signIns)
	model.AssertSaw(t, 1, providertest.ToolResultText("files.connect", "doesn't accept the sign-ins"))
}
