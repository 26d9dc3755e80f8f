package coding_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/examples/coder/internal/coding"
	"github.com/pawlkit/pawl/provider/providertest"
)

type echo struct {
	Text string `json:"text"`
}

// tracker is a server of MCP with one tool. It returns its address and how many requests it had.
func tracker(t *testing.T) (string, *atomic.Int32) {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "tracker", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "find", Description: "Finds issues."},
		func(_ context.Context, _ *sdk.CallToolRequest, in echo) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "found " + in.Text}}}, nil, nil
		})
	requests := new(atomic.Int32)
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web.URL, requests
}

// typed types a line in the terminal, and returns what is shown.
func typed(t *testing.T, c *coding.Coder, line string) string {
	t.Helper()
	var b bytes.Buffer
	_, err := terminal.Run(t.Context(), c.Hub, terminal.Config{Session: "s-1", In: strings.NewReader(line + "\n"),
		Out: &b, Commands: c.Commands(agent.Input{})})
	require.NoError(t, err)
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), "> "), "\n> \n")
}

func TestAServerIsSwitchedOffAndOnAgain(t *testing.T) {
	dir, db := project(t)
	url, requests := tracker(t)
	model := providertest.Script(providertest.Say("1"), providertest.Say("2"),
		providertest.Call("tracker.find", m{"text": "x"}), providertest.Say("3"), providertest.Say("4"))
	cfg := coding.Config{Dir: dir, DB: db, Model: model, Servers: []coding.Server{{Name: "tracker", URL: url}}}
	c, err := coding.Open(cfg)
	require.NoError(t, err)
	require.Zero(t, requests.Load(), "nothing connects before it is needed")

	out := typed(t, c, "/mcp")
	require.Equal(t, "on   tracker  "+url, out)
	out = typed(t, c, "/mcp test tracker")
	require.Equal(t, "tracker answers, and has 1 tools:\n  tracker.find  Finds issues.", out)
	require.Contains(t, typed(t, c, "/mcp test nobody"), `no server "nobody"`)
	require.Contains(t, typed(t, c, "/mcp start tracker"), "/mcp test, on or off")

	offered := func(i int) bool {
		for _, d := range model.Requests()[i].Tools {
			if d.Name == "tracker.find" {
				return true
			}
		}
		return false
	}
	do(t, c, agent.Input{Session: "s-1", Prompt: "Hello."})
	require.True(t, offered(0))
	typed(t, c, "/mcp off tracker")
	do(t, c, agent.Input{Session: "s-1", Prompt: "Hello."})
	require.False(t, offered(1))
	require.NoError(t, c.Close())

	before := requests.Load()
	c = open(t, cfg) // it stays off
	out = typed(t, c, "/mcp")
	require.Contains(t, out, "off  tracker")
	typed(t, c, "/mcp on tracker")
	require.Equal(t, before, requests.Load())
	_, pending := do(t, c, agent.Input{Session: "s-1", Prompt: "Find it."})
	require.Len(t, pending, 1, "what a server says about itself isn't believed: it asks")
	require.True(t, offered(2))
	res, _ := do(t, c, agent.Resume("s-1", agent.Approve(pending[0].ID)))
	require.Contains(t, results(res)[0], "found x")
}

func TestWhatIsWrongWithAServersToolsIsShown(t *testing.T) {
	dir, db := project(t)
	server := sdk.NewServer(&sdk.Implementation{Name: "odd", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "either",
		InputSchema: m{"type": "object", "anyOf": []m{{"required": []string{"a"}}}}},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(web.Close)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(),
		Servers: []coding.Server{{Name: "odd", URL: web.URL}}})
	typed(t, c, "/mcp test odd")
	require.Contains(t, typed(t, c, "/mcp"), "the schema of odd.either: its root has anyOf: the server checks it")
}

func TestAServerThatIsDownDisturbsNoRun(t *testing.T) {
	dir, db := project(t)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(providertest.Say("Hello.")),
		Servers: []coding.Server{{Name: "down", Command: filepath.Join(dir, "nothing")}}})
	res, _ := do(t, c, agent.Input{Session: "s-1", Prompt: "Hello."})
	require.Equal(t, "Hello.", res.Text())
	require.Contains(t, typed(t, c, "/mcp test down"), "down")
	require.Contains(t, typed(t, c, "/mcp"), "can't be reached", "what the run found")
}

func TestAFileOfServersIsReadAsOtherProgramsWriteIt(t *testing.T) {
	at := filepath.Join(t.TempDir(), "mcp.json")
	require.NoError(t, os.WriteFile(at, []byte(`{"mcpServers": {"web": {"url": "http://127.0.0.1:1", "headers":
		{"X": "1"}, "disabled": true}, "files": {"command": "npx", "args": ["-y"], "env": {"A": "b"}}}}`), 0o644))
	list, err := coding.ReadServers(at)
	require.NoError(t, err)
	require.Equal(t, []coding.Server{
		{Name: "files", Command: "npx", Args: []string{"-y"}, Env: map[string]string{"A": "b"}},
		{Name: "web", URL: "http://127.0.0.1:1", Headers: map[string]string{"X": "1"}, Disabled: true}}, list)
	dir, db := project(t)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(), Servers: list})
	out := typed(t, c, "/mcp")
	require.Equal(t, "on   files  npx\noff  web  http://127.0.0.1:1", out)

	for _, text := range []string{"", "[]", `{"servers": {}}`, `{"mcpServers": {"a": {"comand": "x"}}}`} {
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
		_, err := coding.ReadServers(at)
		require.ErrorContains(t, err, `{"mcpServers": {"name": {"command"`, text)
	}
	_, err = coding.ReadServers(filepath.Join(dir, "nothing"))
	require.ErrorIs(t, err, os.ErrNotExist)

	_, db = project(t)
	c, err = coding.Open(coding.Config{Dir: dir, DB: db, Model: providertest.Script(),
		Servers: []coding.Server{{Name: "neither"}}})
	require.ErrorContains(t, err, "neither")
	require.NoError(t, c.Close())
}

func TestGrantsAreListedAndRevoked(t *testing.T) {
	dir, db := project(t)
	c := open(t, coding.Config{Dir: dir, DB: db, Model: providertest.Script(cmd("go", "test"),
		cmd("go", "test", "./..."), providertest.Say("Done."), cmd("go", "test", "-v"), providertest.Say("Done."))})
	out := typed(t, c, "/grants")
	require.Contains(t, out, "Nothing is permitted for good")
	_, pending := do(t, c, agent.Input{Session: "s-1", Prompt: "Do it."})
	_, pending = do(t, c, agent.Resume("s-1", agent.AllowAlways(pending[0].ID)))
	require.Empty(t, pending, "the session's rule is for go test")
	out = typed(t, c, "/grants")
	require.Contains(t, out, "1  all `go test` here, in this session")
	require.Contains(t, typed(t, c, "/grants revoke 2"), "lists 1")
	typed(t, c, "/grants revoke 1")
	_, pending = do(t, c, agent.Input{Session: "s-1", Prompt: "Do it."})
	require.Len(t, pending, 1)
}

func TestAPlanIsAskedForInModePlan(t *testing.T) {
	dir, db := project(t)
	model := providertest.Script(providertest.Say("I would …"))
	c := open(t, coding.Config{Dir: dir, DB: db, Model: model})
	out := typed(t, c, "/plan")
	require.Contains(t, out, "Say what to plan")
	typed(t, c, "/plan split it")
	info, err := c.Hub.Agent().Session("s-1").Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "plan", info.Mode)
}
