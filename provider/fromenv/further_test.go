package fromenv_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/fromenv"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/internal/servers"
)

// further returns the servers that only their models or PAWL_MODEL choose.
func further() []*servers.Server {
	var all []*servers.Server
	for i := range servers.All {
		s := &servers.All[i]
		if !slices.ContainsFunc(sources, func(of source) bool { return of.name == s.Name }) {
			all = append(all, s)
		}
	}
	return all
}

// whole returns the variables that make s usable, with a loopback address.
func whole(s *servers.Server, address string) vars {
	return vars{s.Model: "maker/m", s.Key: "secret-key", s.Address: address}
}

func TestAFurtherServerIsChosenByItsModel(t *testing.T) {
	for _, s := range further() {
		t.Run(s.Name, func(t *testing.T) {
			l := serve(t, said, http.StatusOK)
			p, about, err := fromenv.From(whole(s, l.URL).get)
			require.NoError(t, err)
			require.Equal(t, s.Name+" maker/m at "+strings.TrimPrefix(l.URL, "http://"), about)
			res, err := provider.Generate(t.Context(), p, hello)
			require.NoError(t, err)
			require.Equal(t, "hello", res.Text())
			require.Equal(t, []string{s.Path + "/chat/completions Bearer secret-key"}, l.asked)

			_, _, err = fromenv.From(vars{s.Key: "secret-key", s.Address: l.URL}.get)
			require.ErrorIs(t, err, fromenv.ErrNone, "neither key nor address choose it")

			set := whole(s, "")
			if s.URLIsExample {
				_, _, err = fromenv.From(set.get)
				require.ErrorContains(t, err, "set "+s.Address+", or leave "+s.Model+" empty")
				set[s.Address] = "https://mine.openai.azure.com"
			}
			_, about, err = fromenv.From(set.get)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(about, s.Name+" maker/m"), about)

			set[s.Key] = ""
			_, _, err = fromenv.From(set.get)
			if s.Keyless {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, s.Model+" names "+s.Name+", and "+s.Key+" isn't set")
			require.ErrorContains(t, err, "set "+s.Key+", or leave "+s.Model+" empty")
			require.ErrorIs(t, err, fromenv.ErrNone, "a program with a stand-in uses that")
			require.Equal(t, fault.UserFixable, fault.Of(err))
		})
	}
}

// A gateway may have the key; Azure's address is always the user's own.
func TestAFurtherServerBehindAGatewayNeedsNoKey(t *testing.T) {
	l := serve(t, said, http.StatusOK)
	for _, s := range further() {
		_, _, err := fromenv.From(whole(s, l.URL).with(s.Key, "").get)
		require.Equal(t, s.URLIsExample, err != nil, s.Name)
	}
	_, _, err := fromenv.From(vars{"GROQ_MODEL": "m", "GROQ_BASE_URL": "gateway?key=secret"}.get)
	require.ErrorContains(t, err, "GROQ_BASE_URL")
	require.NotContains(t, err.Error(), "secret")
}

