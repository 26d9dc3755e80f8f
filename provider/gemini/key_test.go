package gemini_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

// quiet unsets the environment variables of the adapter.
func quiet(t *testing.T) {
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"} {
		t.Setenv(name, "")
	}
}

const fine = `{"candidates":[{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}]}`

func well() *wire.Offline {
	return &wire.Offline{Reply: wire.Always(200, fine)}
}

func TestTheKeyGoesInAHeaderAndNeverInTheAddress(t *testing.T) {
	quiet(t)
	t.Setenv("GEMINI_API_KEY", "key-from-env")
	tr := well()
	m, err := gemini.New(gemini.Config{HTTPClient: &http.Client{Transport: tr}})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, ask("hello"))
	require.NoError(t, err)
	require.Equal(t, []string{"key-from-env"}, tr.Asked[0].Header["X-Goog-Api-Key"])
	require.Empty(t, tr.Asked[0].URL.Query().Get("key"))
	require.Equal(t,
		"https://generativelanguage.googleapis.com/v1beta/models/"+gemini.DefaultModel+":streamGenerateContent?alt=sse",
		tr.Asked[0].URL.String())
}

func TestAKeyInTheConfigOverridesTheEnvironment(t *testing.T) {
	quiet(t)
	t.Setenv("GOOGLE_API_KEY", "key-from-env")
	for want, cfg := range map[string]gemini.Config{
		"key-from-env": {},
		"key-in-config": {APIKey: " key-in-config\n", Key: func(context.Context) (string, error) {
			return "key-asked", nil
		}},
		"key-asked": {Key: func(context.Context) (string, error) { return "key-asked", nil }},
	} {
		t.Setenv("GOOGLE_GEMINI_BASE_URL", "http://localhost")
		tr := well()
		_, err := provider.Generate(t.Context(), connect(t, cfg, tr), ask("hello"))
		require.NoError(t, err)
		require.Equal(t, want, tr.Asked[0].Header.Get("X-Goog-Api-Key"))
	}
}

func TestWithoutAKeyNewSaysWhatToDo(t *testing.T) {
	quiet(t)
	_, err := gemini.New(gemini.Config{})
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.Contains(t, e.Remedy, "GEMINI_API_KEY")
	require.Contains(t, err.Error(), e.Remedy)
}

func TestAGatewayNeedsNoKey(t *testing.T) {
	quiet(t)
	for base, want := range map[string]string{
		"http://gateway/x":         "http://gateway/x/v1beta/models/m:streamGenerateContent?alt=sse",
		"http://gateway/x/v1beta/": "http://gateway/x/v1beta/models/m:streamGenerateContent?alt=sse",
		"http://gateway/v1alpha":   "http://gateway/v1alpha/models/m:streamGenerateContent?alt=sse",
	} {
		tr := well()
		m := connect(t, gemini.Config{Model: "m", BaseURL: base, Header: http.Header{"authorization": {"Bearer x"}}},
			tr)
		_, err := provider.Generate(t.Context(), m, ask("hello"))
		require.NoError(t, err)
		require.Equal(t, want, tr.Asked[0].URL.String())
		require.Empty(t, tr.Asked[0].Header["X-Goog-Api-Key"])
		require.Equal(t, "Bearer x", tr.Asked[0].Header.Get("Authorization"))
	}
	for _, base := range []string{"no address", "ftp://x", "http://u:AIzaSecretSecret@x"} {
		_, err := gemini.New(gemini.Config{BaseURL: base})
		require.Equal(t, fault.UserFixable, fault.Of(err))
		require.NotContains(t, err.Error(), "Secret")
	}
}

