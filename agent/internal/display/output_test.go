package display_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

func TestTheOutputOfAProgramIsWhatItHasWritten(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"exit code 1\nFAIL\nFAIL\n\n", "FAIL\nFAIL"},
		{"exit code 1; no output", ""},
		{"exit code 1; the output has 900 lines and is cut\nFAIL\n", "FAIL"},
		{"$ go test\nFAIL\n", "$ go test\nFAIL"},
		{"", ""},
	} {
		res := &agent.ToolResult{Status: tools.OK, Exit: &tools.Exit{Code: 1}}
		if c.text != "" {
			res.Parts = []provider.Part{provider.TextPart(c.text)}
		}
		res.AddNote("Note: try something else.")
		require.Equal(t, c.want, display.Output(res))
	}
	res := &agent.ToolResult{ToolResult: provider.ToolResult{Parts: []provider.Part{provider.TextPart("exit code 1")}}}
	require.Equal(t, "exit code 1", display.Output(res), "there was no program")
}

func TestTheLastLinesOfAText(t *testing.T) {
	const mostLines = 10
	lines := strings.Split(strings.Repeat("x", 24), "")
	for n := range lines {
		last, before := display.LastLines(strings.Join(lines[:n], "\n"))
		require.Equal(t, strings.Join(lines[max(n-mostLines, 0):n], "\n"), last, n)
		require.Equal(t, max(n-mostLines, 0), before, n)
	}
	last, before := display.LastLines(strings.Repeat("\n", 30) + "end")
	require.Equal(t, strings.Repeat("\n", mostLines-1)+"end", last)
	require.Equal(t, 21, before)
	last, before = display.LastLines(strings.Repeat("\nx", mostLines))
	require.Equal(t, strings.Repeat("x\n", mostLines-1)+"x", last)
	require.Equal(t, 1, before, "an empty one")
}
