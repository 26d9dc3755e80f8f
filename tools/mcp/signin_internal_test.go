package mcp

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// A gate is a handler that asks for a code.
type gate struct{ fetch auth.AuthorizationCodeFetcher }

func (g *gate) TokenSource(context.Context) (oauth2.TokenSource, error) {
	return nil, nil //nolint:nilnil // as the interface says
}

func (g *gate) Authorize(ctx context.Context, _ *http.Request, _ *http.Response) error {
	_, err := g.fetch(ctx, &auth.AuthorizationArgs{URL: "https://login.example"})
	return err
}

// After a connection was forgotten, somebody can sign in with its credential again.
func TestSomebodyCanSignInAfterAConnectionWasForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handlers := 0
		s, err := New(Config{Name: "files", URL: "http://files.example", SignIn: &SignIn{
			Handler: func(_ string, fetch auth.AuthorizationCodeFetcher) (auth.OAuthHandler, error) {
				handlers++
				return &gate{fetch}, nil
			}}})
		require.NoError(t, err)
		defer s.Close()
		for i := range 3 {
			c, done, err := s.use("ann")
			require.NoError(t, err)
			h, err := c.oauth()
			require.NoError(t, err)
			err = h.Authorize(t.Context(), nil, &http.Response{Body: http.NoBody})
			require.ErrorAs(t, err, new(*signInError), "somebody is asked")
			require.NoError(t, s.SignedIn("ann", SignedIn{Code: "code"}))
			done()
			time.Sleep(forgotten)
			_, done, err = s.use(fmt.Sprint("another ", i))
			require.NoError(t, err)
			done()
			require.NotContains(t, s.conns.byCredential, "ann")
		}
		require.Equal(t, 1, handlers, "it has the tokens")
	})
}