func TestARejectedKeyIsRequestedOnceMore(t *testing.T) {
	for _, status := range []int{401, 400} {
		asked := 0
		tr := &wire.Offline{Reply: func(req *http.Request) *http.Response {
			if req.Header.Get("X-Goog-Api-Key") == "key-2" {
				return wire.Reply(200, strings.NewReader(fine))
			}
			return wire.Reply(status,
				strings.NewReader(`{"error":{"message":"API key expired.","details":[{"reason":"API_KEY_INVALID"}]}}`))
		}}
		m := connect(t, gemini.Config{Key: func(context.Context) (string, error) {
			asked++
			return fmt.Sprint("key-", asked), nil
		}}, tr)
		_, err := provider.Generate(t.Context(), m, ask("hello"))
		require.NoError(t, err)
		require.Equal(t, 2, asked)
		require.Len(t, tr.Asked, 2)
	}
}

func TestAKeyThatStaysRefusedIsNotTriedAgain(t *testing.T) {
	tr := &wire.Offline{Reply: wire.Always(401, `{}`)}
	m := connect(t, gemini.Config{Key: func(context.Context) (string, error) { return "the-same", nil }}, tr)
	_, err := provider.Generate(t.Context(), m, ask("hello"))
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.Len(t, tr.Asked, 1)
}

func TestAKeyFunctionThatFailsMakesNoCall(t *testing.T) {
	for _, c := range []struct {
		key   string
		err   error
		class fault.Class
	}{{"", nil, fault.UserFixable}, {"", errors.New("the vault is locked"), fault.UserFixable},
		{"", fault.New(fault.Transient, "the vault is busy"), fault.Transient}} {
		tr := well()
		m := connect(t, gemini.Config{Key: func(context.Context) (string, error) { return c.key, c.err }}, tr)
		_, err := provider.Generate(t.Context(), m, ask("hello"))
		require.Equal(t, c.class, fault.Of(err))
		require.Empty(t, tr.Asked)
	}
}

func TestARedirectToAnotherHostDoesNotGetTheKey(t *testing.T) {
	tr := &wire.Offline{Reply: func(req *http.Request) *http.Response {
		switch req.URL.Path {
		case "/v1beta/models/m:streamGenerateContent":
			return wire.Reply(307, strings.NewReader(""), "Location", "/here")
		case "/here":
			return wire.Reply(307, strings.NewReader(""), "Location", "https://elsewhere.example/there")
		}
		return wire.Reply(200, strings.NewReader(fine))
	}}
	_, err := provider.Generate(t.Context(), connect(t, gemini.Config{Model: "m", APIKey: "AIzaSecretSecret"}, tr),
		ask("hello"))
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.Len(t, tr.Asked, 2)
	require.Equal(t, "AIzaSecretSecret", tr.Asked[1].Header.Get("X-Goog-Api-Key"))
}

func TestNoVerbPrintsAKey(t *testing.T) {
	cfg := gemini.Config{APIKey: "AIzaSecretSecret", Header: http.Header{"X-Mine": {"AIzaSecretSecret"}}}
	m, err := gemini.New(cfg)
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{cfg, &cfg, m, *m} {
			require.NotContains(t, fmt.Sprintf(verb, v), "Secret", verb)
			require.NotContains(t, fmt.Sprintf(verb, v), fmt.Sprintf("%x", "Secret"), verb)
		}
	}
}

func TestAModelThatNewDidNotMakeIsAnError(t *testing.T) {
	_, err := provider.Generate(t.Context(), &gemini.Model{}, ask("hello"))
	require.ErrorContains(t, err, "make it with New")
	_, err = provider.CountTokens(t.Context(), &gemini.Model{}, ask("hello"))
	require.ErrorContains(t, err, "make it with New")
}

func TestAKeyOfTheHostMayIgnoreTheContext(t *testing.T) {
	key := func(context.Context) (string, error) { return "key", nil }
	m, err := gemini.New(gemini.Config{Key: key})
	require.NoError(t, err)
	require.False(t, provider.EndsWithContext(m))
	m, err = gemini.New(gemini.Config{Key: key, APIKey: "key"})
	require.NoError(t, err)
	require.True(t, provider.EndsWithContext(m), "the function isn't called")
}
