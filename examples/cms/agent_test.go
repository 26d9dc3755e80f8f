package main

import (
	"bytes"
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
		if strings.HasSuffix(path, "SKILL.md") { // the model reads it with a tool
			return err
		}
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
	names := map[string]string{} // by what models read
	for _, name := range registry.Names() {
		names[strings.ReplaceAll(name, ".", "_")] = name
	}
	for _, mode := range cmstools.Modes {
		text := systemText(mode.Name)
		for _, call := range regexp.MustCompile(`(?m)^Call: (\S+) (.*)$`).FindAllStringSubmatch(text, -1) {
			admitted, err := registry.Admit(t.Context(), &tools.Call{Name: names[call[1]],
				Input: json.RawMessage(call[2]), Mode: mode.Name}, nil, nil, nil)
			require.NoError(t, err, call[0])
			require.Nil(t, admitted.Rejected, call[0])
			calls++
		}
	}
	require.GreaterOrEqual(t, calls, 10)
}

// Providers take no dots in names, so models know the tools by other names than the registry. They
// read no others, and none that they can't call or plan with.
func TestModelsReadTheNamesThatTheyAreSent(t *testing.T) {
	t.Parallel()
	model := newScripted(t, map[string][]reply{"Go": {{text: "Done."}}})
	for _, mode := range cmstools.Modes {
		b, out := newBench(t), &bytes.Buffer{}
		require.Zero(t, run(t.Context(), []string{"-db", b.db, "-mode", mode.Name, "-p", "Go"}, model.env,
			strings.NewReader(""), out, out), out.String())
		names, planned, text := map[string]bool{}, "", systemText(mode.Name)
		for _, tool := range model.offers[len(model.offers)-1] {
			f := tool.Function
			names[f.Name] = true
			text += f.Description + string(f.Parameters)
			if f.Name == "cms_validatePlan" {
				planned = f.Description
			}
		}
		require.Empty(t, regexp.MustCompile(`\b(cms|plan|http|memory)\.[a-z]\w+`).FindAllString(text, -1), mode.Name)
		for _, name := range regexp.MustCompile(`\b(cms|plan|http|memory)_[a-z]\w+`).FindAllString(text, -1) {
			require.True(t, names[name] || strings.Contains(planned, name), "%s in %s", name, mode.Name)
		}
	}
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
