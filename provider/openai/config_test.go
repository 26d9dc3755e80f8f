package openai

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/servers"
)

func TestAnInvalidFieldIsNamed(t *testing.T) {
	for says, cfg := range map[string]Config{
		"Config.BaseURL": {APIKey: "k", BaseURL: "localhost:8080"},
		"user name":      {APIKey: "k", BaseURL: "http://me:secret@localhost:8080"},
		"Config.API":     {APIKey: "k", API: "completions"},
	} {
		_, err := New(cfg)
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestTheAddressDecidesTheProtocolAndTheName(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	for want, cfg := range map[string]Config{
		"https://api.openai.com/v1/responses openai": {},
		"https://api.openai.com/v1/chat/completions openai": {
			API: Chat},
		"http://localhost:8080/v1/chat/completions localhost": {
			BaseURL: "http://localhost:8080/v1"},
		"http://localhost:8080/v1/chat/completions mine": {
			BaseURL: "http://localhost:8080/v1/", Name: "mine"},
		"http://localhost:8080/chat/completions localhost": {
			BaseURL: "http://localhost:8080"},
		"https://api.x.ai/v1/responses api.x.ai": {BaseURL: "https://api.x.ai/v1", API: Responses},
		"https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21 x.openai.azure.com": {
			BaseURL: "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21"},
	} {
		server := &canned{status: 500}
		m := server.model(t, cfg)
		_, err := provider.Generate(t.Context(), m, hi())
		require.Error(t, err)
		require.Equal(t, want, server.asked[0].URL.String()+" "+m.Info().Provider)
	}
}

func TestHeadersGoWithEveryRequest(t *testing.T) {
	server := &canned{status: 500}
	m := server.model(t, Config{Header: http.Header{"X-Title": {"a", "b"}}})
	_, err := provider.Generate(t.Context(), m, hi())
	require.Error(t, err)
	require.Equal(t, []string{"a", "b"}, server.asked[0].Header.Values("X-Title"))
}

func TestAModelMustBeNamedWhereThereIsNoDefault(t *testing.T) {
	m, err := New(Config{BaseURL: "http://localhost:8080/v1"})
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), m, hi())
	require.ErrorContains(t, err, "Config.Model")
}

func TestTheRequestsModelOverridesTheConfigs(t *testing.T) {
	req := hi()
	req.Model = "another"
	require.Equal(t, "another", ask(t, Config{}, req)["model"])
	require.Equal(t, "test-model", ask(t, Config{}, hi())["model"])
}

func TestTheHostsModelInfoOverridesTheTable(t *testing.T) {
	info := func(cfg Config) provider.ModelInfo {
		cfg.APIKey = "k"
		m, err := New(cfg)
		require.NoError(t, err)
		got, ok := provider.Info(m)
		require.True(t, ok)
		return got
	}
	require.Equal(t, 400_000, info(Config{Model: "gpt-5-mini"}).Window)
	dated := info(Config{Model: "gpt-5-mini-2025-08-07"})
	require.Equal(t, "gpt-5-mini-2025-08-07", dated.ID)
	require.Equal(t, 250_000*provider.USD/1_000_000, dated.Prices.Input)
	require.Equal(t, DefaultModel, info(Config{}).ID)
	require.Zero(t, info(Config{Model: "gpt-5-mini", BaseURL: "http://localhost/v1"}).Window,
		"another server's model of that name may be anything")
	mine := info(Config{Model: "m", BaseURL: "http://localhost/v1", Models: []provider.ModelInfo{{ID: "m", Window: 5}}})
	require.Equal(t, provider.ModelInfo{Provider: "localhost", ID: "m", Window: 5}, mine)

	m, err := New(Config{Model: "gpt-5", APIKey: "k"})
	require.NoError(t, err)
	m.Info().Prices.Input = 0
	m.Info().Inputs[0] = "x"
	require.NotZero(t, m.Info().Prices.Input, "what is handed out is a copy")
	require.Equal(t, "text", m.Info().Inputs[0])
}

func TestTheTableIsValid(t *testing.T) {
	seen := map[string]bool{}
	for _, info := range Models() {
		require.False(t, seen[info.ID])
		seen[info.ID] = true
		require.Greater(t, info.Window, info.MaxOutput)
		require.Positive(t, info.MaxOutput)
		require.Equal(t, isReasoningModel(info.ID), info.Reasoning, info.ID)
		if p := info.Prices; p != nil {
			require.Less(t, p.CacheRead, p.Input, info.ID)
			require.Less(t, p.Input, p.Output, info.ID)
			require.GreaterOrEqual(t, p.CacheWrite, p.Input, info.ID)
			require.NotEmpty(t, p.Date+p.Source)
		}
	}
	require.True(t, seen[DefaultModel])
}

func TestAModelThatNewDidNotMakeFailsAndDoesNotPanic(t *testing.T) {
	for _, m := range []*Model{nil, {}} {
		_, err := provider.Generate(t.Context(), m, rich(""))
		require.Error(t, err)
		require.NotEmpty(t, fmt.Sprint(m))
	}
}

