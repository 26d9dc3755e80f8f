package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/model"
)

func TestWithoutAKeyTheBuiltInModelAnswers(t *testing.T) {
	m, label, err := chooseModel("", "")
	require.NoError(t, err)
	require.IsType(t, &model.Model{}, m)
	require.Equal(t, model.Label, label)
}

func TestAKeyInTheEnvironmentPicksItsProvider(t *testing.T) {
	for _, p := range providers {
		for _, key := range p.keys {
			t.Run(key, func(t *testing.T) {
				t.Setenv(key, "k-1")
				_, label, err := chooseModel("", "m-1")
				require.NoError(t, err)
				require.Equal(t, p.name+" m-1", label)
				m, _, err := chooseModel(builtIn, "")
				require.NoError(t, err)
				require.IsType(t, &model.Model{}, m)
			})
		}
	}
}

func TestAProviderThatCannotBeUsedSaysWhatToDo(t *testing.T) {
	_, _, err := chooseModel("anthropic", "")
	require.ErrorContains(t, err, "ANTHROPIC_API_KEY")
	_, _, err = chooseModel("llama", "")
	require.ErrorContains(t, err, "built-in, anthropic, openai, gemini, openrouter, ollama")
	_, _, err = chooseModel("", "m-1")
	require.ErrorContains(t, err, "-provider")
}

func TestAServerWithoutADefaultModelNeedsTheFlag(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "http://localhost:11434/v1")
	_, _, err := chooseModel("openai", "")
	require.ErrorContains(t, err, "name the model with -model")
	_, label, err := chooseModel("openai", "qwen3")
	require.NoError(t, err)
	require.Equal(t, "openai qwen3", label)
}

func TestOpenRouterTakesItsSettingsFromTheEnvironment(t *testing.T) {
	t.Setenv("OPENROUTER_API_KEY", "k-1")
	_, label, err := chooseModel("", "")
	require.NoError(t, err)
	require.Equal(t, "openrouter google/gemini-2.5-flash", label)
	t.Setenv("OPENROUTER_MODEL", "a/b")
	t.Setenv("OPENROUTER_HEADERS", "HTTP-Referer: https://example.com, X-Title: My site")
	_, label, err = chooseModel("", "")
	require.NoError(t, err)
	require.Equal(t, "openrouter a/b", label)
	t.Setenv("OPENROUTER_HEADERS", "nothing")
	_, _, err = chooseModel("", "")
	require.ErrorContains(t, err, "X-Title: My site")
}

func TestALocalServerNeedsNoKey(t *testing.T) {
	_, label, err := chooseModel("ollama", "qwen3")
	require.NoError(t, err)
	require.Equal(t, "ollama qwen3", label)
	_, _, err = chooseModel("ollama", "")
	require.ErrorContains(t, err, "name the model with -model")
}
