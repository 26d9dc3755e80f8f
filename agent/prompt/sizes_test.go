package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/prompt"
	"github.com/pawlkit/pawl/memory"
)

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
	require.Contains(t, lines[0], fmt.Sprintf("tokens=%d ", new(memory.Estimator).CountText(compose(t, s, "large"))))
	require.Empty(t, log.lines())

	fsys.set("small.md", "smaller")
	compose(t, s, "small")
	require.Len(t, log.lines(), 2, "the edit, and the warning for another version")
}
