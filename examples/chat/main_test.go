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
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/stream/sse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serving runs the program on a file until stop is called, and returns the page's address.
func serving(t *testing.T, db string) (url string, stop func()) {
	t.Helper()
	model, about, err := chooseModel("standin") // even if a developer has keys
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- run(ctx, "127.0.0.1:0", db, model, about, func(url string) { ready <- url }) }()
	select {
	case url = <-ready:
	case err := <-ended:
		require.NoError(t, err)
	}
	return url, func() {
		cancel()
		require.NoError(t, <-ended)
		http.DefaultClient.CloseIdleConnections()
	}
}

func post(t *testing.T, url string, body any) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	res, err := http.Post(url, "application/json", bytes.NewReader(raw))
	require.NoError(t, err)
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	require.Equal(t, http.StatusAccepted, res.StatusCode, "%s", text)
}

// upTo reads the events of a session until a run ends with the status, and returns the replies and
// the pauses.
func upTo(t *testing.T, url string, status agent.Status) (said string, pauses []agent.Pause) {
	t.Helper()
	res, err := http.Get(url + "events?session=s-1")
	require.NoError(t, err)
	defer res.Body.Close()
	for r := sse.NewReader(res.Body, 0); ; {
		ev, err := r.Next()
		require.NoError(t, err)
		one, err := agent.UnmarshalEvent(ev.Data)
		require.NoError(t, err)
		switch one := one.(type) {
		case *agent.Replied:
			said += one.Message.Text() + "\n"
		case *agent.Suspended:
			pauses = append(pauses, one.Pause)
		case *agent.RunEnded:
			if one.Status == status {
				return said, pauses
			}
		}
	}
}

func TestAnOrderIsCanceledAfterApprovalAndARestart(t *testing.T) {
	db := filepath.Join(t.TempDir(), "chat.db")
	url, stop := serving(t, db)
	post(t, url+"sessions/send", map[string]string{"session": "s-1", "text": "Cancel order 1002."})
	_, pauses := upTo(t, url, agent.Paused)
	require.Len(t, pauses, 1)
	stop()

	url, stop = serving(t, db)
	defer stop()
	post(t, url+"sessions/decide",
		map[string]any{"session": "s-1", "decisions": []map[string]string{{"id": pauses[0].ID, "decision": "approve"}}})
	said, _ := upTo(t, url, agent.Completed)
	require.Contains(t, said, "Order 1002 is canceled.")
}

func TestAnOrderIsLookedUpWithoutAsking(t *testing.T) {
	url, stop := serving(t, filepath.Join(t.TempDir(), "chat.db"))
	defer stop()
	post(t, url+"sessions/send", map[string]string{"session": "s-1", "text": "Where is order 1001, and 4711?"})
	said, pauses := upTo(t, url, agent.Completed)
	require.Empty(t, pauses)
	require.Contains(t, said, "arrives tomorrow")
	require.True(t, strings.Contains(said, "there is no order 4711"), said)
}
