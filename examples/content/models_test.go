package main

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestTheKeysSayWhichProvidersAreAsked(t *testing.T) {
	for _, tc := range []struct {
		keys map[string]string
		want string
	}{
		{nil, standin.Notice},
		{map[string]string{"GEMINI_API_KEY": "x", "GEMINI_MODEL": "m"}, "gemini m"},
		{map[string]string{"GEMINI_API_KEY": "x", "GEMINI_MODEL": "m", "PAWL_MODEL": "standin"}, standin.Notice},
		{map[string]string{"GEMINI_API_KEY": "x", "GEMINI_MODEL": "m", "MOCK_AI_SERVICE": "MOCK"}, "gemini m"},
		{map[string]string{"GEMINI_API_KEY": "x", "MOCK_AI_SERVICE": "MOCK", "MOCK_ALL_AI_TOOLS": "PER_TOGGLE"},
			standin.Notice},
		{map[string]string{"GEMINI_API_KEY": "x", "MOCK_ALL_AI_TOOLS": "MOCK"}, standin.Notice},
		{map[string]string{"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "y", "OPENAI_MODEL": "m", "ANTHROPIC_MODEL": "n",
			"ANTHROPIC_QUICK_MODEL": "o"}, "anthropic n, then openai m"},
	} {
		p, real, notice, err := model(func(name string) string {
			return tc.keys[name]
		}, slog.New(slog.DiscardHandler), nil)
		require.NoError(t, err)
		require.NotNil(t, p)
		require.Equal(t, tc.want, notice)
		require.Equal(t, tc.want != standin.Notice, real)
	}
}

func TestAKeyWithoutAModelIsAnError(t *testing.T) {
	status := run(t.Context(), []string{"-p", "x"}, func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "x"}[name]
	}, strings.NewReader(""), io.Discard, io.Discard)
	require.Equal(t, 2, status)
	_, _, _, err := model(func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "x"}[name]
	}, slog.New(slog.DiscardHandler), nil)
	require.ErrorContains(t, err, "set OPENAI_MODEL")
}

func TestQuickCallsAreMadeByTheQuickModel(t *testing.T) {
	var asked []string
	p := roles{providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		asked = append(asked, req.Labels.Kind+" "+req.Model)
		return providertest.Say("x").Response(), nil
	}), "small"}
	for _, kind := range []string{"writer", "skeleton"} {
		_, err := provider.Generate(t.Context(), p,
			&provider.Request{Messages: []provider.Message{provider.User("x")}, Labels: provider.Labels{Kind: kind}})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"writer small", "skeleton "}, asked)
}

func TestTheEnvironmentSaysWhereResearchLooksAndWhoDraws(t *testing.T) {
	for _, tc := range []struct {
		keys  map[string]string
		real  bool
		want  string
		count int
	}{
		{nil, false, "sources: made up; images: labeled drawings", 1},
		{nil, true, "sources: none; set TAVILY_API_KEY or SEARXNG_URL; images: labeled drawings", 0},
		{map[string]string{"TAVILY_API_KEY": "k"}, true, "sources: tavily; images: labeled drawings", 6},
		{map[string]string{"SEARXNG_URL": "http://search.test"}, false,
			"sources: searxng at search.test; images: labeled drawings", 1},
		{map[string]string{"TAVILY_API_KEY": "k", "PAWL_MODEL": "standin"}, false,
			"sources: made up; images: labeled drawings", 1},
		{map[string]string{"OPENAI_API_KEY": "k", "OPENAI_IMAGE_MODEL": "painter"}, true,
			"sources: none; set TAVILY_API_KEY or SEARXNG_URL; images: openai painter", 0},
	} {
		var cfg assistant.Config
		about, err := services(&cfg, func(name string) string { return tc.keys[name] }, tc.real)
		require.NoError(t, err)
		require.Equal(t, tc.want, about)
		require.Len(t, cfg.Sources, tc.count)
		require.NotNil(t, cfg.Images)
	}
	_, err := services(&assistant.Config{}, func(name string) string {
		return map[string]string{"SEARXNG_URL": "ftp://x"}[name]
	}, true)
	require.ErrorContains(t, err, "SEARXNG_URL")
}
