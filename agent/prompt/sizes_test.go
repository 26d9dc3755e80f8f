package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/prompt"
	"github.com/pawlkit/pawl/memory"
)

func TestSizesAreOfSectionsAndOfSystemTexts(t *testing.T) {
	fsys, cfg := product()
	cfg.Count = func(text string) int { return len(text) }
	cfg.WarnTokens = 70
	s := load(t, fsys, cfg)
	require.Equal(t, prompt.Sizes{
		Threshold: 70,
		Core:      []prompt.Size{{"core/identity.md", 13, 13, false}, {"core/rules.md", 26, 26, false}},
		Modes: []prompt.ModeSize{
			{prompt.Size{"crud", 95, 95, true},
				[]prompt.Size{{"modes/crud.md", 20, 20, false}, {"parts.md#loop", 30, 30, false}}},
			{prompt.Size{"ask", 94, 94, true},
				[]prompt.Size{{"modes/ask.md", 20, 20, false}, {"parts.md#loop", 29, 29, false}}},
			{prompt.Size{"plain", 41, 41, false}, nil},
		},
		Runtime: []prompt.Size{{"runtime.md", 15, 15, false}, {"notes.md", 0, 0, false}},
	}, s.Sizes())
	for _, m := range s.Sizes().Modes {
		require.Len(t, compose(t, s, m.Name), m.Bytes)
	}
	s.Sizes().Core[0].Tokens = 0
	s.Sizes().Modes[0].Sections[0].Tokens = 0
	require.Equal(t, 13, s.Sizes().Core[0].Tokens, "what is handed out is a copy")
	require.Equal(t, 20, s.Sizes().Modes[0].Sections[0].Tokens)
}

func TestWithoutModesTheCoreIsMeasured(t *testing.T) {
	s := load(t, mem("a.md", "12345"),
		prompt.Config{Core: []string{"a.md"}, Count: func(s string) int { return -len(s) }})
	require.Equal(t, []prompt.ModeSize{{Size: prompt.Size{Bytes: 5}}}, s.Sizes().Modes, "a count below 0 is 0")
}

func TestALargeSystemTextIsLoggedOncePerLoad(t *testing.T) {
	var log diary
	words := strings.Repeat("word ", 6000)
	fsys := edit("core.md", "short", "large.md", words, "small.md", "small")
	cfg := prompt.Config{
		Core: []string{"core.md"}, Logger: log.logger(), Reload: true,
		Modes: []prompt.Mode{{Name: "large", Sections: []string{"large.md"}},
			{Name: "small", Sections: []string{"small.md"}}},
	}
	s := load(t, fsys, cfg)
	lines := log.lines()
	require.Len(t, lines, 1)
	require.Contains(t, lines[0], "level=WARN")
	require.Contains(t, lines[0], "mode=large")
	require.Contains(t, lines[0], "threshold=5000")
	require.Contains(t, lines[0], s.Version())
	require.NotContains(t, lines[0], "word", "prompts aren't logged")
	large := s.Sizes().Modes[0]
	require.Equal(t, new(memory.Estimator).CountText(compose(t, s, "large")), large.Tokens)
	require.True(t, large.Over)
	require.True(t, large.Sections[0].Over)
	require.False(t, s.Sizes().Modes[1].Over)
	require.Empty(t, log.lines())

	fsys.set("small.md", "smaller")
	compose(t, s, "small")
	require.Len(t, log.lines(), 2, "the edit, and the warning for another version")

	cfg.WarnTokens = -1
	s = load(t, fsys, cfg)
	require.False(t, s.Sizes().Modes[0].Over)
	require.Empty(t, log.lines())
}

func TestTheThresholdItselfIsNotOver(t *testing.T) {
	for over, threshold := range map[bool]int{false: 5, true: 4} {
		s := load(t, mem("a.md", "12345"),
			prompt.Config{Core: []string{"a.md"}, Count: func(s string) int { return len(s) }, WarnTokens: threshold})
		require.Equal(t, over, s.Sizes().Modes[0].Over)
	}
}
