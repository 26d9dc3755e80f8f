package fromenv_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/fromenv"
	"github.com/pawlkit/pawl/provider/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// vars is an environment.
type vars map[string]string

func (v vars) get(name string) string { return v[name] }

// with returns v with these variables as well: names and values alternate.
func (v vars) with(pairs ...string) vars {
	out := maps.Clone(v)
	if out == nil {
		out = vars{}
	}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

// A source is a provider as the environment names it.
type source struct {
	name, key, model, value string
}

var sources = []source{
	{"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "claude-sonnet-5-5"},
	{"openai", "OPENAI_API_KEY", "OPENAI_MODEL", "gpt-6.1-sol"},
	{"gemini", "GEMINI_API_KEY", "GEMINI_MODEL", "gemini-3.5-flash"},
	{"openrouter", "OPENROUTER_API_KEY", "OPENROUTER_MODEL", "google/gemini-3.5-flash"},
	{"ollama", "OLLAMA_HOST", "OLLAMA_MODEL", "qwen3"},
}

// Each provider has neither key nor model, only a key, only a model, or both: 1,024 environments.
func TestEveryCombinationOfKeysAndModels(t *testing.T) {
	for n := range 1 << (2 * len(sources)) {
		set := vars{}
		var want []string
		incomplete, lonely := "", ""
		for i, s := range sources {
			key, model := n>>(2*i)&1 == 1, n>>(2*i+1)&1 == 1
			host := ""
			if key {
				set[s.key] = "secret-key"
				if s.name == "ollama" {
					set[s.key], host = "box:1234", " at box:1234"
				}
			}
			if model {
				set[s.model] = s.value
			}
			switch {
			case model && (key || s.name == "ollama"):
				want = append(want, s.name+" "+s.value+host)
			case key && incomplete == "":
				incomplete = s.model
			case model && lonely == "":
				lonely = s.key
			}
		}
		p, about, err := fromenv.From(set.get)
		switch {
		case incomplete != "":
			require.ErrorContains(t, err, "set "+incomplete+" to a model", set)
			require.NotErrorIs(t, err, fromenv.ErrNone)
			require.Equal(t, fault.UserFixable, fault.Of(err))
		case len(want) == 0:
			require.ErrorIs(t, err, fromenv.ErrNone, set)
			require.Contains(t, err.Error(), lonely)
		default:
			require.NoError(t, err, set)
			require.Equal(t, strings.Join(want, ", then "), about)
			chain, ok := p.(*guard.Chain)
			require.Equal(t, len(want) > 1, ok)
			if ok {
				require.Len(t, chain.Unwrap(), len(want))
			}
		}
		if err != nil {
			require.Nil(t, p)
			require.NotContains(t, err.Error(), "secret-key")
		}
		_, _, err = fromenv.From(set.with("PAWL_MODEL", "standin").get)
		require.ErrorIs(t, err, fromenv.ErrNone, "whatever is set")
		_, _, err = fromenv.From(set.with("PAWL_MODEL", "standin/").get)
		require.ErrorIs(t, err, fromenv.ErrNone, "as in v0.1.0")
	}
}

func TestOneVariableChoosesAmongSeveral(t *testing.T) {
	all := vars{}
	for _, s := range sources {
		all[s.key], all[s.model] = "secret-key", s.value
	}
	all["OLLAMA_HOST"] = "localhost"
	for _, s := range sources {
		p, about, err := fromenv.From(all.with("PAWL_MODEL", s.name).get)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(about, s.name+" "+s.value), about)
		info, _ := provider.Info(p)
		require.Equal(t, s.value, info.ID)

		delete(all, s.model)
		_, about, err = fromenv.From(all.with("PAWL_MODEL", s.name+"/some/model").get)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(about, s.name+" some/model"), about)
		_, _, err = fromenv.From(all.with("PAWL_MODEL", s.name).get)
		require.ErrorContains(t, err, "set "+s.model)
		all[s.model] = s.value
	}
	for value, want := range map[string]string{
		"llama":           "set it to standin, or to one or more of anthropic, openai, gemini, openrouter, ollama, azure, ",
		"standin/x":       `PAWL_MODEL is "standin/x"`,
		"anthropic":       "set ANTHROPIC_API_KEY and ANTHROPIC_MODEL, or leave PAWL_MODEL empty",
		"openai/gpt":      "set OPENAI_API_KEY, or leave PAWL_MODEL empty",
		"ollama":          "set OLLAMA_MODEL to a model, such as qwen3",
		"gemini/anything": "GEMINI_API_KEY isn't set",
	} {
		_, _, err := fromenv.From(vars{"PAWL_MODEL": value}.get)
		require.ErrorContains(t, err, want)
		require.NotErrorIs(t, err, fromenv.ErrNone)
	}
	_, about, err := fromenv.From(vars{"PAWL_MODEL": "ollama/qwen3"}.get)
	require.NoError(t, err)
	require.Equal(t, "ollama qwen3", about)
}

