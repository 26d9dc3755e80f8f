package mcp_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// withFiles returns an agent with the tools of a server of MCP, which may come and go. The command
// of a stock server is npx -y @modelcontextprotocol/server-filesystem DIRECTORY.
func withFiles(p provider.Provider, command ...string) (*agent.Agent, *mcp.Server, error) {
	files, err := mcp.New(mcp.Config{
		Name:    "files", // its tools are files.read_file, files.list_directory …
		Command: command,
		Only:    []string{"read_file", "list_directory"},
	})
	if err != nil {
		return nil, nil, err
	}
	// it connects when needed, and reconnects after a lost connection
	a, err := agent.New(agent.Config{Provider: p, Sources: []tools.Source{files}})
	return a, files, err
}

func TestAProgramWithTheToolsOfAServer(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("the text of a"), 0o600))
	model := providertest.Script(providertest.Call("files.list_directory", file{"."}),
		providertest.Call("files.read_file", file{"a.txt"}), providertest.Say("It says: the text of a."))
	a, files, err := withFiles(model, "env", childEnv+"=files", os.Args[0], dir)
	require.NoError(t, err)
	defer files.Close()

	res, err := a.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "What does a.txt say?"})
	require.NoError(t, err)
	require.Equal(t, "It says: the text of a.", res.Text())
	model.AssertTools(t, 0, "files.list_directory", "files.read_file")
	model.AssertSaw(t, 1, providertest.ToolResultText("files.list_directory", "a.txt"))
	model.AssertSaw(t, 2, providertest.ToolResultText("files.read_file", "the text of a"))
}
