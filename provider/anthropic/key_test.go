package anthropic_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

const secret = "sk-ant-very-secret"

func emptyEnvironment(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"} {
		t.Setenv(name, "")
	}
}

const okay = `{"type":"message","content":[],"stop_reason":"end_turn"}`

func TestWithoutAKeyNewSaysWhatToDo(t *testing.T) {
	emptyEnvironment(t)
	_, err := anthropic.New(anthropic.Config{})
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.ErrorContains(t, err, "ANTHROPIC_API_KEY")
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Contains(t, e.Remedy, "ANTHROPIC_API_KEY")

	for _, cfg := range []anthropic.Config{
		{APIKey: secret}, {Key: func(context.Context) (string, error) { return "", nil }},
		{BaseURL: "http://localhost:1"},
		{Header: http.Header{"Authorization": {"Bearer x"}}},
	} {
		_, err := anthropic.New(cfg)
		require.NoError(t, err)
	}
}

func TestTheKeyComesFromTheConfigOrTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		key, token string // of the environment
		cfg        anthropic.Config
		header     string
		want       string
	}{
		{"env", "token", anthropic.Config{APIKey: " own\n"}, "X-Api-Key", "own"},
		{"env", "token", anthropic.Config{}, "X-Api-Key", "env"},
		{"", "token", anthropic.Config{}, "Authorization", "Bearer token"},
		{"env", "", anthropic.Config{Key: func(context.Context) (string, error) { return "asked", nil }}, "X-Api-Key",
			"asked"},
		{"env", "", anthropic.Config{Header: http.Header{"Authorization": {"Bearer mine"}}}, "X-Api-Key", ""},
		{"env", "", anthropic.Config{APIKey: "own", Header: http.Header{"x-api-key": {"mine"}}}, "X-Api-Key", "mine"},
		{"", "", anthropic.Config{Header: http.Header{"Anthropic-Beta": {"a", "b"}}}, "Anthropic-Beta", "a"},
		{"", "", anthropic.Config{}, "X-Api-Key", ""},
	} {
		emptyEnvironment(t)
		t.Setenv("ANTHROPIC_API_KEY", c.key)
		t.Setenv("ANTHROPIC_AUTH_TOKEN", c.token)
		t.Setenv("ANTHROPIC_BASE_URL", "http://localhost")
		tr := &wire.Offline{Reply: wire.Always(200, okay)}
		_, err := provider.Generate(t.Context(), connect(t, c.cfg, tr), ask("x"))
		require.NoError(t, err)
		require.Equal(t, c.want, tr.Asked[0].Header.Get(c.header))
		require.Equal(t, "2023-06-01", tr.Asked[0].Header.Get("Anthropic-Version"))
	}
}

func TestARejectedKeyIsRequestedOnceMore(t *testing.T) {
	asked := 0
	key := func(context.Context) (string, error) {
		asked++
		return "key-" + strconv.Itoa(asked), nil
	}
	tr := &wire.Offline{}
	tr.Reply = func(req *http.Request) *http.Response {
		if req.Header.Get("X-Api-Key") == "key-2" {
			return wire.Always(200, okay)(req)
		}
		return wire.Always(401,
			`{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`)(req)
	}
	m := connect(t, anthropic.Config{Key: key}, tr)
	_, err := provider.Generate(t.Context(), m, ask("x"))
	require.NoError(t, err)
	require.Equal(t, 2, asked)

	_, err = provider.Generate(t.Context(), m, ask("x")) // keys 3 and 4
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.Equal(t, 4, asked)
	require.Len(t, tr.Asked, 4)

	tr = &wire.Offline{Reply: wire.Always(401, `{}`)}
	_, err = provider.Generate(t.Context(),
		connect(t, anthropic.Config{Key: func(context.Context) (string, error) { return "same", nil }}, tr), ask("x"))
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.Len(t, tr.Asked, 1, "the same key isn't tried twice")
}

func TestAMissingKeyIsAnErrorBeforeTheCall(t *testing.T) {
	locked := errors.New("the vault is locked")
	for _, c := range []struct {
		key  func(context.Context) (string, error)
		want fault.Class
	}{
		{func(context.Context) (string, error) { return "", locked }, fault.UserFixable},
		{func(context.Context) (string, error) { return " ", nil }, fault.UserFixable},
		{func(context.Context) (string, error) { return "", fault.Wrap(fault.Transient, locked) }, fault.Transient},
	} {
		tr := &wire.Offline{Reply: wire.Always(200, okay)}
		_, err := provider.Generate(t.Context(), connect(t, anthropic.Config{Key: c.key}, tr), ask("x"))
		require.Equal(t, c.want, fault.Of(err))
		require.Empty(t, tr.Asked)
	}
}