func TestInfoOfKnowsOtherModels(t *testing.T) {
	mine := provider.ModelInfo{ID: "mine", Window: 77}
	m, err := New(Config{Model: "gpt-5", APIKey: "k", Models: []provider.ModelInfo{mine}})
	require.NoError(t, err)
	info, ok := provider.InfoOf(m, "gpt-5-mini")
	require.True(t, ok)
	require.Equal(t, "gpt-5-mini", info.ID)
	require.NotNil(t, info.Prices)
	info, ok = provider.InfoOf(m, "mine")
	require.True(t, ok)
	require.Equal(t, 77, info.Window)
	info, ok = provider.InfoOf(m, "")
	require.True(t, ok)
	require.Equal(t, m.Info(), info)
	_, ok = provider.InfoOf(m, "nobody's")
	require.False(t, ok)
}

func TestAKeyOfTheHostMayIgnoreTheContext(t *testing.T) {
	key := func(context.Context) (string, error) { return "key", nil }
	m, err := New(Config{Key: key})
	require.NoError(t, err)
	require.False(t, provider.EndsWithContext(m))
	m, err = New(Config{Key: key, APIKey: "key"})
	require.NoError(t, err)
	require.True(t, provider.EndsWithContext(m), "the function isn't called")
}

func TestAnAnswerHasTheProvidersRateLimits(t *testing.T) {
	limits := http.Header{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range limits {
			w.Header()[name] = values
		}
		io.WriteString(w,
			`{"id":"1","model":"m","choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	m, err := New(Config{Model: "m", BaseURL: server.URL + "/v1", API: Chat, HTTPClient: server.Client()})
	require.NoError(t, err)
	for _, limits = range []http.Header{nil,
		{"X-Ratelimit-Limit-Requests": {"60"}, "X-Ratelimit-Remaining-Requests": {"59"}}} {
		var first *provider.Extra
		for c, err := range m.Stream(t.Context(), hi()) {
			require.NoError(t, err)
			if c.Kind == provider.KindStart {
				first = c.Extra
			}
		}
		if limits == nil {
			require.Nil(t, first)
			continue
		}
		require.Equal(t, &provider.Extra{RateLimits: limits}, first)
	}
}

func TestIDsOfCallsAreAcceptable(t *testing.T) {
	require.Equal(t, "call_short", shortIDs("call_short"))
	require.Len(t, shortIDs(strings.Repeat("x", 41)), 29)
	require.Equal(t, "gSIMJiOkT", nineCharIDs("gSIMJiOkT"))
	require.Regexp(t, regexp.MustCompile(`^[a-z0-9]{9}$`), nineCharIDs("toolu_01"))
	require.NotEqual(t, nineCharIDs("toolu_01"), nineCharIDs("toolu_02"))
}

func TestANamedServerHasItsAddressItsKeyAndItsName(t *testing.T) {
	for _, s := range servers.All {
		t.Setenv(s.Key, s.Name+"-key")
		t.Setenv(s.Address, "")
	}
	asked := func(cfg Config) (address, key, name string) {
		server := &canned{status: 500}
		cfg.Model, cfg.HTTPClient = "m", &http.Client{Transport: server}
		m, err := New(cfg)
		require.NoError(t, err)
		_, err = provider.Generate(t.Context(), m, hi())
		require.Error(t, err)
		r := server.asked[0]
		return r.URL.String(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), m.Info().Provider
	}
	for _, s := range servers.All {
		if s.URLIsExample {
			_, err := New(Config{Server: s.Name})
			require.ErrorContains(t, err, "set "+s.Address+" or Config.BaseURL to an address such as "+s.URL)
			t.Setenv(s.Address, "https://mine.openai.azure.com/")
		}
		address, key, name := asked(Config{Server: s.Name, API: Chat})
		require.Equal(t, strings.Replace(s.URL, "NAME", "mine", 1)+"/chat/completions", address)
		require.Equal(t, s.Name+"-key", key)
		if s.Keyless || s.Name == "openai" {
			require.Equal(t, s.Name, name)
		} else {
			_, _, byAddress := asked(Config{BaseURL: strings.TrimSuffix(address, "/chat/completions")})
			require.Equal(t, byAddress, name, "opaque data stays usable")
		}

		path := "" // that Ollama's address always ends in
		if s.AnyPath {
			path = s.Path
		}
		address, key, gateway := asked(Config{Server: s.Name, API: Chat, BaseURL: "http://gateway.example/x"})
		require.Equal(t, "http://gateway.example/x"+path+"/chat/completions", address)
		require.Empty(t, key, "the environment's key isn't sent to an address of the program's choice")
		if !s.URLIsExample {
			require.Equal(t, name, gateway)
		}
		t.Setenv(s.Address, "http://gateway.example/y")
		address, key, _ = asked(Config{Server: s.Name, API: Chat})
		require.Equal(t, "http://gateway.example/y"+path+"/chat/completions", address)
		require.Equal(t, s.Name+"-key", key, "both are the environment's")
	}
	_, err := New(Config{Server: "grok"})
	require.ErrorContains(t, err, `Config.Server is "grok"; it can be openai, openrouter, ollama, azure, `)
}
