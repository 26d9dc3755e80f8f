package rules

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A block is a fenced block of the README.
type block struct {
	language string
	line     int // of its fence
	text     string
}

// TestReadmeCodeIsReal runs every program of the README, and compares what it prints with the text block after it.
func TestReadmeCodeIsReal(t *testing.T) {
	blocks := readme(t)
	programs := 0
	for i, b := range blocks {
		if b.language != "go" {
			continue
		}
		programs++
		require.True(t, strings.Contains(b.text, "package main\n"), "README.md:%d: the block isn't a whole program", b.line)
		require.True(t, i+1 < len(blocks) && blocks[i+1].language == "text", "README.md:%d: what does this program print? A text block should say", b.line)
		name := filepath.Join(t.TempDir(), "main.go")
		require.NoError(t, os.WriteFile(name, []byte(b.text), 0o600))
		cmd := exec.CommandContext(t.Context(), "go", "run", name)
		cmd.Dir = root // for the imports
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "README.md:%d: %s", b.line, out)
		require.Equal(t, blocks[i+1].text, string(out), "README.md:%d prints something else", b.line)
		formatted, err := exec.CommandContext(t.Context(), "gofmt", "-l", name).Output()
		require.NoError(t, err)
		require.Empty(t, string(formatted), "README.md:%d isn't formatted", b.line)
	}
	require.Positive(t, programs)
}

// TestReadmeCommandsAreRun: .ci/run takes its commands out of the README's sh blocks, so a command in any other kind of
// block would be one that nobody has tried.
func TestReadmeCommandsAreRun(t *testing.T) {
	blocks := readme(t)
	for _, b := range blocks {
		require.Contains(t, []string{"sh", "go", "text"}, b.language, "README.md:%d", b.line)
		for line := range strings.Lines(b.text) {
			command := strings.HasPrefix(line, "go ") || strings.HasPrefix(line, "bash ") || strings.HasPrefix(line, "$ ")
			require.False(t, b.language != "sh" && command, "README.md:%d: the command %q would never be run", b.line, line)
		}
	}
	i := slices.IndexFunc(blocks, func(b block) bool { return b.language == "sh" })
	require.GreaterOrEqual(t, i, 0)
	for _, want := range []string{`go run ./examples/cms -p "Create an About page with a hero section titled Hello"`, "go test -race -shuffle=on ./..."} {
		require.True(t, slices.ContainsFunc(blocks, func(b block) bool { return b.language == "sh" && strings.Contains(b.text, want+"\n") }), want)
	}
}

// TestReadmeLinksLeadSomewhere follows the links into the repository.
func TestReadmeLinksLeadSomewhere(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	for _, part := range strings.Split(string(text), "](")[1:] {
		target, _, _ := strings.Cut(part, ")")
		if strings.Contains(target, "://") || strings.HasPrefix(target, "#") {
			continue
		}
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(target)))
		require.NoError(t, err, target)
	}
}

// readme returns the fenced blocks of the README.
func readme(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	var blocks []block
	open := false
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		switch {
		case strings.HasPrefix(line, "```") && open:
			open = false
		case strings.HasPrefix(line, "```"):
			open = true
			blocks = append(blocks, block{language: strings.TrimSpace(line[3:]), line: n})
		case open:
			blocks[len(blocks)-1].text += line
		}
	}
	require.False(t, open, "a block of the README has no end")
	return blocks
}
