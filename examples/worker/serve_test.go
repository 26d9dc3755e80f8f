package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/stream/sse"
)

// A client talks to the program.
type client struct {
	t   *testing.T
	url string
}

// start runs the program in this process until the test ends.
func start(t *testing.T, args ...string) *client {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r, w := io.Pipe()
	ended := make(chan int, 1)
	var problems bytes.Buffer
	go func() {
		ended <- run(ctx, append(args, "-addr", "127.0.0.1:0"), w, &problems)
		w.Close()
	}()
	var line []byte
	for b := make([]byte, 1); ; {
		n, err := r.Read(b)
		require.NoError(t, err, "%s", &problems)
		if n > 0 && b[0] == '\n' {
			break
		}
		line = append(line, b[:n]...)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		rest, _ := io.ReadAll(r)
		require.Zero(t, <-ended, "%s", &problems)
		require.Contains(t, string(rest), "0 repeated, 0 lost")
	})
	return &client{t, string(line)}
}

// call sends a request, and decodes the answer into out unless that is nil.
func (c *client) call(method, path, body string, out any, header ...string) (status int) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	require.NoError(c.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	if s, ok := out.(*string); ok {
		*s = string(text)
	} else if out != nil {
		require.NoError(c.t, json.Unmarshal(text, out), "%s", text)
	}
	return res.StatusCode
}

// A shown is what the page knows of a run.
type shown struct {
	ID      string
	Status  agent.Status
	Report  bool
	Effects int
	Pauses  []struct{ ID, Title string }
}

// until follows the events of a run until it is as wanted.
func (c *client) until(id string, wanted func(shown) bool) (run shown) {
	c.t.Helper()
	res, err := http.Get(c.url + "/events?run=" + id)
	require.NoError(c.t, err)
	defer res.Body.Close()
	for r := sse.NewReader(res.Body, 1<<20); !wanted(run); {
		ev, err := r.Next()
		require.NoError(c.t, err)
		run = shown{}
		require.NoError(c.t, json.Unmarshal(ev.Data, &run))
	}
	return run
}

func TestAReportIsAskedForApprovedAndRead(t *testing.T) {
	t.Parallel()
	c := start(t, "-db", filepath.Join(t.TempDir(), "worker.db"), "-pace", "0")
	var first, again struct{ ID string }
	require.Equal(t, 201, c.call("POST", "/runs", `{"topic": "tides"}`, &first, "Idempotency-Key", "k-1"))
	require.Equal(t, 200, c.call("POST", "/runs", `{"topic": "tides"}`, &again, "Idempotency-Key", "k-1"))
	require.Equal(t, first, again)
	at := "/runs/" + first.ID
	waiting := c.until(first.ID, func(r shown) bool { return len(r.Pauses) > 0 })
	require.Equal(t, "Publish “Tides”", waiting.Pauses[0].Title)
	yes := `{"id": "` + waiting.Pauses[0].ID + `", "decision": "approve"}`
	require.Equal(t, 204, c.call("POST", at+"/respond", yes, nil))
	done := c.until(first.ID, func(r shown) bool { return r.Status == agent.Completed })
	require.True(t, done.Report)
	require.Equal(t, 8, done.Effects)
	var page, metrics, operations string
	require.Equal(t, 200, c.call("GET", "/reports/"+first.ID, "", &page))
	require.Contains(t, page, "<h1>Tides</h1>")
	require.Equal(t, 200, c.call("GET", "/metrics", "", &metrics))
	require.Contains(t, metrics, `reports_runs{status="running"} 0`)
	require.Equal(t, 200, c.call("GET", "/", "", &operations))
	require.Contains(t, operations, "/app/main.js")
	require.Equal(t, 204, c.call("DELETE", at, "", nil))

	var problem struct{ Code, Detail string }
	require.Equal(t, 404, c.call("GET", at, "", &problem))
	require.Equal(t, "unknown", problem.Code)
	require.Equal(t, 422, c.call("POST", "/runs", `{"topic": " "}`, &problem))
	require.Contains(t, problem.Detail, "give a topic")
	require.Equal(t, 403, c.call("POST", "/runs", `{"topic": "x"}`, nil, "Origin", "http://elsewhere.example"))
}

func TestARunThatFailedForGoodGoesOnWhenItIsRetried(t *testing.T) {
	t.Parallel()
	c := start(t, "-db", filepath.Join(t.TempDir(), "worker.db"), "-pace", "0", "-approve", "auto")
	var made struct{ ID string }
	require.Equal(t, 201, c.call("POST", "/runs", `{"topic": "fishing quotas"}`, &made))
	failed := c.until(made.ID, func(r shown) bool { return r.Status == agent.Failed })
	require.Equal(t, 1, failed.Effects, "the outline")
	require.Equal(t, 204, c.call("POST", "/runs/"+made.ID+"/retry", "", nil))
	done := c.until(made.ID, func(r shown) bool { return r.Status == agent.Completed })
	require.Equal(t, 8, done.Effects)
}
