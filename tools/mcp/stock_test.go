package mcp_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// stock returns the program of a stock server, which internal/stock/package.json names.
func stock(t *testing.T, name string) []string {
	t.Helper()
	program, err := filepath.Abs(filepath.Join("..", "..", "internal", "stock", "node_modules", "@modelcontextprotocol",
		name, "dist", "index.js"))
	require.NoError(t, err)
	if _, err := os.Stat(program); err != nil {
		t.Skip("the stock servers aren't installed: npm --prefix internal/stock ci")
	}
	return []string{"node", program}
}

func TestTheStockFilesystemServer(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("the text of a"), 0o600))
	var change mcp.Change
	s := connect(t, mcp.Config{Command: append(stock(t, "server-filesystem"), dir), Trusted: true,
		OnChange: func(c mcp.Change) { change = c }})
	found := list(t, s)
	require.Empty(t, change.Refused)
	require.True(t, found["files.read_text_file"].Spec().ReadOnly)
	require.Equal(t, tools.High, found["files.write_file"].Spec().Risk)

	a, model := asking(t, &journal.MapStore{}, []tools.Source{s},
		providertest.Call("files.read_text_file", object{"path": filepath.Join(dir, "a.txt")}),
		providertest.Call("files.write_file", object{"path": filepath.Join(dir, "b.txt"), "content": "new"}),
		providertest.Call("files.read_text_file", object{"path": "/etc/passwd"}), providertest.Say("Done."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "Go."})
	require.ErrorAs(t, err, new(*agent.PausedError), "writing asks")
	model.AssertSaw(t, 1, providertest.ToolResultText("files.read_text_file", "the text of a"))
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	text, err := os.ReadFile(filepath.Join(dir, "b.txt"))
	require.NoError(t, err)
	require.Equal(t, "new", string(text))
	model.AssertSaw(t, 3, providertest.ToolResultText("files.read_text_file", "Access denied"))
}

func TestTheStockServerOfEverything(t *testing.T) {
	var change mcp.Change
	s := connect(t, mcp.Config{Command: stock(t, "server-everything"), Resources: true, OnChange: func(c mcp.Change) {
		change = c
	}})
	found := list(t, s)
	require.Len(t, change.Refused, 1, "a tool that needs a task is left out")
	require.ErrorContains(t, change.Refused[0], "simulate-research-query is left out")
	out := execute(t, s, "files.echo", object{"message": "hello"})
	require.Equal(t, tools.OK, out.Status, "%v", out.Err)
	require.Contains(t, text(&out), "hello")
	for name, input := range map[string]object{"files.get-structured-content": {"location": "New York"},
		"files.get-tiny-image": {}, "files.list_resources": {}} {
		require.NotNil(t, found[name], name)
		out = execute(t, s, name, input)
		require.Equal(t, tools.OK, out.Status, "%s: %v", name, out.Err)
	}
	resources, err := s.ListResources(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, resources)
	parts, err := s.Read(t.Context(), resources[0].URI)
	require.NoError(t, err)
	require.NotEmpty(t, parts)
}