func TestFurtherServersAreUsedAloneOrByName(t *testing.T) {
	set := vars{"OPENAI_API_KEY": "k", "OPENAI_MODEL": "gpt-5", "GROQ_API_KEY": "k", "GROQ_MODEL": "llama",
		"MISTRAL_API_KEY": "k", "MISTRAL_MODEL": "large"}
	for value, want := range map[string]string{
		"":                               "openai gpt-5",
		"groq":                           "groq llama",
		"groq/a/b":                       "groq a/b",
		"mistral/small, groq ,openai/o3": "mistral small, then groq llama, then openai o3",
		"openai/gpt-5,openai/o3":         "openai gpt-5, then openai o3",
		"lmstudio/qwen3":                 "lmstudio qwen3",
	} {
		p, about, err := fromenv.From(set.with("PAWL_MODEL", value).get)
		require.NoError(t, err, value)
		require.Equal(t, want, about)
		chain, ok := p.(*guard.Chain)
		require.Equal(t, strings.Contains(value, ","), ok)
		if ok {
			require.Len(t, chain.Unwrap(), 1+strings.Count(value, ","))
		}
	}
	for value, want := range map[string]string{
		"deepseek/v":      "set DEEPSEEK_API_KEY, or leave PAWL_MODEL empty",
		"deepseek":        "set DEEPSEEK_API_KEY and DEEPSEEK_MODEL, or leave PAWL_MODEL empty",
		"vllm":            "set VLLM_MODEL to a model",
		"azure/gpt-5":     "set AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_API_KEY, or leave PAWL_MODEL empty",
		"groq,standin":    "each with or without a model",
		"groq,":           `PAWL_MODEL is "groq,"`,
		"groq,deepseek/v": "DEEPSEEK_API_KEY isn't set",
	} {
		_, _, err := fromenv.From(set.with("PAWL_MODEL", value).get)
		require.ErrorContains(t, err, want)
		require.NotErrorIs(t, err, fromenv.ErrNone)
		require.Equal(t, fault.UserFixable, fault.Of(err))
	}

	_, _, err := fromenv.From(set.with("OPENAI_API_KEY", "").get)
	require.ErrorContains(t, err, "GROQ_MODEL and MISTRAL_MODEL are both set")
	require.ErrorContains(t, err, "set PAWL_MODEL=groq to use that one, or PAWL_MODEL=groq,mistral")
	_, _, err = fromenv.From(set.with("OPENAI_MODEL", "").get)
	require.ErrorContains(t, err, "OPENAI_MODEL isn't set")
	_, about, err := fromenv.From(set.with("OPENAI_API_KEY", "", "MISTRAL_MODEL", "").get)
	require.NoError(t, err, "a model without a key is no provider that is configured")
	require.Equal(t, "groq llama", about)
	alone := set.with("OPENAI_API_KEY", "", "MISTRAL_API_KEY", "")
	_, about, err = fromenv.From(alone.get)
	require.NoError(t, err, "of further servers, too")
	require.Equal(t, "groq llama", about)
	_, _, err = fromenv.From(alone.with("OPENAI_MODEL", "", "GROQ_API_KEY", "").get)
	require.ErrorIs(t, err, fromenv.ErrNone)
	require.ErrorContains(t, err, "set GROQ_API_KEY, or leave GROQ_MODEL empty")
}

func TestTheTokenOfGitHubItselfIsNotRead(t *testing.T) {
	_, _, err := fromenv.From(vars{"GITHUB_TOKEN": "secret", "GITHUB_MODELS_MODEL": "m"}.get)
	require.ErrorContains(t, err, "set GITHUB_MODELS_TOKEN, or")
	_, _, err = fromenv.From(vars{"GITHUB_TOKEN": "secret", "GITHUB_MODELS_TOKEN": "t", "GITHUB_MODELS_MODEL": "m"}.get)
	require.NoError(t, err)
}

func TestTheHeaderOfAKeyIsThatOfItsServer(t *testing.T) {
	s := servers.Named("azure")
	var header http.Header
	l := serve(t, said, http.StatusOK)
	l.Config.Handler = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			header = r.Header.Clone()
			next.ServeHTTP(w, r)
		})
	}(l.Config.Handler)
	p, _, err := fromenv.From(whole(s, l.URL+"/").get)
	require.NoError(t, err)
	_, err = provider.Generate(t.Context(), p, hello)
	require.NoError(t, err)
	require.Equal(t, "secret-key", header.Get("Api-Key"))
	require.Equal(t, []string{"/openai/v1/chat/completions Bearer secret-key"}, l.asked)
}

// A program's own environment has no influence on another one.
func TestAnotherEnvironmentIsAllThatCounts(t *testing.T) {
	l := serve(t, said, http.StatusOK)
	for _, s := range further() {
		t.Setenv(s.Key, "the process's")
		t.Setenv(s.Address, "http://127.0.0.1:1")
	}
	for _, s := range further() {
		if s.URLIsExample {
			continue
		}
		p, _, err := fromenv.From(whole(s, l.URL).with(s.Key, "").get)
		require.NoError(t, err)
		_, err = provider.Generate(t.Context(), p, hello)
		require.NoError(t, err)
		require.Equal(t, s.Path+"/chat/completions", l.asked[len(l.asked)-1])
	}
}
