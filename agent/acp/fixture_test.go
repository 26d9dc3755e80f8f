package acp_test

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/acp"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/tools"
)

// An editor is the SDK's client at the other end of the pipes.
type editor struct {
	sdk.Client // its files and terminals, which it doesn't have

	t    testing.TB
	conn *sdk.ClientSideConnection

	// choose returns the option that the person chooses by the beginning of its name; nil, or "":
	// none, until the request is withdrawn; "none": none, at once; "fail": it can't ask.
	choose func(r sdk.RequestPermissionRequest) string
	asked  chan sdk.RequestPermissionRequest
	gone   chan string // the calls whose requests were withdrawn

	update func(n int, u sdk.SessionUpdate) // is shown each update
	ended  chan error                       // of Run
	pipes  []io.Closer
	lines  io.Writer // to the agent

	mu  sync.Mutex
	all []sdk.SessionUpdate
}

// connect starts Run and connects an editor to it, which is killed at the end of the test.
func connect(t testing.TB, cfg acp.Config) *editor {
	t.Helper()
	fromEditor, toAgent := io.Pipe()
	fromAgent, toEditor := io.Pipe()
	cfg.In, cfg.Out = fromEditor, toEditor
	e := &editor{t: t, asked: make(chan sdk.RequestPermissionRequest, 100), gone: make(chan string, 100),
		ended: make(chan error, 1), pipes: []io.Closer{toAgent, fromAgent}, lines: toAgent}
	go func() { e.ended <- acp.Run(context.Background(), cfg) }()
	e.conn = sdk.NewClientSideConnection(e, toAgent, fromAgent)
	e.conn.SetLogger(slog.New(slog.DiscardHandler))
	_, err := e.conn.Initialize(t.Context(), sdk.InitializeRequest{ProtocolVersion: sdk.ProtocolVersionNumber})
	require.NoError(t, err)
	t.Cleanup(e.kill)
	return e
}

// kill ends the editor: its ends of the pipes are closed.
func (e *editor) kill() {
	for _, p := range e.pipes {
		p.Close()
	}
	if e.ended != nil {
		require.NoError(e.t, <-e.ended)
	}
	e.ended = nil
}

func (e *editor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	e.mu.Lock()
	e.all = append(e.all, n.Update)
	count := len(e.all)
	e.mu.Unlock()
	if e.update != nil {
		e.update(count, n.Update)
	}
	return nil
}

func (e *editor) RequestPermission(ctx context.Context, r sdk.RequestPermissionRequest) (
	sdk.RequestPermissionResponse, error) {
	e.asked <- r
	name := ""
	if e.choose != nil {
		name = e.choose(r)
	}
	for _, o := range r.Options {
		if name != "" && strings.HasPrefix(o.Name, name) {
			return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
		}
	}
	switch name {
	case "none":
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
	case "fail":
		return sdk.RequestPermissionResponse{}, io.EOF
	}
	<-ctx.Done()
	e.gone <- string(r.ToolCall.ToolCallId)
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
}

// begin begins a session.
func (e *editor) begin(cwd string) sdk.SessionId {
	e.t.Helper()
	r, err := e.conn.NewSession(e.t.Context(), sdk.NewSessionRequest{Cwd: cwd, McpServers: []sdk.McpServer{}})
	require.NoError(e.t, err)
	return r.SessionId
}

func (e *editor) load(id sdk.SessionId, cwd string) error {
	_, err := e.conn.LoadSession(e.t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: cwd,
		McpServers: []sdk.McpServer{}})
	return err
}

func (e *editor) prompt(id sdk.SessionId, text string) (sdk.StopReason, error) {
	r, err := e.conn.Prompt(context.Background(), sdk.PromptRequest{SessionId: id,
		Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
	return r.StopReason, err
}

// say is a prompt that must end in that way.
func (e *editor) say(id sdk.SessionId, text string, want sdk.StopReason) {
	e.t.Helper()
	got, err := e.prompt(id, text)
	require.NoError(e.t, err)
	require.Equal(e.t, want, got)
}

// screen is what the editor shows: a line for each message, call, plan and mode.
func (e *editor) screen() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	last := ""
	text := func(who string, c sdk.ContentBlock) {
		if last != who {
			b.WriteString("\n" + who + ": ")
		}
		last = who
		if c.Text != nil {
			b.WriteString(strings.Trim(c.Text.Text, "\n"))
		}
		if c.Image != nil {
			b.WriteString("[" + c.Image.MimeType + " " + c.Image.Data + "]")
		}
	}
	line := func(fields ...string) {
		last = ""
		b.WriteString("\n" + strings.Join(fields, " "))
	}
	for _, u := range e.all {
		switch {
		case u.UserMessageChunk != nil:
			text("user", u.UserMessageChunk.Content)
		case u.AgentMessageChunk != nil:
			text("agent", u.AgentMessageChunk.Content)
		case u.AgentThoughtChunk != nil:
			text("thought", u.AgentThoughtChunk.Content)
		case u.ToolCall != nil:
			c := u.ToolCall
			line("call", string(c.Kind), c.Title, string(c.Status), contents(c.Content))
		case u.ToolCallUpdate != nil && *u.ToolCallUpdate.Status != sdk.ToolCallStatusInProgress:
			line("result", string(*u.ToolCallUpdate.Status), contents(u.ToolCallUpdate.Content))
		case u.Plan != nil:
			var all []string
			for _, it := range u.Plan.Entries {
				all = append(all, string(it.Status)+" "+it.Content)
			}
			line("plan", strings.Join(all, ", "))
		case u.CurrentModeUpdate != nil:
			line("mode", string(u.CurrentModeUpdate.CurrentModeId))
		}
	}
	return strings.TrimSpace(b.String())
}

func contents(all []sdk.ToolCallContent) string {
	var out []string
	for _, c := range all {
		if d := c.Diff; d != nil {
			old := "nothing"
			if d.OldText != nil {
				old = *d.OldText
			}
			out = append(out, filepath.Base(d.Path)+" {"+strings.ReplaceAll(old+"} {"+d.NewText+"}", "\n", "/"))
		} else {
			out = append(out, c.Content.Content.Text.Text)
		}
	}
	return strings.Join(out, "; ")
}

func (e *editor) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = nil
}

// newHub returns a hub that is closed at the end of the test.
func newHub(t testing.TB, cfg agent.Config) *live.Hub {
	t.Helper()
	a, err := agent.New(cfg)
	require.NoError(t, err)
	hub, err := live.New(live.Config{Agent: a})
	require.NoError(t, err)
	t.Cleanup(func() { hub.Close() })
	return hub
}

// with returns a Config for one hub.
func with(hub *live.Hub) acp.Config {
	return acp.Config{Hub: func(context.Context, string) (*live.Hub, error) { return hub, nil },
		Input: agent.Input{User: "ann", Owner: "ann"}}
}

// serve connects an editor to an agent.
func serve(t testing.TB, cfg agent.Config) (*editor, *live.Hub) {
	t.Helper()
	hub := newHub(t, cfg)
	return connect(t, with(hub)), hub
}

// store opens a journal in a file, which the caller closes.
func store(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, sqlite.Config{})
	require.NoError(t, err)
	return s
}

type page struct {
	Page string `json:"page"`
}

// risky returns a tool that asks, and counts its calls.
func risky(n *int) tools.Tool {
	return tools.New(tools.Spec{Name: "site.deletePage", Risk: tools.High, AllowAlways: true},
		func(context.Context, page) (string, error) {
			*n++
			return "deleted", nil
		})
}