func TestKeysAreNeverShown(t *testing.T) {
	cfg := anthropic.Config{APIKey: secret, Header: http.Header{"X-Extra": {secret}}, BaseURL: "http://user:" + secret +
		"@localhost/?k=" + secret}
	m, err := anthropic.New(cfg)
	require.NoError(t, err)
	fromFunc, err := anthropic.New(anthropic.Config{Key: func(context.Context) (string, error) { return secret, nil }})
	require.NoError(t, err)
	tr := &wire.Offline{Reply: wire.Always(401,
		`{"error":{"type":"authentication_error","message":"the key `+secret+` is wrong"}}`)}
	_, refused := provider.Generate(t.Context(), connect(t, anthropic.Config{APIKey: secret}, tr), ask("x"))
	require.Error(t, refused)
	_, unreached := provider.Generate(t.Context(),
		connect(t, anthropic.Config{APIKey: secret}, broken{errors.New("down")}), ask("x"))
	require.Error(t, unreached)
	_, noURL := anthropic.New(anthropic.Config{BaseURL: "ftp://" + secret})
	require.Equal(t, fault.UserFixable, fault.Of(noURL))
	for _, v := range []any{cfg, &cfg, m, *m, fromFunc, refused, unreached, errors.Unwrap(unreached), noURL, struct {
		C anthropic.Config
	}{cfg}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			require.NotContains(t, fmt.Sprintf(verb, v), secret, "%T with %s", v, verb)
			require.NotContains(t, fmt.Sprintf(verb, v), fmt.Sprintf("%x", secret), "%T with %s", v, verb)
		}
	}
}

func TestTheBaseURLIsAcceptedWithOrWithoutV1(t *testing.T) {
	emptyEnvironment(t)
	for base, want := range map[string]string{
		"http://h":     "http://h/v1/messages",
		"http://h/":    "http://h/v1/messages",
		"http://h/v1":  "http://h/v1/messages",
		"http://h/v1/": "http://h/v1/messages",
		"http://h/gw":  "http://h/gw/v1/messages",
	} {
		tr := &wire.Offline{Reply: wire.Always(200, okay)}
		_, err := provider.Generate(t.Context(), connect(t, anthropic.Config{BaseURL: base}, tr), ask("x"))
		require.NoError(t, err)
		require.Equal(t, want, tr.Asked[0].URL.String())
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://from-env")
	tr := &wire.Offline{Reply: wire.Always(200, okay)}
	m, err := anthropic.New(anthropic.Config{HTTPClient: &http.Client{Transport: tr}})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, ask("x"))
	require.NoError(t, err)
	require.Equal(t, "from-env", tr.Asked[0].URL.Host)
	for _, bad := range []string{"localhost:8080", "://", "file:///x", "http://"} {
		_, err := anthropic.New(anthropic.Config{BaseURL: bad})
		require.Equal(t, fault.UserFixable, fault.Of(err), bad)
	}
}

func TestAKeyDoesNotFollowARedirect(t *testing.T) {
	tr := &wire.Offline{Reply: wire.Always(307, "", "Location", "https://elsewhere.example/v1/messages?x=1")}
	_, err := provider.Generate(t.Context(), connect(t, anthropic.Config{APIKey: secret}, tr), ask("x"))
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.ErrorContains(t, err, "redirects to https://elsewhere.example; set Config.BaseURL")
	require.Len(t, tr.Asked, 1)
}

func TestAModelThatNewDidNotMakeIsAnError(t *testing.T) {
	_, err := provider.Generate(t.Context(), &anthropic.Model{}, ask("x"))
	require.ErrorContains(t, err, "make it with New")
}

func TestAKeyOfTheHostMayIgnoreTheContext(t *testing.T) {
	key := func(context.Context) (string, error) { return "key", nil }
	m, err := anthropic.New(anthropic.Config{Key: key})
	require.NoError(t, err)
	require.False(t, provider.EndsWithContext(m))
	m, err = anthropic.New(anthropic.Config{Key: key, APIKey: "key"})
	require.NoError(t, err)
	require.True(t, provider.EndsWithContext(m), "the function isn't called")
}