func TestWhatElseTheEnvironmentSays(t *testing.T) {
	for _, tc := range []struct {
		set  vars
		want string // the line, or part of an error
	}{
		{vars{"ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_MODEL": "m"}, "anthropic m"},
		{vars{"GOOGLE_API_KEY": "k", "GEMINI_MODEL": "m"}, "gemini m"},
		{vars{"OPENAI_BASE_URL": "http://localhost:8000/v1", "OPENAI_MODEL": "m"}, "openai m at localhost:8000"},
		{vars{"OPENAI_BASE_URL": "http://localhost:8000/v1"}, "OPENAI_BASE_URL names openai, and OPENAI_MODEL isn't set"},
		{vars{"OPENAI_BASE_URL": "localhost:8000", "OPENAI_MODEL": "m"}, `"http://localhost:8000"`},
		{vars{"OPENAI_BASE_URL": "https://ann:secret@a.example/v1", "OPENAI_MODEL": "m"}, "contains a user name"},
		{vars{"ANTHROPIC_BASE_URL": "http://localhost", "ANTHROPIC_MODEL": "m"}, "chooses no model provider"},
		{vars{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_MODEL": "m", "ANTHROPIC_BASE_URL": "https://a.example/x?key=secret"},
			"anthropic m at a.example"},
		{vars{"ANTHROPIC_API_KEY": " ", "ANTHROPIC_MODEL": "m"}, "chooses no model provider"},
		{vars{"OPENROUTER_API_KEY": "k", "OPENROUTER_MODEL": "m", "OPENROUTER_HEADERS": "secret"}, "X-Title: My site"},
		{vars{"OLLAMA_MODEL": "m", "OLLAMA_HOST": "https://box.example"}, "ollama m at box.example"},
		{vars{"OLLAMA_MODEL": "m", "OLLAMA_HOST": "box"}, "ollama m at box"},
		{vars{"OLLAMA_MODEL": "m", "OLLAMA_HOST": "gw:1234/ollama"}, "ollama m at gw:1234"},
		{vars{"OLLAMA_MODEL": "m", "OLLAMA_HOST": "gw?key=secret"}, "ollama m at gw"},
		{vars{"OLLAMA_MODEL": "m", "OLLAMA_HOST": "::"}, "such as http://localhost:11434"},
	} {
		t.Run(fmt.Sprint(tc.set), func(t *testing.T) {
			p, about, err := fromenv.From(tc.set.get)
			if err != nil {
				require.ErrorContains(t, err, tc.want)
				require.NotContains(t, err.Error(), "secret")
				return
			}
			require.NotNil(t, p)
			require.Equal(t, tc.want, about)
		})
	}
	_, _, err := fromenv.From(nil)
	require.ErrorIs(t, err, fromenv.ErrNone)
}

func TestTheProcessesEnvironmentIsTheDefault(t *testing.T) {
	for _, s := range sources {
		t.Setenv(s.key, "")
		t.Setenv(s.model, "")
	}
	t.Setenv("PAWL_MODEL", "")
	t.Setenv("OPENAI_API_KEY", "k")
	t.Setenv("OPENAI_MODEL", "gpt-5")
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("OPENAI_IMAGE_MODEL", "gpt-image-1-mini")
	t.Setenv("GEMINI_IMAGE_MODEL", "")
	_, about, err := fromenv.Provider()
	require.NoError(t, err)
	require.Equal(t, "openai gpt-5", about)
	_, about, err = fromenv.Images()
	require.NoError(t, err)
	require.Equal(t, "openai gpt-image-1-mini", about)
}

func TestTheTimesOfAChainAreVariables(t *testing.T) {
	two := vars{"OPENAI_API_KEY": "k", "OPENAI_MODEL": "m", "GEMINI_API_KEY": "k", "GEMINI_MODEL": "n"}
	for _, name := range []string{"PAWL_FIRST_CHUNK", "PAWL_LEAVE_AFTER"} {
		_, _, err := fromenv.From(two.with(name, "30s").get)
		require.NoError(t, err)
		for _, bad := range []string{"30", "-1s", "soon", "48h"} {
			_, _, err = fromenv.From(two.with(name, bad).get)
			require.ErrorContains(t, err, name)
			require.ErrorContains(t, err, "such as 90s")
			require.Equal(t, fault.UserFixable, fault.Of(err))
		}
	}
	one := vars{"OPENAI_API_KEY": "k", "OPENAI_MODEL": "m"}
	p, about, err := fromenv.From(one.with("PAWL_FIRST_CHUNK", "30s").get)
	require.NoError(t, err)
	require.Equal(t, "openai m", about)
	require.IsType(t, &guard.Guard{}, p, "which has the time")
}

func TestImagesHaveModelsOfTheirOwn(t *testing.T) {
	both := vars{"OPENAI_API_KEY": "k", "OPENAI_IMAGE_MODEL": "gpt-image-1.5", "GEMINI_API_KEY": "k",
		"GEMINI_IMAGE_MODEL": "gemini-3-pro-image"}
	_, about, err := fromenv.ImagesFrom(both.get)
	require.NoError(t, err)
	require.Equal(t, "openai gpt-image-1.5, then gemini gemini-3-pro-image", about)

	_, _, err = fromenv.ImagesFrom(both.with("PAWL_MODEL", "standin").get)
	require.ErrorIs(t, err, fromenv.ErrNone)
	_, _, err = fromenv.ImagesFrom(vars{"OPENAI_API_KEY": "k", "OPENAI_MODEL": "m"}.get)
	require.ErrorIs(t, err, fromenv.ErrNone, "a model of texts makes no images")
	_, _, err = fromenv.ImagesFrom(both.with("OPENAI_API_KEY", "").get)
	require.ErrorContains(t, err, "set OPENAI_API_KEY")
	require.False(t, errors.Is(err, fromenv.ErrNone))
}

func TestChoicesAreForChainsOfTheHost(t *testing.T) {
	choices, err := fromenv.Choices(vars{"OPENAI_API_KEY": "k", "OPENAI_MODEL": "m", "GEMINI_API_KEY": "k",
		"GEMINI_MODEL": "n"}.get)
	require.NoError(t, err)
	names := slices.Collect(func(yield func(string) bool) {
		for _, c := range choices {
			if !yield(c.String()) {
				return
			}
		}
	})
	require.Equal(t, []string{"openai m", "gemini n"}, names)
}
