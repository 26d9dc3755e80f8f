package vertex_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/wire"
	"github.com/pawlkit/pawl/provider/vertex"
)

func ask(model string) *provider.Request {
	return &provider.Request{Model: model, Messages: []provider.Message{provider.User("hello")}}
}

// serviceAccount writes the file of a service account's key, and sets the variable that names it.
func serviceAccount(t *testing.T, tokenURL string) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	text, err := json.Marshal(map[string]string{"type": "service_account", "project_id": "of-the-file",
		"client_email": "a@b.test",
		"private_key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokenURL})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "key.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	t.Setenv("GOOGLE_CLOUD_PROJECT", "")
}

func TestTheDefaultCredentialsAuthorizeCalls(t *testing.T) {
	var tokens atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tokens.Add(1)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, theToken)
	}))
	defer server.Close()
	serviceAccount(t, server.URL)
	ctx, cancel := context.WithCancel(t.Context())
	tr := &wire.Offline{Reply: wire.Always(500, "no")}
	m, err := vertex.New(ctx, vertex.Config{Location: "us-east5", HTTPClient: &http.Client{Transport: tr}})
	require.NoError(t, err)
	cancel() // New's context isn't that of later requests for tokens
	for _, model := range models {
		_, err = provider.Generate(t.Context(), m, ask(model))
		require.Error(t, err)
	}
	require.Len(t, tr.Asked, 2)
	for _, r := range tr.Asked {
		require.Equal(t, "Bearer "+theToken, r.Header.Get("Authorization"))
		require.Contains(t, r.URL.Path, "/projects/of-the-file/locations/us-east5/")
	}
	require.EqualValues(t, 1, tokens.Load(), "the token is kept")
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func TestATokenServersAnswerIsInNoError(t *testing.T) {
	for status, class := range map[int]fault.Class{400: fault.UserFixable, 503: fault.Degraded} {
		var assertion atomic.Value
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			assertion.Store(string(body))
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":"invalid_grant","error_description":%q}`, body)
		}))
		serviceAccount(t, server.URL+"/token-of-the-path")
		tr := &wire.Offline{Reply: wire.Always(500, "no")}
		m, err := vertex.New(t.Context(), vertex.Config{HTTPClient: &http.Client{Transport: tr}})
		require.NoError(t, err)
		_, err = provider.Generate(t.Context(), m, ask(""))
		var e *provider.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, class, e.Class)
		require.Contains(t, e.Message, fmt.Sprint(status))
		text := fmt.Sprintf("%+v %#v", err, *e)
		require.NotContains(t, text, "token-of-the-path")
		require.NotContains(t, text, assertion.Load().(string)[60:100])
		require.Empty(t, tr.Asked)
		server.Close()
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

type source func() (*oauth2.Token, error)

func (s source) Token() (*oauth2.Token, error) { return s() }

func TestACanceledCallDoesNotWaitForItsToken(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	m, err := vertex.New(t.Context(), vertex.Config{Project: "p", TokenSource: source(func() (*oauth2.Token, error) {
		cancel(enough)
		<-release
		return nil, nil
	})})
	require.NoError(t, err)
	_, err = provider.Generate(ctx, m, ask(""))
	require.ErrorIs(t, err, enough)
	require.True(t, provider.Canceled(err))
}

func TestABadTokenSourceIsAnError(t *testing.T) {
	for name, s := range map[string]source{
		"panics": func() (*oauth2.Token, error) { panic("oh") },
		"nil":    func() (*oauth2.Token, error) { return nil, nil },
		"empty":  func() (*oauth2.Token, error) { return &oauth2.Token{}, nil },
	} {
		m, err := vertex.New(t.Context(), vertex.Config{Project: "p", TokenSource: s})
		require.NoError(t, err)
		_, err = provider.Generate(t.Context(), m, ask(""))
		require.Equal(t, fault.UserFixable, fault.Of(err), name)
	}
}

func TestATokenIsInNoError(t *testing.T) {
	for _, model := range models {
		for _, answer := range []func(*http.Request) *http.Response{
			wire.Always(401, `{"error":{"message":"`+theToken+`"}}`),
			wire.Always(403, `[{"error":{"code":403,"message":"`+theToken+`","status":"PERMISSION_DENIED"}}]`),
			wire.Always(500, theToken), wire.Always(200, theToken), wire.Always(200, "data: "+theToken+"\n\n"),
			wire.Always(200, "event: error\ndata: {\"error\":{\"message\":\""+theToken+"\"}}\n\n"),
			wire.Always(400, strings.Repeat("x", 290)+theToken),
			wire.Always(429, "no", "X-Request-Id", theToken),
		} {
			m := newModel(t, "http://vertex.test", &http.Client{Transport: &wire.Offline{Reply: answer}}, &wire.Case{})
			_, err := provider.Generate(t.Context(), m, ask(model))
			require.Error(t, err)
			require.NotContains(t, fmt.Sprintf("%+v", err), theToken[:12])
			var e *provider.Error
			if errors.As(err, &e) {
				require.NotContains(t, fmt.Sprintf("%#v", *e), theToken[:12])
				require.Equal(t, "vertex", e.Provider)
			}
		}
	}
}

func TestRemediesAreThoseOfTheCloud(t *testing.T) {
	for _, model := range models {
		for status, want := range map[int]string{401: "gcloud auth", 403: "roles/aiplatform.user"} {
			answer := wire.Always(status,
				fmt.Sprintf(`[{"error":{"code":%d,"message":"no","status":"NOT_NOW"}}]`, status))
			m := newModel(t, "http://vertex.test", &http.Client{Transport: &wire.Offline{Reply: answer}}, &wire.Case{})
			_, err := provider.Generate(t.Context(), m, ask(model))
			var e *provider.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, fault.UserFixable, e.Class)
			require.Contains(t, e.Remedy, want)
			require.Equal(t, "no", e.Message)
			require.Equal(t, "NOT_NOW", e.Type)
			require.Equal(t, model, e.Model)
		}
	}
}

func TestAConfigWithoutAProjectIsAnError(t *testing.T) {
	t.Setenv("GOOGLE_CLOUD_PROJECT", "")
	fixed := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: theToken})
	for want, cfg := range map[string]vertex.Config{
		"no project":            {TokenSource: fixed},
		"the location":          {TokenSource: fixed, Project: "p", Location: "evil.test/x"},
		"Config.BaseURL":        {TokenSource: fixed, Project: "p", BaseURL: "ftp://x"},
		"no usable application": {Project: "p"},
	} {
		t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "missing.json"))
		_, err := vertex.New(t.Context(), cfg)
		require.ErrorContains(t, err, want)
		require.Equal(t, fault.UserFixable, fault.Of(err))
	}
}

func TestInfoNamesTheCloud(t *testing.T) {
	m, err := vertex.New(t.Context(),
		vertex.Config{Project: "p", TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: theToken})})
	require.NoError(t, err)
	info, ok := m.InfoOf("claude-3-7-sonnet@20250219")
	require.True(t, ok)
	require.Equal(t, vertex.Name, info.Provider)
	require.Equal(t, 200_000, info.Window)
	require.Equal(t, vertex.DefaultModel, m.Info().ID)
}
