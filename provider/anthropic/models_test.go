package anthropic_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

func TestAModelIsFoundByItsNames(t *testing.T) {
	for id, want := range map[string]string{
		"":                           "Claude Sonnet 5.5",
		"claude-sonnet-4-5":          "Claude Sonnet 4.5",
		"claude-sonnet-4-5-20250929": "Claude Sonnet 4.5",
		"claude-sonnet-4-20250514":   "Claude Sonnet 4",
		"claude-sonnet-4-0":          "Claude Sonnet 4",
		"claude-3-7-sonnet@20250219": "Claude Sonnet 3.7",
		"claude-3-5-haiku-latest":    "Claude Haiku 3.5",
		"anthropic/claude-opus-4.5":  "Claude Opus 4.5",
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0": "Claude Sonnet 4.5",
		"claude-sonnet-4-9":                            "",
		"claude-opus-5-5":                              "Claude Opus 5.5",
		"gpt-5":                                        "",
	} {
		m, err := anthropic.New(anthropic.Config{Model: id, APIKey: "k"})
		require.NoError(t, err)
		info := m.Info()
		require.Equal(t, want, info.Name, id)
		require.Equal(t, "anthropic", info.Provider)
		if id != "" {
			require.Equal(t, id, info.ID)
		}
		require.Equal(t, want != "", info.Prices != nil)
		require.Equal(t, "anthropic "+info.ID, m.String())
	}
}

func TestTheTableOfModelsIsPlausible(t *testing.T) {
	seen := map[string]bool{}
	for _, info := range anthropic.Models() {
		require.False(t, seen[info.ID], info.ID)
		seen[info.ID] = true
		require.GreaterOrEqual(t, info.Window, 200_000)
		require.Less(t, info.MaxOutput, info.Window)
		require.Contains(t, info.Inputs, "image")
		p := info.Prices
		require.Less(t, p.CacheRead, p.Input, info.ID)
		require.Greater(t, p.CacheWrite, p.Input, info.ID)
		require.Equal(t, 5*p.Input, p.Output, "all of them cost five times as much to say as to read: %s", info.ID)
		_, err := time.Parse(time.DateOnly, p.Date)
		require.NoError(t, err)
		require.Contains(t, p.Source, "https://")
	}
	require.True(t, seen[anthropic.DefaultModel])
}

func TestTheHostsModelInfoOverridesTheTable(t *testing.T) {
	mine := provider.ModelInfo{ID: "claude-next", Name: "Next", MaxOutput: 77, Inputs: []string{"text"}}
	m, err := anthropic.New(anthropic.Config{Model: "claude-next", APIKey: "k", Models: []provider.ModelInfo{mine}})
	require.NoError(t, err)
	info := m.Info()
	require.Equal(t, "Next", info.Name)
	require.Equal(t, "anthropic", info.Provider)
	info.Inputs[0] = "changed"
	require.Equal(t, []string{"text"}, m.Info().Inputs)

	tr := &wire.Offline{Reply: wire.Always(200, okay)}
	req := ask("x")
	req.Model = "claude-next"
	_, err = provider.Generate(t.Context(), connect(t, anthropic.Config{Models: []provider.ModelInfo{mine}}, tr), req)
	require.NoError(t, err)
	require.Contains(t, string(tr.Bodies[0]), `"max_tokens":77`)
}

func TestInfoOfKnowsOtherModels(t *testing.T) {
	mine := provider.ModelInfo{ID: "mine", Window: 77}
	m, err := anthropic.New(anthropic.Config{Model: "claude-opus-4-5", APIKey: "k", Models: []provider.ModelInfo{mine}})
	require.NoError(t, err)
	info, ok := provider.InfoOf(m, "claude-sonnet-4-5")
	require.True(t, ok)
	require.Equal(t, "claude-sonnet-4-5", info.ID)
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
