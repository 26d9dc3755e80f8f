package main

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// withoutKeys makes the program use the stand-in model.
func withoutKeys(t *testing.T) {
	t.Helper()
	t.Setenv("PAWL_MODEL", "standin")
}

// remote starts a server over HTTP, and returns its address.
func remote(t *testing.T) string {
	t.Helper()
	type note struct {
		Text string `json:"text"`
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "notes", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "add"},
		func(_ context.Context, _ *sdk.CallToolRequest, in note) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "added " + in.Text}}}, nil, nil
		})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		return s
	}, &sdk.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(func() {
		web.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return web.URL
}

func TestAPersonIsAskedAboutACall(t *testing.T) {
	withoutKeys(t)
	url := remote(t)
	for answer, want := range map[string]string{"y\n": "added milk", "n\n": "the user said no"} {
		var out bytes.Buffer
		require.NoError(t,
			run(t.Context(), options{url: url, prompt: `remote.add {"text":"milk"}`}, strings.NewReader(answer), &out))
		require.Contains(t, out.String(), `Add “milk”? It calls remote.add with {"text":"milk"}. [y/n]`)
		require.Contains(t, out.String(), want)
	}
}

// Two servers: a stock one from the registry over standard input and output, and a remote one.
func TestTwoServers(t *testing.T) {
	withoutKeys(t)
	program, err := filepath.Abs(filepath.Join("..", "..", "internal", "stock", "node_modules", "@modelcontextprotocol",
		"server-filesystem", "dist", "index.js"))
	require.NoError(t, err)
	if _, err := os.Stat(program); err != nil {
		t.Skip("the stock servers aren't installed: npm --prefix internal/stock ci")
	}
	var out bytes.Buffer
	require.NoError(t,
		run(t.Context(), options{command: "node " + program + " " + t.TempDir(), url: remote(t), prompt: "tools"},
			strings.NewReader(""), &out))
	require.Contains(t, out.String(), "local.read_text_file")
	require.Contains(t, out.String(), "remote.add")
}

// The agent is a server itself: a client asks it, and its person approves the call of the inner
// server.
func TestTheAgentIsAServer(t *testing.T) {
	withoutKeys(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	ctx, cancel := context.WithCancel(t.Context())
	ended, ready := make(chan error, 1), make(chan string, 1)
	url := remote(t)
	go func() {
		ended <- run(ctx, options{url: url, serve: addr}, strings.NewReader(""),
			writerFunc(func(p []byte) { ready <- strings.TrimSpace(string(p)) }))
	}()
	endpoint := <-ready
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"},
		&sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}, nil
		}})
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: endpoint}, nil)
	require.NoError(t, err)
	res, err := session.CallTool(t.Context(),
		&sdk.CallToolParams{Name: "ask", Arguments: map[string]any{"prompt": `remote.add {"text":"milk"}`}})
	require.NoError(t, err)
	require.Contains(t, res.Content[0].(*sdk.TextContent).Text, "added milk")
	require.NoError(t, session.Close())
	cancel()
	require.NoError(t, <-ended)
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

func TestWhatIsMissingIsSaid(t *testing.T) {
	withoutKeys(t)
	require.ErrorContains(t, run(t.Context(), options{prompt: "x"}, nil, nil), "name a server")
	require.ErrorContains(t, run(t.Context(), options{url: "http://127.0.0.1:1"}, nil, nil), "say what to do")
	require.ErrorContains(t, run(t.Context(), options{url: "nonsense", prompt: "x"}, nil, nil), "isn't the address")
}
