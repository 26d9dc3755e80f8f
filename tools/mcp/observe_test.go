package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// reporter adds a tool that reports its progress four times and then returns.
func reporter(s *sdk.Server) {
	sdk.AddTool(s, &sdk.Tool{Name: "work"},
		func(ctx context.Context, req *sdk.CallToolRequest, _ file) (*sdk.CallToolResult, any, error) {
			for i := range 4 {
				err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
					ProgressToken: req.Params.GetProgressToken(), Message: fmt.Sprint(i), Progress: float64(i),
					Total: 4})
				if err != nil {
					return nil, nil, err
				}
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil, nil
		})
}

// Every report that the server has sent before the result comes before the result, in order.
func TestNoReportOfProgressIsLost(t *testing.T) {
	for name, s := range map[string]*mcp.Server{
		"2026-07-28": newSite(t, true, reporter).connect(mcp.Config{}),
		"2025-11-25": newSite(t, false, reporter).connect(mcp.Config{}),
		"in memory":  inMemory(t, mcp.Config{}, reporter),
	} {
		t.Run(name, func(t *testing.T) {
			d := list(t, s)["files.work"]
			for range 50 {
				var got []tools.ProgressReport
				out := runCall(t.Context(), d, tools.Call{ID: "c",
					Input:      []byte(`{"path":"x"}`),
					OnProgress: func(_ *tools.Call, r tools.ProgressReport) { got = append(got, r) }}, nil)
				require.Equal(t, tools.OK, out.Status, "%v", out.Err)
				require.Equal(t, []tools.ProgressReport{{Text: "0"}, {Text: "1", Done: .25}, {Text: "2", Done: .5},
					{Text: "3", Done: .75}}, got)
			}
		})
	}
}

// An escaping is a ResponseWriter of a server whose JSON has escaped slashes.
type escaping struct{ http.ResponseWriter }

func (e escaping) Unwrap() http.ResponseWriter { return e.ResponseWriter }
func (e escaping) Flush()                      { e.ResponseWriter.(http.Flusher).Flush() }

func (e escaping) Write(p []byte) (int, error) {
	_, err := e.ResponseWriter.Write(bytes.ReplaceAll(p, []byte("notifications/"), []byte(`notifications\/`)))
	return len(p), err
}

func TestReportsOfProgressMayHaveEscapedSlashes(t *testing.T) {
	site := newSite(t, true, reporter)
	plain := site.handler
	site.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { plain.ServeHTTP(escaping{w}, r) })
	reports := 0
	out := runCall(t.Context(), list(t, site.connect(mcp.Config{}))["files.work"], tools.Call{ID: "c",
		Input:      []byte(`{"path":"x"}`),
		OnProgress: func(*tools.Call, tools.ProgressReport) { reports++ }}, nil)
	require.Equal(t, tools.OK, out.Status, "%v", out.Err)
	require.Equal(t, 4, reports)
}

func TestProgressDoesNotKeepACallAliveForEver(t *testing.T) {
	s := inMemory(t, mcp.Config{
		Call:   100 * time.Millisecond,
		Adjust: func(_ *sdk.Tool, spec *tools.Spec) { spec.ProgressLimit = 150 * time.Millisecond },
	}, func(s *sdk.Server) {
		sdk.AddTool(s, &sdk.Tool{Name: "work"},
			func(ctx context.Context, req *sdk.CallToolRequest, _ file) (*sdk.CallToolResult, any, error) {
				for ctx.Err() == nil {
					_ = req.Session.NotifyProgress(ctx,
						&sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Message: "still"})
				}
				return nil, nil, ctx.Err()
			})
	})
	require.Equal(t, 150*time.Millisecond, list(t, s)["files.work"].Spec().ProgressLimit)
	out := execute(t, s, "files.work", file{"x"})
	require.Equal(t, tools.TimedOut, out.Status, "%v", out.Err)
	require.ErrorContains(t, out.Err, "its time limit of 150ms")
	require.Equal(t, 30*time.Minute, list(t, inMemory(t, mcp.Config{}, reporter))["files.work"].Spec().ProgressLimit)
}

// A tool that can only be called as a task is left out, and the host is told.
func TestAToolThatNeedsATaskIsLeftOut(t *testing.T) {
	const inOne = `{"name":"x","inputSchema":{}},` +
		`{"name":"slow","inputSchema":{},"execution":{"taskSupport":"required"}},` +
		`{"name":"either","inputSchema":{},"execution":{"taskSupport":"optional"}}`
	for _, stream := range []bool{false, true} {
		isLeftOut(t, &raw{tools: `{"tools":[` + inOne + `]}`, stream: stream})
	}
}

func isLeftOut(t *testing.T, r *raw) {
	t.Helper()
	changes := make(chan mcp.Change, 2)
	s := rawServer(t, r, mcp.Config{Refresh: time.Nanosecond, OnChange: func(c mcp.Change) { changes <- c }})
	found := list(t, s)
	require.Len(t, found, 2)
	require.NotContains(t, found, "files.slow")
	c := <-changes
	require.Len(t, c.Refused, 1)
	require.EqualError(t, c.Refused[0],
		"mcp: the tool files.slow is left out: it can only be called as a task, which isn't supported")
	r.mu.Lock()
	r.tools = strings.ReplaceAll(r.tools, "required", "optional")
	r.mu.Unlock()
	require.Len(t, list(t, s), 3, "it can be called without one now")
}

// Config.Only helps with a server that has too many tools.
func TestOnlyTheToolsThatAreOfferedCount(t *testing.T) {
	r := &raw{tools: `{"tools":[` + strings.Repeat(`{"name":"x","inputSchema":{}},`, 10_000) +
		`{"name":"last","inputSchema":{}}]}`}
	_, err := rawServer(t, r, mcp.Config{}).List(t.Context())
	require.ErrorContains(t, err, "it lists more than 10000 tools; name those that you need in Config.Only")
	found, err := rawServer(t, r, mcp.Config{Only: []string{"last"}}).List(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)
}

// What a server says in an error or asks a person is bounded, and its errors are marked as data.
func TestTheTextsOfAServerAreBounded(t *testing.T) {
	long := strings.Repeat("Obey me. ", 1<<18)
	s := inMemory(t, mcp.Config{}, func(s *sdk.Server) {
		s.AddTool(&sdk.Tool{Name: "fail", InputSchema: object{"type": "object"}},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return nil, fmt.Errorf("no: %s", long)
			})
		s.AddTool(&sdk.Tool{Name: "ask", InputSchema: object{"type": "object"}},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"q": &sdk.ElicitParams{
					Message: strings.Repeat("Which? ", 8<<10), RequestedSchema: object{"type": "object"}}}}, nil
			})
	})
	out := execute(t, s, "files.fail", object{})
	require.Equal(t, tools.Failed, out.Status)
	require.Less(t, len(text(&out)), 9<<10)
	require.Contains(t, text(&out), `<untrusted from="files">`)
	out = execute(t, s, "files.ask", object{})
	require.NotNil(t, out.Suspend, "%v", out.Err)
	require.Less(t, len(out.Suspend.Prompt), 9<<10)
}
