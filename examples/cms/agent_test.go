package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/tools"
)

// The instructions of every mode leave room for the conversation, and all files are in use.
func TestTheInstructionsAreShortAndAllOfThemAreUsed(t *testing.T) {
	t.Parallel()
	all := ""
	for _, mode := range cmstools.Modes {
		text := systemText(mode.Name)
		require.Contains(t, text, "<example>", mode.Name)
		require.Less(t, len(text)/4, 3000, "tokens of "+mode.Name)
		all += text
	}
	err := fs.WalkDir(instructions, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(instructions, path)
		first, _, _ := strings.Cut(string(text), "\n")
		require.Contains(t, all, first, path)
		return err
	})
	require.NoError(t, err)
}

// Examples teach calls, so the calls in them are such as the tools take.
func TestTheCallsOfTheExamplesAreValid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o, err := readOptions([]string{"-db", b.db}, noKeys, nil)
	require.NoError(t, err)
	p, err := o.open("", t.Output())
	require.NoError(t, err)
	defer func() { require.NoError(t, p.close()) }()
	registry, calls := p.hub.Agent().Tools(), 0
	for _, mode := range cmstools.Modes {
		text := systemText(mode.Name)
		for _, call := range regexp.MustCompile(`(?m)^Call: (\S+) (.*)$`).FindAllStringSubmatch(text, -1) {
			admitted, err := registry.Admit(t.Context(), &tools.Call{Name: call[1], Input: json.RawMessage(call[2]),
				Mode: mode.Name}, nil, nil, nil)
			require.NoError(t, err, call[0])
			require.Nil(t, admitted.Rejected, call[0])
			calls++
		}
		for _, name := range regexp.MustCompile(`\b(cms|plan|http)\.[a-zA-Z]+`).FindAllString(text, -1) {
			_, ok := registry.Lookup(name)
			require.True(t, ok, name)
		}
	}
	require.Greater(t, calls, 10)
}

// The README's list of what to read is as short as it says.
func TestWhatToReadIsShort(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	files, lines := regexp.MustCompile(`(?m)^\d\. \[(\S+\.go)\]`).FindAllStringSubmatch(string(readme), -1), 0
	require.Len(t, files, 5)
	for _, f := range files {
		text, err := os.ReadFile(f[1])
		require.NoError(t, err)
		lines += strings.Count(string(text), "\n")
	}
	require.Less(t, lines, 800)
}
